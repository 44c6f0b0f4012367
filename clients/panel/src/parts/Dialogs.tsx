// What is asked of the user, and told at length.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ProgressValue, Retention } from "../../../typescript/src/index.ts";
import { Markdown } from "../entry/markdown.tsx";
import { ACTIONS, append, move } from "../state/actions.ts";
import type { Dialog } from "../state/dialogs.ts";
import type { Panel } from "../state/panel.ts";
import { shown, tokens } from "../words.ts";

export function Dialogs({ panel }: { panel: Panel }) {
  const dialog = panel.dialog.value;
  return dialog === null ? null : <Shown key={dialog.kind} panel={panel} dialog={dialog} />;
}

function Shown({ panel, dialog }: { panel: Panel; dialog: Dialog }) {
  switch (dialog.kind) {
    case "help":
      return <Help panel={panel} />;
    case "text":
      return <TextDialog panel={panel} dialog={dialog} />;
    case "compose":
      return <Compose panel={panel} text={dialog.text} />;
    case "move":
      return <Move panel={panel} entryId={dialog.entryId} />;
    case "compact":
      return <Compact panel={panel} />;
    case "compacted":
      return (
        <Modal panel={panel} title="Compacted">
          <p>
            {tokens(dialog.result.tokensBefore)} tokens before, about {tokens(dialog.result.tokensAfter)} now. The summary was made by{" "}
            {dialog.result.model ?? dialog.result.summarizer}.
          </p>
          <Kept retention={dialog.result.retention} />
          <details>
            <summary>The summary</summary>
            <Markdown text={dialog.result.summary} />
          </details>
        </Modal>
      );
    case "retention":
      return (
        <Modal panel={panel} title="What the summary kept">
          <Kept retention={dialog.retention} />
        </Modal>
      );
  }
}

interface ModalProps {
  readonly panel: Panel;
  readonly title: string;
  readonly children: ComponentChildren;
  readonly buttons?: ComponentChildren;
  readonly submit?: () => void;
  readonly cancel?: () => void;
}

function Modal({ panel, title, children, buttons, submit, cancel }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = element.current!;
    shown.showModal();
    return () => {
      ended.current = true;
      shown.close(); // gives the focus back to where it was
    };
  }, []);
  const ended = useRef(false);
  const close = () => {
    if (ended.current) return; // its event comes when another one may be there
    cancel?.();
    panel.dialog.value = null;
  };
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={close} onCancel={close}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          if (submit === undefined) close();
          else submit();
        }}
      >
        <h2 id="dialog-title">{title}</h2>
        <div class="dialog-body">
          {children}
        </div>
        <div class="dialog-buttons">
          <button type="button" onClick={close}>
            {submit === undefined ? "Close" : "Cancel"}
          </button>
          {buttons}
        </div>
      </form>
    </dialog>
  );
}

function TextDialog({ panel, dialog }: { panel: Panel; dialog: Extract<Dialog, { kind: "text" }> }) {
  const [text, setText] = useState(dialog.value);
  const done = () => {
    panel.dialog.value = null;
    dialog.done(text);
  };
  return (
    <Modal panel={panel} title={dialog.title} submit={done} buttons={<button type="submit" class="primary">OK</button>}>
      <label>
        {dialog.label}
        <input type="text" value={text} onInput={(event) => setText(event.currentTarget.value)} autofocus />
      </label>
    </Modal>
  );
}

function Compose({ panel, text: given }: { panel: Panel; text: string }) {
  const [text, setText] = useState(given);
  const session = panel.session.value!;
  const done = () => {
    panel.dialog.value = null;
    if (text !== "") void append(panel, session, text);
  };
  const copy = () => void panel.host.copy(text).then(
    () => panel.say({ text: "Copied." }),
    () => panel.say({ text: "The clipboard can't be written.", bad: true }),
  );
  return (
    <Modal
      panel={panel}
      title="Say something at the leaf"
      submit={done}
      buttons={
        <>
          <button type="button" onClick={copy}>
            Copy
          </button>
          <button type="submit" class="primary">
            Append
          </button>
        </>
      }
    >
      <label>
        A message of the user. It is appended to the session; an agent that is to answer has to be asked to.
        <textarea rows={10} value={text} onInput={(event) => setText(event.currentTarget.value)} autofocus />
      </label>
    </Modal>
  );
}

