// The tree of a session as lists: which entries are shown, in which order, and in which lane of the graph. Pure.

export interface Node {
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly role?: string | undefined;
  readonly preview: string;
  readonly timestamp: string;
  label?: string | undefined;
}

/** Kinds that say something about the session, or set something, and are not in the conversation. */
const BESIDE = new Set(["label", "session_info", "usage", "custom", "model_change", "thinking_level_change"]);

/** An entry at its place. The numbers are what the graph draws: see `order`. */
export interface Placed {
  readonly node: Node;
  readonly lane: number;
  /** The entry that it is folded into: the beginning of its turn, or itself. */
  readonly head: string;
  readonly children: number;
  /** The first of a side branch. */
  readonly first: boolean;
  readonly root: boolean;
  readonly onPath: boolean;
  /** Lanes (as bits) through which the active path comes from above and goes on below this row. */
  readonly above: number;
  readonly below: number;
}

export class Tree {
  readonly nodes = new Map<string, Node>();
  readonly ids: string[] = [];

  add(node: Node): void {
    if (!this.nodes.has(node.id)) this.ids.push(node.id);
    this.nodes.set(node.id, node);
  }

  clear(): void {
    this.nodes.clear();
    this.ids.length = 0;
  }

  /** From the root to the entry; empty where it isn't known. */
  path(leafId: string | null): string[] {
    const found: string[] = [];
    const seen = new Set<string>();
    for (let id = leafId; id !== null && !seen.has(id); ) {
      const node = this.nodes.get(id);
      if (node === undefined) break;
      seen.add(id);
      found.push(id);
      id = node.parentId;
    }
    return found.reverse();
  }
}

/** Whether an entry has a row of its own. */
export function isShown(node: Node, all: boolean): boolean {
  if (node.type === "message" && node.role === "assistant" && node.preview === "") return false; // calls alone
  return all || !BESIDE.has(node.type);
}

/** The nearest entry that is shown, itself or above it. */
export function shownAbove(tree: Tree, id: string | null, all: boolean): string | null {
  for (let left = tree.nodes.size; id !== null && left >= 0; left -= 1) {
    const node = tree.nodes.get(id);
    if (node === undefined) return null;
    if (isShown(node, all)) return id;
    id = node.parentId;
  }
  return null;
}

/**
 * All entries that are shown, parents first. Siblings follow each other by time; the last of them goes straight on in the
 * lane of its parent, the others have lanes to the right. So at every row the lanes left of its own pass through.
 */
export function order(tree: Tree, path: ReadonlySet<string>, all: boolean): Placed[] {
  const children = new Map<string | null, Node[]>();
  const above = new Map<string, string | null>();
  for (const id of tree.ids) {
    const node = tree.nodes.get(id)!;
    let parent = node.parentId;
    if (parent !== null && !tree.nodes.has(parent)) parent = null;
    const up = parent === null ? null : (above.get(parent) ?? null);
    if (!isShown(node, all)) {
      above.set(id, up);
      continue;
    }
    above.set(id, id);
    const siblings = children.get(up);
    if (siblings === undefined) children.set(up, [node]);
    else siblings.push(node);
  }
  const placed: Placed[] = [];
  const heads = new Map<string, string>();
  /** `mask`: active lanes left of the own one, for the whole of what hangs below. */
  type Step = { node: Node; lane: number; parent: Node | null; single: boolean; into: number; mask: number };
  const steps: Step[] = [];
  const roots = children.get(null) ?? [];
  for (const node of roots.toReversed()) {
    steps.push({ node, lane: 0, parent: null, single: roots.length === 1, into: 0, mask: 0 });
  }
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const { node, lane, parent, single, into, mask } = step;
    const own = children.get(node.id) ?? [];
    const onPath = path.has(node.id);
    const begins = parent === null || !single || BEGINS.has(node.type) || node.role === "user";
    const head = begins ? node.id : heads.get(parent.id)!;
    heads.set(node.id, head);
    const active = onPath ? own.findIndex((child) => path.has(child.id)) : -1;
    const bit = 1 << Math.min(lane, 30);
    const first = parent !== null && !single && into !== 0;
    placed.push({
      node,
      lane,
      head,
      children: own.length,
      first,
      root: parent === null,
      onPath,
      above: (first ? (step.into & 2 ? mask | (1 << Math.min(lane - 1, 30)) : mask) : mask) | (onPath && !first ? bit : 0),
      below: mask | (active >= 0 ? bit : 0),
    });
    for (let at = own.length - 1; at >= 0; at -= 1) {
      const child = own[at]!;
      const last = at === own.length - 1;
      // Beside a side branch the parent's lane is active as long as the path goes on to a later child.
      const beside = !last && active > at ? bit : 0;
      const reached = !last && active >= at ? 2 : 0;
      steps.push({
        node: child,
        lane: last ? lane : lane + 1,
        parent: node,
        single: own.length === 1,
        into: last ? 0 : 1 | reached,
        mask: mask | beside,
      });
    }
  }
  return placed;
}

const BEGINS = new Set(["compaction", "branch_summary"]);
