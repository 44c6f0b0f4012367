// A session's tree as items of a view. A line of entries stays one list, however long: turns hold their answers, and side
// branches hang in an item of their own behind the entry that they leave from. Pure.

import type { TreeNode } from "../../../typescript/src/protocol.ts";

export interface Item {
  /** Stays the same over readings, so that the view knows what was opened. */
  readonly key: string;
  /** `stretch`: entries that the daemon folded into `node`, which follows. */
  readonly kind: "branch" | "entry" | "stretch";
  /** The entry; of a branch its last one, where one goes on with it. */
  readonly node: TreeNode;
  /** Of a branch, the first entry. */
  readonly first: TreeNode;
  readonly parent: Item | undefined;
  readonly children: Item[];
  /** Entries in a branch, or folded into a stretch. */
  readonly count: number;
}

export interface Shape {
  readonly roots: Item[];
  /** By the entry's id; where an entry isn't shown by itself, the item that stands for it. */
  readonly byId: ReadonlyMap<string, Item>;
  /** The entry that is drawn as the leaf: where a filter hides that, its nearest ancestor that shows. */
  readonly leafId: string | undefined;
}

/** What begins a turn; the entries after it are told of under it. */
const HEADS = new Set(["user", "compaction", "branch_summary", "custom_message", "bashExecution"]);

export function shape(nodes: readonly TreeNode[], leafId: string | null): Shape {
  const { children, roots, sizes } = related(nodes);
  const made: Item[] = [];
  const byId = new Map<string, Item>();

  interface Line {
    readonly start: number;
    readonly into: Item[];
    readonly parent: Item | undefined;
  }
  const waiting: Line[] = [];

  /** A side branch as an item of `into`; its entries come later. */
  function branch(start: number, into: Item[], parent: Item | undefined): void {
    let tip = start;
    for (let next = mainChild(nodes, sizes, children[tip]!); next !== undefined; ) {
      tip = next;
      next = mainChild(nodes, sizes, children[tip]!);
    }
    const first = nodes[start]!;
    const item: Item = {
      key: `b:${first.id}`,
      kind: "branch",
      node: nodes[tip]!,
      first,
      parent,
      children: [],
      count: sizes[start]!,
    };
    into.push(item);
    waiting.push({ start, into: item.children, parent: item });
  }

  const main = mainChild(nodes, sizes, roots);
  for (const root of roots) if (root !== main) branch(root, made, undefined);
  if (main !== undefined) waiting.push({ start: main, into: made, parent: undefined });

  for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
    let turn: Item | undefined;
    for (let at: number | undefined = line.start; at !== undefined; ) {
      const node = nodes[at]!;
      const heads = HEADS.has(node.role ?? node.type);
      if (heads) turn = undefined;
      const into = turn?.children ?? line.into;
      const parent = turn ?? line.parent;
      if ((node.run ?? 1) > 1) {
        const count = node.run! - 1;
        into.push({ key: `s:${node.id}`, kind: "stretch", node, first: node, parent, children: [], count });
      }
      const item: Item = { key: `e:${node.id}`, kind: "entry", node, first: node, parent, children: [], count: 1 };
      into.push(item);
      byId.set(node.id, item);
      if (heads) turn = item;
      const below: readonly number[] = children[at]!;
      const next: number | undefined = mainChild(nodes, sizes, below);
      // Where the turn goes on, its side branches lie within it; else behind it, so that they show while it is closed.
      const within = next !== undefined && !HEADS.has(nodes[next]!.role ?? nodes[next]!.type);
      for (const child of below) {
        if (child === next) continue;
        if (within) branch(child, turn?.children ?? line.into, turn ?? line.parent);
        else branch(child, line.into, line.parent);
      }
      at = next;
    }
  }
  return { roots: made, byId, leafId: shownLeaf(nodes, leafId) };
}

/** The label of the leaf, or the nearest one above it. */
export function branchLabel(nodes: readonly TreeNode[]): string | undefined {
  return nodes.findLast((node) => node.onPath && node.label !== undefined)?.label;
}

function related(nodes: readonly TreeNode[]): { children: number[][]; roots: number[]; sizes: number[] } {
  const places = new Map(nodes.map((node, place) => [node.id, place]));
  const children: number[][] = nodes.map(() => []);
  const roots: number[] = [];
  nodes.forEach((node, place) => {
    const parent = node.parentId === null ? undefined : places.get(node.parentId);
    // Parents come before their children; what says otherwise is a root, so that nothing runs in a circle.
    if (parent === undefined || parent >= place) roots.push(place);
    else children[parent]!.push(place);
  });
  const sizes = nodes.map((node) => node.run ?? 1);
  for (let place = nodes.length - 1; place >= 0; place -= 1) {
    for (const child of children[place]!) sizes[place]! += sizes[child]!;
  }
  return { children, roots, sizes };
}

/** The child that goes on straight: that of the active path, elsewhere the largest, and of those the newest. */
function mainChild(nodes: readonly TreeNode[], sizes: readonly number[], of: readonly number[]): number | undefined {
  let best: number | undefined;
  for (const child of of) {
    const better =
      best === undefined ||
      (nodes[child]!.onPath && !nodes[best]!.onPath) ||
      (nodes[child]!.onPath === nodes[best]!.onPath && sizes[child]! >= sizes[best]!);
    if (better) best = child;
  }
  return best;
}

function shownLeaf(nodes: readonly TreeNode[], leafId: string | null): string | undefined {
  if (leafId === null) return undefined;
  let last: string | undefined;
  for (const node of nodes) {
    if (node.id === leafId) return leafId;
    if (node.onPath) last = node.id;
  }
  return last;
}
