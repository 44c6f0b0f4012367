// Documents that are read of a session: `pi-session:/KIND/SESSION/ID/NAME.md`. Those of the shown session are read anew
// with it. Nothing is written through them.

import * as vscode from "vscode";
import type { Chosen } from "../session/chosen.ts";
import type { Daemon } from "../session/daemon.ts";
import { titleOf } from "../session/listed.ts";
import { setting } from "../settings.ts";
import { signalOf } from "../signal.ts";
import { contextDocument, entryDocument } from "./documents.ts";
import { why } from "./why.ts";

const SCHEME = "pi-session";
const KEPT = 20;

export class Documents implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #daemon: Daemon;
  readonly #chosen: Chosen;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #made = new Map<string, string>();
  readonly #parts: vscode.Disposable[];

  constructor(daemon: Daemon, chosen: Chosen) {
    this.#daemon = daemon;
    this.#chosen = chosen;
    this.#parts = [
      this.#changed,
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      chosen.onChanged(({ kind }) => {
        if (kind !== "read") return;
        for (const { uri } of vscode.workspace.textDocuments) {
          if (uri.scheme === SCHEME && parts(uri).session === chosen.session?.id) this.#changed.fire(uri);
        }
      }),
    ];
  }

  /** `id`: the entry; for the context where its path ends, empty: at the leaf, wherever that goes. */
  async show(kind: "context" | "entry" | "why", session: string, id: string, preview = true): Promise<void> {
    const name = { context: "What the model sees", entry: `Entry ${id}`, why: `Why ${id}` }[kind];
    await this.#open(address(kind, session, id, name), preview, true);
  }

  /** A text that was made once. */
  async showMade(name: string, text: string): Promise<void> {
    const uri = address("made", "", `${Date.now()}`, name);
    this.#made.set(uri.path, text);
    for (const path of this.#made.keys()) {
      if (this.#made.size <= KEPT) break;
      this.#made.delete(path);
    }
    await this.#open(uri, false, false);
  }

  async #open(uri: vscode.Uri, preview: boolean, preserveFocus: boolean): Promise<void> {
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.languages.setTextDocumentLanguage(document, "markdown");
    await vscode.window.showTextDocument(document, { preview, preserveFocus });
  }

  async provideTextDocumentContent(uri: vscode.Uri, token: vscode.CancellationToken): Promise<string> {
    const { kind, session: sessionId, id } = parts(uri);
    if (kind === "made") return this.#made.get(uri.path) ?? "This was made once, and is no longer kept.\n";
    try {
      const client = await this.#daemon.client();
      const options = { signal: signalOf(token), retry: true };
      const shown = this.#chosen.session?.id === sessionId ? this.#chosen.session : undefined;
      if (kind === "context") {
        const asked = { sessionId, format: "llm" as const, ...(id !== "" && { leafId: id }) };
        const context = await client.request("session/context", asked, options);
        const title = shown === undefined ? sessionId : titleOf({ ...shown.state, firstMessage: shown.nodes[0]?.preview ?? "" });
        return contextDocument(title, context, shown?.stats?.contextWindow ?? setting.contextWindow() ?? null);
      }
      if (kind === "why") {
        const found = await client.request("session/explain", { sessionId, entryId: id }, options);
        return `${found.entries.flatMap(why).join("\n\n")}\n`;
      }
      const found = await client.request("session/entries", { sessionId, ids: [id] }, options);
      return entryDocument(found.entries[0] ?? null, shown?.node(id));
    } catch (error) {
      return `This can't be read: ${error instanceof Error ? error.message : String(error)}\n`;
    }
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }
}

function address(kind: string, session: string, id: string, name: string): vscode.Uri {
  const words = [kind, session, id, `${name}.md`].map((word) => word.replaceAll("/", "∕") || "-");
  return vscode.Uri.from({ scheme: SCHEME, path: `/${words.join("/")}` });
}

function parts(uri: vscode.Uri): { kind: string; session: string; id: string } {
  const [kind = "", session = "", id = ""] = uri.path.slice(1).split("/");
  return { kind, session: session.replaceAll("∕", "/"), id: id === "-" ? "" : id.replaceAll("∕", "/") };
}
