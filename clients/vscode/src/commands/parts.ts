// What the commands work with.

import * as vscode from "vscode";
import type { TreeNode } from "../../../typescript/src/protocol.ts";
import type { Catalog } from "../session/catalog.ts";
import type { Chosen } from "../session/chosen.ts";
import type { Followed } from "../session/follow.ts";
import type { Listed } from "../session/view.ts";
import type { Documents } from "../show/virtual.ts";
import { line, said, shortened } from "../text.ts";
import { icon, kind } from "../tree/kinds.ts";
import type { Item } from "../tree/shape.ts";
import type { BranchesView } from "../tree/view.ts";
import type { Asker } from "./tell.ts";

export interface Parts {
  readonly asker: Asker;
  readonly catalog: Catalog;
  readonly chosen: Chosen;
  readonly branches: BranchesView;
  readonly documents: Documents;
}

/** A session, and one of its entries. */
export interface Place {
  readonly session: Followed;
  readonly node: TreeNode;
}

/** What a command is called with: an item of one of the views, or nothing, from the palette. */
export type Given = Item | Listed | undefined;

/** The session of the item, or the one that is shown; where there is none the user chooses one. */
export async function sessionOf(parts: Parts, given: Given): Promise<Followed | undefined> {
  if (given !== undefined && "session" in given) return opened(parts, given.session.sessionId);
  if (parts.chosen.session !== undefined) return parts.chosen.session;
  await vscode.commands.executeCommand("piSessions.choose");
  return parts.chosen.session;
}

/** Opens and shows it. Lines that can't be read are skipped where the user says so. */
export async function opened(parts: Parts, sessionId: string): Promise<Followed | undefined> {
  return parts.asker.ask("open the session", ({ remedy }) =>
    parts.chosen.open({ sessionId, ...(remedy === "skip" && { recover: "skip" as const }) }),
  );
}

/** The entry of the item, or the one that is selected in the tree; from elsewhere the user picks one. */
export async function placeOf(parts: Parts, given: Given, doing: string, fit?: (node: TreeNode) => boolean): Promise<Place | undefined> {
  const session = await sessionOf(parts, given);
  if (session === undefined) return undefined;
  const item = given !== undefined && "node" in given ? given : parts.branches.view.visible ? parts.branches.view.selection[0] : undefined;
  if (item !== undefined && (fit === undefined || fit(item.node))) return { session, node: item.node };
  const found = session.nodes.filter(fit ?? (() => true)).reverse();
  if (found.length === 0) {
    void vscode.window.showInformationMessage(`There is no entry to ${doing}.`);
    return undefined;
  }
  const picks = found.map((node) => ({
    label: `$(${icon(node)}) ${said(node.preview, 100) || kind(node)}`,
    description: [node.id === session.leafId ? "◆ leaf" : "", node.label === undefined ? "" : `[${said(node.label, 40)}]`].filter(Boolean).join(" "),
    node,
  }));
  const picked = await vscode.window.showQuickPick(picks, { placeHolder: `The entry to ${doing}`, matchOnDescription: true });
  return picked && { session, node: picked.node };
}

export function first(node: TreeNode): string {
  return said(shortened(line(node.preview), 40)) || kind(node);
}
