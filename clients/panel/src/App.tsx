// The panel as a whole: sessions, tree, entry; beside each other where there is room, else one at a time.

import { useEffect, useRef } from "preact/hooks";
import { EntryView } from "./entry/EntryView.tsx";
import { Compare } from "./parts/Compare.tsx";
import { Dialogs } from "./parts/Dialogs.tsx";
import { SessionHeader } from "./parts/SessionHeader.tsx";
import { SessionList } from "./parts/SessionList.tsx";
import { isMembers } from "./entry/Content.tsx";
import { rename } from "./state/actions.ts";
import type { Pane, Panel } from "./state/panel.ts";
import { TreeView } from "./tree/TreeView.tsx";

const PANES: readonly [Pane, string][] = [
  ["sessions", "Sessions"],
  ["tree", "Branches"],
  ["entry", "Entry"],
];

export function App({ panel }: { panel: Panel }) {
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => shortcut(panel, root.current!, event);
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [panel]);
  const session = panel.session.value;
  const pane = panel.pane.value;
  const comparing = panel.comparing.value;
  return (
    <main class="panel" ref={root} data-pane={pane}>
      <h1 class="hidden">Sessions and their branches</h1>
      <Connection panel={panel} />
      <nav class="panes" aria-label="Parts of the panel">
        {PANES.map(([name, title]) => (
          <button type="button" aria-pressed={pane === name} onClick={() => (panel.pane.value = name)}>
            {title}
          </button>
        ))}
      </nav>
      <section class="sessions-pane" aria-label="Sessions">
        <SessionList panel={panel} />
      </section>
      <section class="tree-pane" aria-label="Branches">
        {session === null ? (
          <Nothing panel={panel} />
        ) : (
          <>
            <SessionHeader panel={panel} session={session} />
            {comparing !== null ? (
              <Compare panel={panel} session={session} a={comparing.a} b={comparing.b} />
            ) : session.loaded.value ? (
              session.rows.value.length > 0 ? (
                <TreeView key={session.id} panel={panel} session={session} />
              ) : (
                <p class="empty">Nothing has been said yet.</p>
              )
            ) : (
              <p class="empty">Reading…</p>
            )}
          </>
        )}
      </section>
      <section class="entry-pane" aria-label="Entry">
        {session !== null && session.loaded.value && <EntryView panel={panel} session={session} />}
      </section>
      <Notice panel={panel} />
      <Dialogs panel={panel} />
    </main>
  );
}

function Connection({ panel }: { panel: Panel }) {
  const connected = panel.connected.value;
  const words = {
    coming: "",
    there: "",
    lost: "The connection to the daemon is lost. Everything stays here; it goes on when the daemon is back.",
    refused: panel.host.refused,
  }[connected];
  return (
    <div class={`connection ${connected}`} role="status" aria-live="polite">
      {words}
    </div>
  );
}

function Nothing({ panel }: { panel: Panel }) {
  const refusal = panel.refusal.value;
  if (refusal === null) return <p class="empty">Choose a session.</p>;
  return (
    <div class="empty" role="alert">
      <p>{refusal.message}</p>
      {refusal.recoverable && (
        <button type="button" onClick={() => void panel.show(refusal.id, undefined, true)}>
          Show what can be read
        </button>
      )}
    </div>
  );
}

function Notice({ panel }: { panel: Panel }) {
  const notice = panel.notice.value;
  const close = () => (panel.notice.value = null);
  return (
    <div class="notices" role="status" aria-live="polite">
      {notice !== null && (
        <div class={notice.bad ? "notice bad" : "notice"} key={notice.number}>
          <span>{notice.text}</span>
          {isMembers(notice.details) && "kinds" in notice.details && (
            <button
              type="button"
              onClick={() => {
                panel.dialog.value = { kind: "retention", retention: notice.details as never };
                close();
              }}
            >
              What it kept
            </button>
          )}
          {notice.undo !== undefined && (
            <button
              type="button"
              onClick={() => {
                close();
                notice.undo!();
              }}
            >
              Back
            </button>
          )}
          <button type="button" aria-label="Close this notice" onClick={close}>
            ✕
          </button>
        </div>
      )}
    </div>
  );
}

/** Keys that work everywhere but where one types. */
function shortcut(panel: Panel, root: HTMLElement, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || panel.dialog.value !== null) return;
  const target = event.target as HTMLElement;
  if (target.closest("input, textarea, select")) {
    if (event.key === "Escape") target.blur();
    return;
  }
  const session = panel.session.value;
  const go = (pane: Pane, ...selectors: readonly string[]) => {
    panel.pane.value = pane;
    requestAnimationFrame(() => {
      const found = selectors.map((selector) => root.querySelector<HTMLElement>(selector));
      found.find((element) => element !== null)?.focus();
    });
  };
  const keys: Record<string, () => void> = {
    "?": () => (panel.dialog.value = { kind: "help" }),
    "/": () => go("sessions", ".search"),
    "1": () => go("sessions", ".search"),
    "2": () => go("tree", ".row.selected", ".tree"),
    "3": () => go("entry", ".content"),
    Escape: () => {
      panel.comparing.value = null;
      if (session !== null) session.marked.value = null;
      go("tree", ".row.selected", ".tree");
    },
    r: () => session !== null && rename(panel, session),
    K: () => session !== null && (panel.dialog.value = { kind: "compact" }),
    a: () => session !== null && (panel.dialog.value = { kind: "compose", text: "" }),
  };
  const work = keys[event.key];
  if (work === undefined) return;
  event.preventDefault();
  work();
}
