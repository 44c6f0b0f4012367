// What a user can do to a session. Each says what came of it; none throws.

import type { Replacement } from "../../../typescript/src/index.ts";
import type { Node } from "../tree/model.ts";
import type { Panel } from "./panel.ts";
import type { Session } from "./session.ts";

export interface Action {
  readonly key: string;
  readonly name: string;
  readonly title: string;
  /** Whether it can be done to that entry; absent: to each. */
  readonly fits?: (node: Node) => boolean;
  readonly run: (panel: Panel, session: Session, node: Node) => unknown;
}

async function attempt(panel: Panel, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    panel.failed(error);
  }
}

export function move(panel: Panel, session: Session, entryId: string | null, more: { label?: string; summarize?: boolean } = {}) {
  return attempt(panel, async () => {
    const asked = { sessionId: session.id, entryId, ...more };
    const done = await panel.client!.request("session/moveLeaf", asked);
    session.movedBy.value = null;
    const undo = () => void move(panel, session, done.previousLeafId);
    panel.say({ text: done.summaryEntryId === undefined ? "The leaf was moved." : "Moved, with a summary.", undo });
  });
}

function reedit(panel: Panel, session: Session, node: Node) {
  return attempt(panel, async () => {
    const asked = { sessionId: session.id, entryId: node.id, position: "before" as const };
    const done = await panel.client!.request("session/moveLeaf", asked);
    panel.dialog.value = { kind: "compose", text: done.editorText ?? "" };
    const undo = () => void move(panel, session, done.previousLeafId);
    panel.say({ text: "The leaf is before the message.", undo });
  });
}

export function append(panel: Panel, session: Session, text: string) {
  return attempt(panel, async () => {
    const message = { role: "user", content: text, timestamp: Date.now() };
    const done = await panel.client!.request("session/append", {
      sessionId: session.id,
      entries: [{ type: "message", message }],
      expectedLeafId: session.leafId.value,
    });
    session.reveal(done.entries[0]!.id);
  });
}

function fork(panel: Panel, session: Session, node: Node) {
  return attempt(panel, async () => {
    const made = await panel.client!.request("session/fork", { sessionId: session.id, entryId: node.id });
    await panel.list();
    panel.say({ text: "This is the fork.", undo: () => void panel.show(session.id, node.id) });
    await panel.show(made.sessionId);
  });
}

function label(panel: Panel, session: Session, node: Node): void {
  panel.dialog.value = {
    kind: "text",
    title: "Label",
    label: "Label of this entry; empty clears it",
    value: node.label ?? "",
    done: (text) =>
      void attempt(panel, () =>
        panel.client!.request("session/label", { sessionId: session.id, entryId: node.id, label: text.trim() || null }),
      ),
  };
}

export function rename(panel: Panel, session: Session): void {
  panel.dialog.value = {
    kind: "text",
    title: "Rename",
    label: "Name of the session; empty clears it",
    value: session.state.value?.name ?? "",
    done: (name) =>
      void attempt(panel, async () => {
        await panel.client!.request("session/rename", { sessionId: session.id, name: name.trim() });
        await panel.list();
      }),
  };
}

export function setWindow(panel: Panel, session: Session): void {
  panel.dialog.value = {
    kind: "text",
    title: "The model's window",
    label: "Tokens that the model takes, such as 200000; empty: unknown",
    value: String(session.stats.value?.contextWindow ?? ""),
    done: (text) =>
      void attempt(panel, async () => {
        const contextWindow = text.trim() === "" ? null : Number(text.replaceAll(/[\s,_.]/g, ""));
        await panel.client!.request("session/configure", { sessionId: session.id, contextWindow });
        session.stats.value = await panel.client!.request("session/stats", { sessionId: session.id });
      }),
  };
}

function omit(panel: Panel, session: Session, node: Node) {
  const replacement: Replacement | null = null;
  return attempt(panel, async () => {
    await panel.client!.request("session/editContext", { sessionId: session.id, targetId: node.id, replacement });
    panel.say({ text: "From here on the model doesn't see this entry." });
  });
}

export function exportMarkdown(panel: Panel, session: Session, leafId: string | null) {
  return attempt(panel, async () => {
    const asked = { sessionId: session.id, format: "markdown" as const, leafId };
    const { text } = await panel.client!.request("session/export", asked, { retry: true });
    const name = (session.state.value?.name ?? session.id).replaceAll(/[^\p{L}\p{N} ._-]/gu, "_").slice(0, 80);
    panel.host.save(`${name || "session"}.md`, text ?? "");
    panel.say({ text: "Exported as Markdown." });
  });
}

export function mark(panel: Panel, session: Session, node: Node): void {
  const other = session.marked.value;
  if (other === null) {
    session.marked.value = node.id;
    panel.say({ text: "Choose the other entry, and compare again." });
  } else if (other === node.id) {
    session.marked.value = null;
    panel.notice.value = null;
  } else {
    session.marked.value = null;
    panel.notice.value = null;
    panel.comparing.value = { a: other, b: node.id };
  }
}

const isUser = (node: Node) => node.type === "message" && node.role === "user";
const contributes = (node: Node) =>
  ["message", "custom_message", "compaction", "branch_summary"].includes(node.type) && node.role !== "system";

/** Those about an entry, in the order of the buttons. */
export const ACTIONS: readonly Action[] = [
  { key: "m", name: "Move here", title: "Go on from this entry", run: (panel, session, node) => move(panel, session, node.id) },
  {
    key: "M",
    name: "Move…",
    title: "Go on from here, with a summary of what is left, or a label",
    run: (panel, _, node) => (panel.dialog.value = { kind: "move", entryId: node.id }),
  },
  { key: "e", name: "Edit again", title: "Go before this message, with its text to change", fits: isUser, run: reedit },
  { key: "f", name: "Fork", title: "A new session from the path to this entry", run: fork },
  { key: "l", name: "Label", title: "Label this entry", run: label },
  { key: "c", name: "Compare", title: "Compare the path to this entry with another one", run: mark },
  { key: "o", name: "Omit", title: "Leave this entry out of the context from here on", fits: contributes, run: omit },
  {
    key: "x",
    name: "Export",
    title: "The path to this entry as Markdown",
    run: (panel, session, node) => exportMarkdown(panel, session, node.id),
  },
];
