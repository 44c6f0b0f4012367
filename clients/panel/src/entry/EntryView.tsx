// An entry in full: what it is, whether the model sees it, what can be done, what it holds.

import { useEffect, useState } from "preact/hooks";
import type { ExplainedEntry, Json } from "../../../typescript/src/index.ts";
import { ACTIONS } from "../state/actions.ts";
import type { Panel } from "../state/panel.ts";
import type { Entry } from "../state/reading.ts";
import type { Session } from "../state/session.ts";
import { nodeOf } from "../tree/TreeView.tsx";
import { count, kindOf, reasonOf, shown, toneOf } from "../words.ts";
import { Content, Raw } from "./Content.tsx";

export function EntryView({ panel, session }: { panel: Panel; session: Session }) {
  const node = nodeOf(session);
  const id = node?.id ?? null;
  const [entry, setEntry] = useState<Entry | null>(null);
  const [raw, setRaw] = useState(false);
  const [explained, setExplained] = useState<ExplainedEntry | null>(null);
  const reason = id === null ? undefined : session.reasons.value.get(id);
  useEffect(() => {
    let wanted = true;
    if (id === null) return setEntry(null);
    session.entry(id).then(
      (found) => wanted && setEntry(found),
      (error: unknown) => panel.failed(error),
    );
    return () => void (wanted = false);
  }, [session, id]);
  useEffect(() => {
    let wanted = true;
    setExplained(null);
    if (id === null || reason === undefined || reason.inContext) return;
    panel.client!.request("session/explain", { sessionId: session.id, entryId: id }, { retry: true }).then(
      ({ entries }) => wanted && setExplained(entries[0] ?? null),
      () => undefined,
    );
    return () => void (wanted = false);
  }, [session, id, reason]);
  if (node === undefined) return <p class="empty">No entry is chosen.</p>;
  return (
    <article class="entry" aria-label="The chosen entry">
      <header>
        <h2>
          <span class={`kind ${toneOf(node)}`}>{shown(kindOf(node))}</span>
          {node.label !== undefined && <span class="chip label">{shown(node.label)}</span>}
          <code class="id">{node.id}</code>
          <time>{node.timestamp.replace("T", " ").replace(/\.\d+Z$/, " UTC")}</time>
        </h2>
        <Reason session={session} explained={explained ?? reason} />
        <div class="actions" role="group" aria-label="What can be done with this entry">
          {ACTIONS.filter(({ fits }) => fits === undefined || fits(node)).map((action) => (
            <button type="button" title={`${action.title} (${action.key})`} onClick={() => void action.run(panel, session, node)}>
              {action.name}
            </button>
          ))}
          <button type="button" aria-pressed={raw} title="The entry as it is stored" onClick={() => setRaw(!raw)}>
            JSON
          </button>
        </div>
      </header>
      <div class="content" tabIndex={0} role="region" aria-label="Content">
        {entry?.id === id && (raw ? <Raw value={entry as Json} /> : <Content entry={entry} />)}
      </div>
    </article>
  );
}

function Reason({ session, explained }: { session: Session; explained: ExplainedEntry | undefined }) {
  if (explained === undefined) return null;
  const facts = explained.facts;
  const by = explained.compactionId ?? explained.byId ?? explained.summaryId ?? explained.leftAtId;
  return (
    <div class={explained.inContext ? "reason lit" : "reason"}>
      <p>
        {explained.inContext ? "In the context. " : "Not in the context. "}
        {reasonOf(explained)}{" "}
        {by !== undefined && session.tree.nodes.has(by) && (
          <button type="button" class="link" onClick={() => session.reveal(by)}>
            Go there
          </button>
        )}
      </p>
      {facts !== undefined && facts.asked > 0 && (
        <p>
          The summary names {facts.kept} of {count(facts.asked, "fact")} in it{facts.missing.length > 0 && ". It lacks:"}
        </p>
      )}
      {facts !== undefined && facts.missing.length > 0 && (
        <ul>
          {facts.missing.map(({ kind, text }) => (
            <li>
              {kind}: {shown(text)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
