// The extension: its parts, and what brings them together.

import * as vscode from "vscode";
import { changes } from "./commands/change.ts";
import { choose, search } from "./commands/choose.ts";
import { compact } from "./commands/compact.ts";
import { looks } from "./commands/look.ts";
import { type Given, opened, type Parts } from "./commands/parts.ts";
import { Asker, inform } from "./commands/tell.ts";
import { Language } from "./language.ts";
import { Catalog } from "./session/catalog.ts";
import { Chosen } from "./session/chosen.ts";
import { Daemon } from "./session/daemon.ts";
import { PanelView } from "./panel/view.ts";
import { SessionsView } from "./session/view.ts";
import { folders, setting } from "./settings.ts";
import { Documents } from "./show/virtual.ts";
import { Status } from "./status.ts";
import { said } from "./text.ts";
import { BranchesView } from "./tree/view.ts";

const LOST = "The view was read anew while its menu was open: choose again.";

/** How a session file begins. */
const HEADER = /^\s*\{\s*"type"\s*:\s*"session"/;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("pi sessions", { log: true });
  const daemon = new Daemon(log);
  const chosen = new Chosen(daemon);
  const catalog = new Catalog(daemon);
  const asker = new Asker(daemon, () => chosen.session?.id);
  const branches = new BranchesView(chosen);
  const documents = new Documents(daemon, chosen);
  const parts: Parts = { asker, catalog, chosen, branches, documents };
  const language = new Language(daemon, (name, sessionId, entryId) => lens(parts, name, sessionId, entryId));

  /** After each connection: hear of the sessions there are, and show one. */
  async function joined(): Promise<void> {
    const client = await daemon.client();
    await catalog.subscribe(client);
    catalog.refresh();
    void language.start();
    if (chosen.session === undefined) await chooseNewest();
    else if (chosen.session.client !== client) await chosen.again();
  }

  async function chooseNewest(): Promise<void> {
    const client = await daemon.client();
    const lists = await Promise.all(folders().map((cwd) => client.request("session/list", { cwd, limit: 1 }, { retry: true })));
    const newest = lists.flatMap(({ sessions }) => sessions).sort((a, b) => (a.modified < b.modified ? 1 : -1))[0];
    if (newest !== undefined && chosen.session === undefined) await chosen.open({ sessionId: newest.sessionId });
  }

  /** `loudly`: the user waits for it, so a failure is a message; else the view tells of it. */
  async function join(loudly: boolean): Promise<void> {
    if (loudly) await asker.ask("join the daemon", joined);
    else await joined().catch((error: unknown) => log.warn(String(error)));
  }

  const sessions = new SessionsView(catalog, chosen, () => {
    if (!catalog.read && daemon.state !== "connecting") void join(false);
  });
  const commands: Record<string, (given?: Given) => unknown> = {
    ...changes(parts),
    ...looks(parts),
    compact: (given) => compact(parts, given),
    choose: () => choose(parts),
    search: () => search(parts),
    more: () => catalog.showMore(),
    refresh: async () => {
      await join(true);
      catalog.refresh();
      chosen.session?.refresh();
    },
    connect: async () => {
      await asker.ask("join the daemon", () => daemon.again());
      if (daemon.state === "ready") await join(true);
    },
    showLog: () => log.show(),
    openSettings: () => vscode.commands.executeCommand("workbench.action.openSettings", "pi-daemon"),
    showPanel: () => vscode.commands.executeCommand("piSessions.panel.focus"),
    showTree: () => vscode.commands.executeCommand("piSessions.tree.focus"),
  };
  const panel = new PanelView(context.extensionUri, chosen, log, (sessionId) => void opened(parts, sessionId));
  context.subscriptions.push(log, daemon, chosen, catalog, branches, documents, sessions, panel, language, new Status(daemon, chosen));
  for (const [name, run] of Object.entries(commands)) {
    // An item's menu gives nothing where its view is being read anew just then. What is selected is another item perhaps.
    const checked = (...given: Given[]) => (given.length > 0 && given[0] === undefined ? inform(LOST) : run(given[0]));
    context.subscriptions.push(vscode.commands.registerCommand(`piSessions.${name}`, checked));
  }

  const looked = (document: vscode.TextDocument) => {
    const fits = document.uri.scheme === "file" && document.fileName.endsWith(".jsonl") && HEADER.test(document.lineAt(0).text.slice(0, 100));
    if (fits && daemon.state === "off") void join(false);
  };
  let client: unknown;
  context.subscriptions.push(
    vscode.commands.registerCommand("piSessions.open", (sessionId: string) => opened(parts, sessionId)),
    vscode.workspace.onDidOpenTextDocument(looked),
    vscode.workspace.onDidChangeWorkspaceFolders(() => catalog.read && catalog.refresh()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("pi-daemon.command") && daemon.state !== "off") void vscode.commands.executeCommand("piSessions.connect");
      if (event.affectsConfiguration("pi-daemon.filter") && chosen.session !== undefined) {
        chosen.session.filter = setting.filter();
        chosen.session.refresh();
      }
      if (event.affectsConfiguration("pi-daemon.contextWindow") && chosen.session !== undefined) void configure(parts);
    }),
    daemon.onChanged(() => {
      // A command may have joined it, or the offer of a summarizer: the views follow.
      if (daemon.state !== "ready") return;
      void daemon.client().then((one) => {
        if (one === client) return;
        client = one;
        void join(false);
      });
    }),
    chosen.onChanged(({ kind, message }) => {
      if (kind !== "problem" || message === undefined) return;
      log.warn(message);
      void vscode.window.showWarningMessage(`The session: ${said(message)}.`);
    }),
  );
  vscode.workspace.textDocuments.forEach(looked);
  if (setting.startsWithWindow() && folders().length > 0) void join(false);
}

/** The window that is set now, for the session that is shown. */
async function configure({ asker, chosen }: Parts): Promise<void> {
  const { session } = chosen;
  if (session === undefined) return;
  const contextWindow = setting.contextWindow() ?? null;
  await asker.ask("set the window", () => session.client.request("session/configure", { sessionId: session.id, contextWindow }));
  session.refresh();
}

/** What a lens names, done by this extension's own commands: they show progress, and what came of it. */
async function lens(parts: Parts, name: string, sessionId: string, entryId: string | undefined): Promise<boolean> {
  if (name !== "pi-daemon.compact" && name !== "pi-daemon.explain") return false;
  const session = await opened(parts, sessionId);
  if (session === undefined) return true;
  if (name === "pi-daemon.compact") await vscode.commands.executeCommand("piSessions.compact");
  else await parts.documents.show("why", sessionId, entryId ?? session.leafId ?? "");
  return true;
}
