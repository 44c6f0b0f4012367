// Commands that show something.

import { homedir } from "node:os";
import { join } from "node:path";
import * as vscode from "vscode";
import type { ExportParams } from "../../../typescript/src/protocol.ts";
import { titleOf } from "../session/listed.ts";
import { type Filter, folders } from "../settings.ts";
import { why } from "../show/why.ts";
import { said } from "../text.ts";
import { type Given, type Parts, placeOf, sessionOf } from "./parts.ts";
import { inform } from "./tell.ts";

const FILTERS: readonly { label: string; filter: Filter }[] = [
  { label: "The conversation", filter: "default" },
  { label: "Without tool results", filter: "noTools" },
  { label: "Users' messages", filter: "userOnly" },
  { label: "What bears a label", filter: "labeledOnly" },
  { label: "All entries", filter: "all" },
];

const FORMATS: readonly { label: string; detail: string; format: ExportParams["format"]; ending: string }[] = [
  { label: "Markdown", detail: "A document of the path to the leaf, to be read", format: "markdown", ending: "md" },
  { label: "Session of the path", detail: "A session file of the path to the leaf", format: "jsonl", ending: "jsonl" },
  { label: "The whole tree", detail: "Every line of the file", format: "tree", ending: "jsonl" },
];

export function looks(parts: Parts): Record<string, (given?: Given) => Promise<void>> {
  const { asker, documents } = parts;

  async function explain(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "explain");
    if (place === undefined) return;
    const { session, node } = place;
    const found = await asker.ask("explain the entry", () =>
      session.client.request("session/explain", { sessionId: session.id, entryId: node.id }),
    );
    const lines = found?.entries[0] === undefined ? undefined : why(found.entries[0]);
    if (lines === undefined) return;
    const more = "In Full";
    const [first = "", second = ""] = lines;
    const chosen = await vscode.window.showInformationMessage(said(`${first} ${second}`), ...(lines.length > 2 ? [more] : []));
    if (chosen === more) await documents.show("why", session.id, node.id);
  }

  async function showEntry(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "show");
    if (place !== undefined) await documents.show("entry", place.session.id, place.node.id);
  }

  async function showContext(given?: Given): Promise<void> {
    const session = await sessionOf(parts, given);
    if (session !== undefined) await documents.show("context", session.id, "", false);
  }

  async function showContextHere(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "see the context of");
    if (place !== undefined) await documents.show("context", place.session.id, place.node.id);
  }

  async function openFile(given?: Given): Promise<void> {
    const session = await sessionOf(parts, given);
    if (session === undefined) return;
    // The state is of when it was opened: there may be a file by now.
    const state = await asker.ask("find its file", () => session.client.request("session/open", { sessionId: session.id }));
    if (state === undefined) return;
    if (state.path === null) return inform("The session is in no file yet: that comes with its first answer.");
    await vscode.window.showTextDocument(vscode.Uri.file(state.path), { preview: false });
  }

  async function exported(given?: Given): Promise<void> {
    const session = await sessionOf(parts, given);
    if (session === undefined || !(await asker.can("export the session", "export"))) return;
    const how = await vscode.window.showQuickPick([...FORMATS], { placeHolder: "Export as" });
    if (how === undefined) return;
    const name = titleOf({ ...session.state, firstMessage: session.nodes[0]?.preview ?? "" }).replace(/[^\p{L}\p{N}]+/gu, "-");
    const defaultUri = vscode.Uri.file(join(folders()[0] ?? homedir(), `${name.slice(0, 60)}.${how.ending}`));
    const uri = await vscode.window.showSaveDialog({ defaultUri, saveLabel: "Export" });
    if (uri === undefined) return;
    const written = await asker.askLong("export the session", "Exporting", ({ signal, progress }) =>
      session.client.request(
        "session/export",
        { sessionId: session.id, format: how.format, path: uri.fsPath },
        { ...(signal && { signal }), ...(progress && { progress }) },
      ),
    );
    if (written === undefined) return;
    const open = "Open It";
    const chosen = await vscode.window.showInformationMessage(`Exported to ${said(uri.fsPath)}.`, open);
    if (chosen === open) await vscode.window.showTextDocument(uri);
  }

  async function copyId(given?: Given): Promise<void> {
    const id = given !== undefined && "session" in given ? given.session.sessionId : (await placeOf(parts, given, "copy the id of"))?.node.id;
    if (id !== undefined) await vscode.env.clipboard.writeText(id);
  }

  async function filter(): Promise<void> {
    const session = await sessionOf(parts, undefined);
    if (session === undefined) return;
    const picks = FILTERS.map((one) => ({ ...one, description: one.filter === session.filter ? "now" : "" }));
    const picked = await vscode.window.showQuickPick(picks, { placeHolder: "What the tree shows" });
    if (picked === undefined) return;
    session.filter = picked.filter;
    session.refresh();
  }

  async function unfold(): Promise<void> {
    const { session } = parts.chosen;
    if (session === undefined) return;
    session.whole = true;
    session.refresh();
  }

  async function revealLeaf(): Promise<void> {
    const session = await sessionOf(parts, undefined);
    if (session === undefined) return;
    const { leafId } = parts.branches.shape;
    if (leafId === undefined || !(await parts.branches.reveal(leafId, true))) {
      inform("The leaf is before the first entry, or the filter hides it.");
    }
  }

  return { explain, showEntry, showContext, showContextHere, openFile, export: exported, copyId, filter, unfold, revealLeaf };
}
