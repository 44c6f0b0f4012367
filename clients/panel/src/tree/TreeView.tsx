// The tree: rows that can be scrolled, chosen and folded with mouse and keyboard. What comes meanwhile moves nothing that
// the user looks at, unless the end is in view: then it follows.

import { useLayoutEffect, useRef } from "preact/hooks";
import { useVirtual } from "../parts/virtual.ts";
import { ACTIONS } from "../state/actions.ts";
import type { Panel } from "../state/panel.ts";
import type { Session } from "../state/session.ts";
import { ROW, spacing } from "./Graph.tsx";
import type { Node } from "./model.ts";
import { RowView } from "./RowView.tsx";
import type { Row } from "./rows.ts";

const PAGE = 12;

export function TreeView({ panel, session }: { panel: Panel; session: Session }) {
  const rows = session.rows.value;
  const selectedKey = session.selected.value;
  const selected = rows.findIndex((row) => row.key === selectedKey);
  const { virtualizer, scroller } = useVirtual(rows.length, ROW, selected);
  const place = useRef({ key: "", offset: 0, atEnd: true, rows, selectedKey: null as string | null, focus: false });

  useLayoutEffect(() => keepPlace(), [rows]);
  useLayoutEffect(() => {
    const known = place.current;
    if (known.selectedKey === selectedKey || selected < 0) return;
    const moved = known.selectedKey !== null;
    known.selectedKey = selectedKey;
    if (!moved) {
      known.atEnd = selected >= rows.length - 2;
      if (!known.atEnd) virtualizer.scrollToIndex(selected, { align: "center" });
    } else virtualizer.scrollToIndex(selected, { align: "auto" });
  }, [selectedKey, selected]);
  useLayoutEffect(() => {
    if (!place.current.focus) return;
    place.current.focus = false;
    rowElement(selectedKey)?.focus({ preventScroll: true });
  });

  function rowElement(key: string | null): HTMLElement | null {
    for (const row of scroller.current?.querySelectorAll<HTMLElement>(".row") ?? []) if (row.dataset["key"] === key) return row;
    return null;
  }

  /** What was the first row in view is where it was; at the end, the end is in view again. */
  function keepPlace(): void {
    const known = place.current;
    const element = scroller.current;
    if (element === null) return;
    if (known.atEnd) {
      element.scrollTop = rows.length * ROW;
    } else if (known.rows !== rows) {
      let at = rows.findIndex((row) => row.key === known.key);
      for (let former = known.rows.findIndex((row) => row.key === known.key) - 1; at < 0 && former >= 0; former -= 1) {
        at = rows.findIndex((row) => row.key === known.rows[former]!.key); // folded away: what stood before it
      }
      if (at >= 0) element.scrollTop = at * ROW + known.offset;
    }
    known.rows = rows;
  }

  function scrolled(): void {
    const element = scroller.current!;
    const top = Math.floor(element.scrollTop / ROW);
    const atEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - ROW;
    Object.assign(place.current, { key: rows[top]?.key ?? "", offset: element.scrollTop - top * ROW, atEnd });
  }

  function choose(index: number, focus = true): void {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    place.current.focus = focus;
    if (row.key === session.selected.value) rowElement(row.key)?.focus({ preventScroll: true });
    session.selected.value = row.key;
  }

  function fold(row: Row, folded: boolean): void {
    place.current.focus = true;
    session.choose(row.key, folded);
  }

  function parentOf(index: number): number {
    const own = rows[index]!;
    for (let at = index - 1; at >= 0; at -= 1) if (rows[at]!.level < own.level) return at;
    return index;
  }

  function pressed(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = Math.max(0, selected);
    const row = rows[at];
    if (row === undefined) return;
    const foldable = row.kind === "cover" || row.foldable;
    const keys: Record<string, () => void> = {
      ArrowDown: () => choose(at + 1),
      ArrowUp: () => choose(at - 1),
      j: () => choose(at + 1),
      k: () => choose(at - 1),
      PageDown: () => choose(at + PAGE),
      PageUp: () => choose(at - PAGE),
      Home: () => choose(0),
      End: () => choose(rows.length - 1),
      ArrowRight: () => (foldable && row.folded ? fold(row, false) : choose(at + 1)),
      ArrowLeft: () => (foldable && !row.folded ? fold(row, true) : choose(parentOf(at))),
      " ": () => foldable && fold(row, !row.folded),
      "[": () => choose(nextBranch(at, -1)),
      "]": () => choose(nextBranch(at, 1)),
      "*": () => session.foldAll(false),
      "-": () => session.foldAll(true),
      g: () => goToLeaf(),
      Enter: () => (panel.pane.value = "entry"),
      ".": () => (session.all.value = !session.all.value),
    };
    const node = row.kind === "node" ? row.place.node : row.compaction;
    const action = ACTIONS.find(({ key, fits }) => key === event.key && (fits === undefined || fits(node)));
    const work = keys[event.key] ?? (action && (() => void action.run(panel, session, node)));
    if (work === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    work();
  }

  function nextBranch(from: number, by: number): number {
    for (let at = from + by; at >= 0 && at < rows.length; at += by) {
      const row = rows[at]!;
      if (row.place.children > 1 || row.place.first || row.key === session.leafRow.value) return at;
    }
    return from;
  }

  function goToLeaf(): void {
    const leaf = session.leafRow.value;
    if (leaf === null) return;
    place.current.focus = true;
    session.reveal(leaf);
  }

  function clicked(event: MouseEvent): void {
    const target = event.target as Element;
    const key = target.closest<HTMLElement>(".row")?.dataset["key"];
    const index = rows.findIndex((row) => row.key === key);
    const row = rows[index];
    if (row === undefined) return;
    choose(index);
    if (target.closest("[data-twist]") || row.kind === "cover") fold(row, !row.folded);
  }

  const element = scroller.current;
  const room = Math.min(220, (element?.clientWidth ?? 600) * 0.3);
  const lanes = rows.reduce((most, row) => Math.max(most, row.place.lane), 0);
  const step = spacing(lanes, room);
  const width = Math.ceil(18 + Math.min(lanes * step, room));
  const reasons = session.reasons.value;
  const leaf = session.leafRow.value;
  const coverStarts = rows.findIndex((row) => row.kind === "cover" && !row.folded);
  const cover = rows[coverStarts];
  const kept = cover?.kind === "cover" ? session.activeCovers.value.find((one) => one.compactionId === cover.compaction.id) : undefined;
  const keptAt = kept === undefined ? -1 : rows.findIndex((row) => row.key === (kept.firstKept ?? kept.compactionId));
  const leafAt = rows.findIndex((row) => row.key === leaf);
  const range = virtualizer.range;
  const below = range !== null && leafAt > range.endIndex;
  const away = range !== null && leafAt >= 0 && (below || leafAt < range.startIndex);
  return (
    <div class="tree-frame">
    <div
      class="tree"
      role="tree"
      aria-label="Entries and branches"
      ref={(found) => void (scroller.current = found)}
      onScroll={scrolled}
      onKeyDown={pressed}
      onClick={clicked}
      onDblClick={() => (panel.pane.value = "entry")}
      tabIndex={selected < 0 ? 0 : -1}
    >
      <div class="rows" role="presentation" style={{ height: `${rows.length * ROW}px` }}>
        {virtualizer.getVirtualItems().map(({ index }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <RowView
              key={row.key}
              row={row}
              index={index}
              rows={rows.length}
              step={step}
              width={width}
              selected={index === selected}
              marked={row.key === session.marked.value}
              leaf={row.kind === "node" && row.key === leaf}
              movedBy={row.key === leaf ? session.movedBy.value : null}
              fresh={session.fresh.has(row.key)}
              goesOn={goesOn(row, rows[index + 1])}
              covered={coverStarts >= 0 && index >= coverStarts && index < keptAt && row.place.onPath}
              known={reasons.size > 0 && (reasons.has(row.key) || row.kind === "cover")}
              reason={reasons.get(row.key)}
            />
          );
        })}
      </div>
    </div>
      {away && (
        <button type="button" class="to-leaf" title="Go to the leaf (g)" onClick={goToLeaf}>
          {below ? "↓ leaf" : "↑ leaf"}
        </button>
      )}
    </div>
  );
}

/** Whether the row's own lane goes on below it: to a child that may be folded into it. */
function goesOn(row: Row, next: Row | undefined): boolean {
  if (next === undefined) return false;
  if (row.kind === "cover" || row.place.children > 0) return next.place.lane >= row.place.lane;
  return false;
}

export function nodeOf(session: Session): Node | undefined {
  const key = session.selected.value;
  if (key === null) return undefined;
  return session.tree.nodes.get(key.startsWith("cover ") ? key.slice(6) : key);
}
