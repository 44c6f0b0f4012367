// What of the ordered tree is a row: turns that are folded are one, and so is what a compaction stands for. Pure.

import type { Node, Placed } from "./model.ts";

export interface NodeRow {
  readonly kind: "node";
  readonly key: string;
  readonly place: Placed;
  /** Begins a turn that has more than itself. */
  readonly foldable: boolean;
  readonly folded: boolean;
  /** How many entries of the turn are not shown. */
  readonly hidden: number;
  readonly level: number;
}

/** Stands before what a compaction on the active path covers, or in its place. */
export interface CoverRow {
  readonly kind: "cover";
  readonly key: string;
  readonly compaction: Node;
  readonly place: Placed;
  readonly folded: boolean;
  /** Entries of the path that the summary stands for, and others that lie between them. */
  readonly covered: number;
  readonly beside: number;
  readonly level: number;
}

export type Row = NodeRow | CoverRow;

export interface Folding {
  /** Of turns that nobody has folded or unfolded. */
  readonly folded: boolean;
  /** By head, or by the key of the cover: what somebody has chosen. */
  readonly chosen: ReadonlyMap<string, boolean>;
}

export interface Cover {
  readonly compactionId: string;
  /** null: it keeps nothing of what is before it. */
  readonly firstKept: string | null;
}

/** `leaf`: the row that bears the leaf, which is never folded away within its turn. */
export function rowsOf(placed: readonly Placed[], leaf: string | null, covers: readonly Cover[], folding: Folding): Row[] {
  const at = new Map(placed.map(({ node }, index) => [node.id, index]));
  const ends = coverEnds(placed, covers, at);
  const sizes = new Map<string, number>();
  for (const { head } of placed) sizes.set(head, (sizes.get(head) ?? 0) + 1);
  const rows: Row[] = [];
  const hidden = new Map<string, number>();
  let begun = 0;
  for (let index = 0; index < placed.length; index += 1) {
    while (begun < ends.length && index === ends[begun]!.start) {
      const { end, compaction } = ends[begun]!;
      begun += 1;
      const folded = folding.chosen.get(coverKey(compaction.id)) ?? true;
      rows.push(coverRow(placed, index, end, compaction, folded));
      if (!folded) continue;
      index = end;
      while (begun < ends.length && ends[begun]!.start < end) begun += 1;
    }
    const place = placed[index];
    if (place === undefined) break;
    const { node, head, lane } = place;
    const size = sizes.get(head)!;
    const folded = size > 1 && isFolded(folding, head);
    if (head !== node.id && folded && node.id !== leaf && node.label === undefined) {
      hidden.set(head, (hidden.get(head) ?? 0) + 1);
      continue;
    }
    const begins = head === node.id;
    const level = lane + (begins ? 1 : 2);
    rows.push({ kind: "node", key: node.id, place, foldable: begins && size > 1, folded, hidden: 0, level });
  }
  return rows.map((row) => (row.kind === "node" && row.foldable ? { ...row, hidden: hidden.get(row.key) ?? 0 } : row));
}

/** The row's key: the compaction itself has another one. */
export function coverKey(compactionId: string): string {
  return `cover ${compactionId}`;
}

export function isFolded(folding: Folding, head: string): boolean {
  return folding.chosen.get(head) ?? folding.folded;
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly compaction: Node;
}

/** Where each cover begins and ends; the longest first where several begin at the same row. */
function coverEnds(placed: readonly Placed[], covers: readonly Cover[], at: ReadonlyMap<string, number>): Range[] {
  const start = placed.findIndex(({ onPath }) => onPath);
  const found: Range[] = [];
  for (const { compactionId, firstKept } of covers) {
    const own = at.get(compactionId);
    if (own === undefined || start < 0) continue;
    const end = (firstKept === null ? own : at.get(firstKept)) ?? own;
    if (end > start) found.push({ start, end, compaction: placed[own]!.node });
  }
  return found.sort((one, other) => other.end - one.end);
}

function coverRow(placed: readonly Placed[], start: number, end: number, compaction: Node, folded: boolean): CoverRow {
  let covered = 0;
  for (let index = start; index < end; index += 1) if (placed[index]!.onPath) covered += 1;
  const place = { ...placed[start]!, first: false };
  const beside = end - start - covered;
  return { kind: "cover", key: coverKey(compaction.id), compaction, place, folded, covered, beside, level: place.lane + 1 };
}