function Move({ panel, entryId }: { panel: Panel; entryId: string }) {
  const [label, setLabel] = useState("");
  const [summarize, setSummarize] = useState(true);
  const session = panel.session.value!;
  const done = () => {
    panel.dialog.value = null;
    void move(panel, session, entryId, { ...(label !== "" && { label }), ...(summarize && { summarize }) });
  };
  return (
    <Modal panel={panel} title="Go on from this entry" submit={done} buttons={<button type="submit" class="primary">Move</button>}>
      <label class="check">
        <input type="checkbox" checked={summarize} onChange={(event) => setSummarize(event.currentTarget.checked)} />
        Summarize the branch that is left
      </label>
      <label>
        Label (may be empty)
        <input type="text" value={label} onInput={(event) => setLabel(event.currentTarget.value)} />
      </label>
    </Modal>
  );
}

function Compact({ panel }: { panel: Panel }) {
  const [instructions, setInstructions] = useState("");
  const [progress, setProgress] = useState<ProgressValue | null>(null);
  const stopping = useRef<AbortController | null>(null);
  const session = panel.session.value!;
  const run = async () => {
    if (stopping.current !== null) return;
    const controller = new AbortController();
    stopping.current = controller;
    setProgress({ kind: "begin" });
    try {
      const asked = { sessionId: session.id, ...(instructions !== "" && { instructions }) };
      const result = await panel.client!.request("session/compact", asked, { signal: controller.signal, progress: setProgress });
      panel.dialog.value = { kind: "compacted", result };
    } catch (error) {
      panel.dialog.value = null;
      if (!controller.signal.aborted) panel.failed(error);
    }
  };
  return (
    <Modal
      panel={panel}
      title="Compact the session"
      submit={() => void run()}
      cancel={() => stopping.current?.abort()}
      buttons={
        <button type="submit" class="primary" disabled={progress !== null}>
          Compact
        </button>
      }
    >
      {progress === null ? (
        <label>
          What the summary is to look after (may be empty)
          <textarea rows={3} value={instructions} onInput={(event) => setInstructions(event.currentTarget.value)} autofocus />
        </label>
      ) : (
        <p class="under-way" role="status">
          {progress.message ?? progress.title ?? "Summarizing"}
          {progress.percentage !== undefined && ` (${progress.percentage} %)`}…
          <progress aria-label="How far it is" max={100} {...(progress.percentage !== undefined && { value: progress.percentage })} />
        </p>
      )}
    </Modal>
  );
}

function Kept({ retention }: { retention: Retention }) {
  const percent = (value: number) => `${Math.round(100 * value)} %`;
  return (
    <>
      <p>
        Of what it was asked for, the summary held {percent(retention.score)}
        {retention.scoreAfter !== retention.score && `, and ${percent(retention.scoreAfter)} after what it lacked was added`}.
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">fact</th>
            <th scope="col">kept</th>
            <th scope="col">asked</th>
          </tr>
        </thead>
        <tbody>
          {Object.entries(retention.kinds).map(([kind, { kept, asked }]) => (
            <tr>
              <td>{kind}</td>
              <td>{kept}</td>
              <td>{asked}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {retention.missing.length > 0 && (
        <>
          <h3>It lacked</h3>
          <ul>
            {retention.missing.map(({ kind, text }) => (
              <li>
                {kind}: {shown(text)}
              </li>
            ))}
          </ul>
          {retention.missingLeftOut > 0 && <p>and {retention.missingLeftOut} more.</p>}
        </>
      )}
    </>
  );
}

const KEYS: readonly [string, string][] = [
  ["↑ ↓ j k", "the entry before, the next one"],
  ["→ ←", "unfold; fold, or go to the beginning of the turn"],
  ["Space", "fold or unfold"],
  ["* -", "unfold all, fold all"],
  ["[ ]", "the branch before, the next one"],
  ["g", "go to the leaf"],
  ["Enter", "the entry in full"],
  [".", "labels and settings too"],
  ["Escape", "back to the tree"],
  ["1 2 3", "sessions, tree, entry"],
  ["/", "search sessions"],
  ["r", "rename the session"],
  ["a", "append a message at the leaf"],
  ["K", "compact the session"],
  ["?", "this list"],
];

function Help({ panel }: { panel: Panel }) {
  const all = [...KEYS, ...ACTIONS.map(({ key, title }): [string, string] => [key, title.charAt(0).toLowerCase() + title.slice(1)])];
  return (
    <Modal panel={panel} title="Keys">
      <dl class="keys">
        {all.map(([key, does]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  );
}
