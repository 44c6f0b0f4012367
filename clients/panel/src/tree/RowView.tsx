// One row of the tree. All that comes from the session is text.

import { memo } from "preact/compat";
import type { ExplainedEntry } from "../../../typescript/src/index.ts";
import { count, kindOf, reasonOf, rowText, shown, toneOf, when } from "../words.ts";
import { Graph, ROW } from "./Graph.tsx";
import type { Row } from "./rows.ts";

export interface RowProps {
  readonly row: Row;
  readonly index: number;
  readonly rows: number;
  readonly step: number;
  readonly width: number;
  readonly selected: boolean;
  readonly marked: boolean;
  readonly leaf: boolean;
  readonly movedBy: string | null;
  readonly fresh: boolean;
  readonly goesOn: boolean;
  readonly covered: boolean;
  readonly known: boolean;
  readonly reason: ExplainedEntry | undefined;
}

export const RowView = memo(function RowView(props: RowProps) {
  const { row, index, rows, selected, leaf } = props;
  const node = row.kind === "cover" ? row.compaction : row.place.node;
  const lit = row.kind === "node" && (props.reason?.inContext ?? (!props.known && row.place.onPath));
  const foldable = row.kind === "cover" || row.foldable;
  const names = ["row", row.kind];
  if (lit) names.push("lit");
  if (row.place.onPath) names.push("path");
  if (selected) names.push("selected");
  if (leaf) names.push("leaf");
  if (props.marked) names.push("marked");
  if (props.fresh) names.push("fresh");
  return (
    <div
      class={names.join(" ")}
      role="treeitem"
      id={`row-${row.key.replaceAll(" ", "-")}`}
      data-key={row.key}
      style={{ transform: `translateY(${index * ROW}px)` }}
      aria-level={row.level}
      aria-posinset={index + 1}
      aria-setsize={rows}
      aria-selected={selected}
      aria-current={leaf ? "location" : undefined}
      aria-expanded={foldable ? !row.folded : undefined}
      tabIndex={selected ? 0 : -1}
      title={row.kind === "node" ? reasonOf(props.reason) : "What the summary of a compaction stands for"}
    >
      <Graph
        place={row.place}
        step={props.step}
        width={props.width}
        shape={row.kind === "cover" ? "cover" : shapeOf(row)}
        tone={toneOf(node)}
        leaf={leaf}
        goesOn={props.goesOn}
        covered={props.covered}
      />
      <span class="twist" data-twist={foldable ? "" : undefined} aria-hidden="true">
        {foldable ? (row.folded ? "▸" : "▾") : ""}
      </span>
      {row.kind === "cover" ? (
        <span class="text">
          {count(row.covered, "entry", "entries")} {row.folded ? "folded away" : "stood for"} by a compaction
          {row.beside > 0 && `, and ${row.beside} beside them`}
        </span>
      ) : (
        <>
          <span class={`kind ${toneOf(node)}`}>{shown(kindOf(node))}</span>
          <span class="text">{rowText(node)}</span>
          {node.label !== undefined && <span class="chip label">{shown(node.label)}</span>}
          {row.hidden > 0 && row.folded && <span class="chip more">+{row.hidden}</span>}
          {row.place.children > 1 && <span class="chip branches">{row.place.children} branches</span>}
          {leaf && <span class="chip here">{props.movedBy === null ? "leaf" : `leaf · ${shown(props.movedBy)}`}</span>}
          {!lit && props.known && <span class="hidden">not in the context: {reasonOf(props.reason)}</span>}
          <time class="time">{when(node.timestamp)}</time>
        </>
      )}
    </div>
  );
});

function shapeOf(row: Row): "dot" | "turn" | "bar" {
  const { node, head } = row.place;
  if (node.type === "compaction" || node.type === "branch_summary") return "bar";
  return head === node.id ? "turn" : "dot";
}
