// The webview with the panel. It has a connection of its own, through a process that the extension starts for it.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Wire } from "../../../typescript/src/endpoint.ts";
import type { Chosen } from "../session/chosen.ts";
import { Program } from "../session/process.ts";
import { folders, setting } from "../settings.ts";
import type { FromPanel, ToPanel } from "./words.ts";

export class PanelView implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #files: vscode.Uri;
  readonly #chosen: Chosen;
  readonly #log: vscode.LogOutputChannel;
  readonly #choose: (sessionId: string) => void;
  readonly #registered: vscode.Disposable;

  /** `choose` shows another session, which the user has chosen in the panel. */
  constructor(extension: vscode.Uri, chosen: Chosen, log: vscode.LogOutputChannel, choose: (sessionId: string) => void) {
    this.#files = vscode.Uri.joinPath(extension, "dist");
    this.#chosen = chosen;
    this.#log = log;
    this.#choose = choose;
    this.#registered = vscode.window.registerWebviewViewProvider("piSessions.panel", this);
  }

  resolveWebviewView({ webview, onDidDispose }: vscode.WebviewView): void {
    webview.options = { enableScripts: true, localResourceRoots: [this.#files] };
    const wires = new Map<number, Wire>();
    const tell = (message: ToPanel) => void webview.postMessage(message);
    let ready = false;
    let told: string | undefined;

    const show = () => {
      const sessionId = this.#chosen.session?.id;
      if (!ready || (told === sessionId && told !== undefined)) return;
      told = sessionId;
      tell({ kind: "show", sessionId, cwd: folders()[0], name: `${vscode.env.appName || "VS Code"} panel` });
    };

    const open = async (wire: number) => {
      const program = new Program(setting.command(), (text) => this.#log.info(text));
      try {
        const opened = await program.open();
        wires.set(wire, opened);
        opened.reader.onClose(() => wires.delete(wire) && tell({ kind: "closed", wire }));
        opened.reader.onError((error) => this.#log.warn(String(error)));
        opened.reader.listen((message) => tell({ kind: "told", wire, message }));
        tell({ kind: "opened", wire });
      } catch (error) {
        tell({ kind: "failed", wire, why: error instanceof Error ? error.message : String(error) });
      }
    };

    const take = (given: FromPanel) => {
      switch (given.kind) {
        case "ready":
          ready = true;
          told = undefined;
          return show();
        case "open":
          return void open(given.wire);
        case "send":
          return void wires.get(given.wire)?.writer.write(given.message).catch(() => undefined); // its end tells as much
        case "close": {
          const wire = wires.get(given.wire);
          wires.delete(given.wire);
          return wire?.close();
        }
        case "shown":
          told = given.sessionId;
          return this.#choose(given.sessionId);
        case "copy":
          return void vscode.env.clipboard.writeText(given.text);
        case "save":
          return void save(given.name, given.text);
      }
    };

    const parts = [webview.onDidReceiveMessage(take), this.#chosen.onChanged(show)];
    onDidDispose(() => {
      for (const part of parts) part.dispose();
      for (const wire of wires.values()) wire.close();
    });
    webview.html = this.#page(webview);
  }

  #page(webview: vscode.Webview): string {
    const nonce = randomBytes(16).toString("base64");
    const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(this.#files, name)).toString();
    // No script but this one runs, and nothing is loaded from elsewhere; images of sessions are in the page.
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}; img-src data:`;
    return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <title>pi sessions</title>
    <link rel="stylesheet" href="${file("panel.css")}" />
  </head>
  <body>
    <div id="panel"></div>
    <script nonce="${nonce}" src="${file("panel.js")}"></script>
  </body>
</html>`;
  }

  dispose(): void {
    this.#registered.dispose();
  }
}

async function save(name: string, text: string): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const wanted = folder && vscode.Uri.joinPath(folder, name.replace(/[/\\]/g, "-"));
  const uri = await vscode.window.showSaveDialog(wanted ? { defaultUri: wanted } : {});
  if (uri !== undefined) await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
}
