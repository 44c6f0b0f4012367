// Commands that change a session: the daemon does it, and everybody hears of it.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import { editable } from "../tree/kinds.ts";
import { first, type Given, opened, type Parts, placeOf, sessionOf } from "./parts.ts";
import { type Attempt, inform } from "./tell.ts";

/** Where an edited message belongs. */
interface Edited {
  readonly session: string;
  readonly leafId: string | null;
}

export function changes(parts: Parts): Record<string, (given?: Given) => Promise<void>> {
  const { asker } = parts;
  const edited = new Map<string, Edited>();

  const editing = () => {
    const uri = vscode.window.activeTextEditor?.document.uri.toString() ?? "";
    void vscode.commands.executeCommand("setContext", "piSessions.editing", edited.has(uri));
  };
  vscode.window.onDidChangeActiveTextEditor(editing);
  vscode.workspace.onDidCloseTextDocument(({ uri }) => void edited.delete(uri.toString()));

  async function moveLeaf(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "move the leaf to");
    if (place === undefined) return;
    const { session, node } = place;
    const expectedLeafId = session.leafId;
    await asker.ask("move the leaf", ({ remedy }) =>
      session.client.request("session/moveLeaf", {
        sessionId: session.id,
        entryId: node.id,
        ...(remedy !== "anyway" && { expectedLeafId }),
      }),
    );
  }

  async function moveLeafSummarized(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "move the leaf to");
    if (place === undefined) return;
    const { session, node } = place;
    const done = await asker.askLong("summarize the branch", "Summarizing the branch that is left", ({ remedy, signal, progress }) =>
      session.client.request(
        "session/moveLeaf",
        { sessionId: session.id, entryId: node.id, summarize: true, ...(remedy === "embedded" && { summarizer: "extractive" }) },
        { ...(signal && { signal }), ...(progress && { progress }) },
      ),
    );
    if (done === undefined) return;
    inform(done.summaryEntryId === undefined ? "The leaf was moved; there was nothing to summarize." : "The leaf was moved, and a summary of the branch is there.");
  }

  async function edit(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "edit anew", editable);
    if (place === undefined) return;
    const { session, node } = place;
    const moved = await asker.ask("go before the message", () =>
      session.client.request("session/moveLeaf", { sessionId: session.id, entryId: node.id, position: "before" }),
    );
    if (moved === undefined) return;
    const document = await vscode.workspace.openTextDocument({ language: "markdown", content: moved.editorText ?? "" });
    edited.set(document.uri.toString(), { session: session.id, leafId: moved.leafId });
    await vscode.window.showTextDocument(document, { preview: false });
    editing();
    inform("The leaf is before the message now. Edit its text, and append it with the arrow above the editor; or give it to your agent.");
  }

  async function send(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const about = document && edited.get(document.uri.toString());
    if (document === undefined || about === undefined) return inform("This is no message that is edited anew.");
    const content = document.getText();
    if (content.trim() === "") return inform("There is nothing to append yet.");
    // An id of its own, so that it isn't there twice after a connection that was lost.
    const id = randomBytes(4).toString("hex");
    const message = { role: "user", content, timestamp: Date.now() };
    const append = async ({ remedy }: Attempt) => {
      const client = await asker.daemon.client();
      const asked = {
        sessionId: about.session,
        entries: [{ type: "message", id, message }],
        ...(remedy === "anyway" ? { parentId: about.leafId } : { expectedLeafId: about.leafId }),
      };
      return client.request("session/append", asked, { retry: true });
    };
    const done = await asker.ask("append the message", append, about.session);
    if (done === undefined) return;
    edited.delete(document.uri.toString());
    editing();
    if (vscode.window.activeTextEditor?.document === document) {
      await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
    }
  }

  async function fork(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "fork at");
    if (place === undefined) return;
    const { session, node } = place;
    const state = await asker.ask("fork", () => session.client.request("session/fork", { sessionId: session.id, entryId: node.id }));
    if (state === undefined) return;
    await opened(parts, state.sessionId);
    parts.catalog.refresh();
    inform(`Forked after “${first(node)}”; the tree shows the new session.`);
  }

  async function label(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "label");
    if (place === undefined) return;
    const { session, node } = place;
    const prompt = "The label of the entry; empty clears it";
    const words = await vscode.window.showInputBox({ prompt, value: node.label ?? "" });
    if (words === undefined || words === (node.label ?? "")) return;
    await asker.ask("label the entry", () =>
      session.client.request("session/label", { sessionId: session.id, entryId: node.id, label: words.trim() || null }),
    );
  }

  async function rename(given?: Given): Promise<void> {
    const session = await sessionOf(parts, given);
    if (session === undefined) return;
    const prompt = "The name of the session; empty clears it";
    const name = await vscode.window.showInputBox({ prompt, value: session.state.name ?? "" });
    if (name === undefined || name === (session.state.name ?? "")) return;
    await asker.ask("rename the session", () => session.client.request("session/rename", { sessionId: session.id, name: name.trim() }));
  }

  async function omit(given?: Given): Promise<void> {
    const place = await placeOf(parts, given, "omit from the context");
    if (place === undefined) return;
    const { session, node } = place;
    const before = session.leafId;
    const done = await asker.ask("omit the entry", () =>
      session.client.request("session/editContext", { sessionId: session.id, targetId: node.id, replacement: null }),
    );
    if (done === undefined) return;
    const undo = "Take It Back";
    if ((await vscode.window.showInformationMessage(`The model doesn't see “${first(node)}” any more.`, undo)) !== undo) return;
    await asker.ask("take it back", () =>
      session.client.request("session/moveLeaf", { sessionId: session.id, entryId: before, expectedLeafId: done.entryId }),
    );
  }

  return { moveLeaf, moveLeafSummarized, edit, send, fork, label, rename, omit };
}
