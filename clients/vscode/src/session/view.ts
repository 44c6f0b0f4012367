// The view of the sessions there are.

import * as vscode from "vscode";
import type { SessionInfo } from "../../../typescript/src/protocol.ts";
import { line } from "../text.ts";
import type { Catalog } from "./catalog.ts";
import type { Chosen } from "./chosen.ts";
import { besides, titleOf } from "./listed.ts";

export type Listed = { kind: "elsewhere" } | { kind: "more" } | { kind: "session"; session: SessionInfo; here: boolean };

export class SessionsView implements vscode.TreeDataProvider<Listed>, vscode.Disposable {
  readonly #catalog: Catalog;
  readonly #chosen: Chosen;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #parts: vscode.Disposable[];
  readonly view: vscode.TreeView<Listed>;

  /** `needed` is called when somebody looks. */
  constructor(catalog: Catalog, chosen: Chosen, needed: () => void) {
    this.#catalog = catalog;
    this.#chosen = chosen;
    this.view = vscode.window.createTreeView("piSessions.sessions", { treeDataProvider: this, showCollapseAll: false });
    let shown: string | undefined;
    this.#parts = [
      this.view,
      this.#changed,
      catalog.onChanged(() => this.#changed.fire(undefined)),
      chosen.onChanged(() => {
        if (chosen.session?.id === shown) return;
        shown = chosen.session?.id;
        this.#changed.fire(undefined);
      }),
      this.view.onDidChangeVisibility(({ visible }) => visible && needed()),
    ];
    if (this.view.visible) needed();
  }

  getChildren(of?: Listed): Listed[] {
    const { here, elsewhere } = this.#catalog.groups;
    const item = (there: boolean) => (session: SessionInfo) => ({ kind: "session", session, here: there }) as const;
    if (of === undefined) {
      if (here.length === 0 && elsewhere.length === 0) return [];
      return [...here.map(item(true)), ...(elsewhere.length > 0 ? [{ kind: "elsewhere" } as const] : [])];
    }
    if (of.kind !== "elsewhere") return [];
    return [...elsewhere.map(item(false)), ...(this.#catalog.more ? [{ kind: "more" } as const] : [])];
  }

  getTreeItem(of: Listed): vscode.TreeItem {
    if (of.kind === "elsewhere") {
      const { here } = this.#catalog.groups;
      const state = here.length > 0 ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.Expanded;
      const item = new vscode.TreeItem("Other directories", state);
      item.id = `elsewhere ${here.length > 0}`;
      item.iconPath = new vscode.ThemeIcon("folder-library");
      return item;
    }
    if (of.kind === "more") {
      const item = new vscode.TreeItem("Show more…");
      item.id = "more";
      item.command = { command: "piSessions.more", title: "Show more" };
      return item;
    }
    const { session, here } = of;
    const chosen = session.sessionId === this.#chosen.session?.id;
    const item = new vscode.TreeItem(titleOf(session));
    item.id = `${here} ${session.sessionId}`;
    item.description = `${chosen ? "◆ " : ""}${besides(session, Date.now(), !here)}`;
    item.iconPath = new vscode.ThemeIcon("comment-discussion", chosen ? new vscode.ThemeColor("charts.green") : undefined);
    item.contextValue = "session";
    item.tooltip = tooltip(session);
    item.accessibilityInformation = { label: `${titleOf(session)}, ${besides(session, Date.now(), true)}${chosen ? ", shown" : ""}` };
    item.command = { command: "piSessions.open", title: "Show its branches", arguments: [session.sessionId] };
    return item;
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }
}

function tooltip(session: SessionInfo): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  text.appendText(`${line(session.name ?? session.firstMessage)}\n\n${session.cwd}\n\n${session.path ?? "not in a file yet"}\n\n${session.sessionId}`);
  return text;
}
