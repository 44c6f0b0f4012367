// The view of the chosen session's branches. It follows the session, and leaves open what is open.

import * as vscode from "vscode";
import type { Chosen } from "../session/chosen.ts";
import { titleOf } from "../session/listed.ts";
import { line, said } from "../text.ts";
import { kind } from "./kinds.ts";
import { type Item, type Shape, shape } from "./shape.ts";
import { draw } from "./words.ts";

const NOTHING: Shape = { roots: [], byId: new Map(), leafId: undefined };
const TOLD_MS = 5_000;

export class BranchesView implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  readonly #chosen: Chosen;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #parts: vscode.Disposable[];
  readonly view: vscode.TreeView<Item>;
  #shape = NOTHING;
  #session: string | undefined;
  /** What was drawn last. */
  #seen = "";
  /** The leaf that was revealed last. */
  #revealed: string | undefined;

  constructor(chosen: Chosen) {
    this.#chosen = chosen;
    this.view = vscode.window.createTreeView("piSessions.tree", { treeDataProvider: this, showCollapseAll: true });
    this.#parts = [
      this.view,
      this.#changed,
      chosen.onChanged((change) => {
        if (change.kind === "read" || change.kind === "gone") this.#draw();
        if (change.by !== undefined) {
          vscode.window.setStatusBarMessage(`$(target) ${said(change.by, 40)} moved the leaf`, TOLD_MS);
        }
      }),
      this.view.onDidChangeVisibility(({ visible }) => visible && void this.#follow()),
    ];
  }

  get shape(): Shape {
    return this.#shape;
  }

  getChildren(of?: Item): Item[] {
    return of === undefined ? this.#shape.roots : of.children;
  }

  getParent(of: Item): Item | undefined {
    return of.parent;
  }

  getTreeItem(of: Item): vscode.TreeItem {
    const drawn = draw(of, this.#shape, Date.now());
    const { None, Collapsed } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(drawn.label, of.children.length > 0 ? Collapsed : None);
    item.id = `${this.#session}/${of.key}`;
    item.description = drawn.description;
    item.iconPath = new vscode.ThemeIcon(drawn.icon, drawn.color === undefined ? undefined : new vscode.ThemeColor(drawn.color));
    item.contextValue = drawn.context;
    item.accessibilityInformation = { label: drawn.spoken, role: "treeitem" };
    item.tooltip = tooltip(of);
    item.command =
      of.kind === "stretch"
        ? { command: "piSessions.unfold", title: "Show them" }
        : { command: "piSessions.showEntry", title: "Show the entry", arguments: [of] };
    return item;
  }

  /** Shows the entry, or what stands for it. */
  async reveal(id: string, focus: boolean): Promise<boolean> {
    const item = this.#shape.byId.get(id);
    if (item === undefined) return false;
    await this.view.reveal(item, { select: true, focus, expand: false });
    return true;
  }

  #draw(): void {
    const session = this.#chosen.session;
    if (session === undefined) return;
    const before = this.#shape;
    this.#shape = shape(session.nodes, session.leafId);
    if (this.#session !== session.id) {
      this.#session = session.id;
      this.#revealed = undefined;
    }
    this.view.description = titleOf({ ...session.state, firstMessage: session.nodes[0]?.preview ?? "" });
    if (session.gone) this.view.message = "The session was deleted, or its file moved away.";
    else this.view.message = session.folded ? "A large session: straight stretches are folded." : "";
    void vscode.commands.executeCommand("setContext", "piSessions.folded", session.folded);
    const seen = JSON.stringify([session.id, session.nodes, this.#shape.leafId]);
    if (seen !== this.#seen) this.#changed.fire(undefined);
    else this.#shape = before; // the items that the editor knows
    this.#seen = seen;
    void this.#follow();
  }

  /** The leaf, where it is another than before. What somebody has selected elsewhere stays selected. */
  async #follow(): Promise<void> {
    const { leafId } = this.#shape;
    if (leafId === undefined || leafId === this.#revealed || !this.view.visible) return;
    const item = this.#shape.byId.get(leafId);
    if (item === undefined) return;
    const selected = this.view.selection[0];
    const select = selected === undefined || selected.node.id === this.#revealed;
    this.#revealed = leafId;
    try {
      await this.view.reveal(item, { select, focus: false, expand: false });
    } catch {
      // It was drawn anew meanwhile, which reveals it again if need be.
      if (this.#revealed === leafId && this.#shape.byId.get(leafId) !== item) this.#revealed = undefined;
    }
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }
}

function tooltip({ node, first, kind: what }: Item): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  const name = what === "branch" ? `A branch, from ${first.id} to ${node.id}` : `${kind(node)} ${node.id}`;
  text.appendText(`${name}\n\n${line(node.preview)}\n\n${node.timestamp}`);
  return text;
}
