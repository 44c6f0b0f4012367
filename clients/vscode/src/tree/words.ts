// What the view says of an item: pure, so that it can be tested without an editor.

import { ago, counted, line, shortened } from "../text.ts";
import { editable, icon, kind } from "./kinds.ts";
import type { Item, Shape } from "./shape.ts";

export interface Drawn {
  readonly label: string;
  readonly description: string;
  readonly icon: string;
  /** A colour of the editor's theme. */
  readonly color: string | undefined;
  /** For who listens instead of looking. */
  readonly spoken: string;
  /** Words that menus ask for. */
  readonly context: string;
}

const LEAF = "charts.green";
const PATH = "charts.blue";
const ASIDE = "disabledForeground";

export function draw(item: Item, shape: Shape, now: number): Drawn {
  if (item.kind === "stretch") {
    const label = `${counted(item.count, "more entry", "more entries")}`;
    const color = item.node.onPath ? PATH : ASIDE;
    const spoken = `${label}, folded`;
    return { label, description: "folded", icon: "ellipsis", color, spoken, context: "stretch" };
  }
  const { node, first } = item;
  const leaf = item.kind === "entry" && node.id === shape.leafId;
  const words = shortened(line(first.preview), 120) || `(${kind(first)})`;
  const parts: string[] = [];
  if (leaf) parts.push("◆ leaf");
  const label = item.kind === "branch" ? (first.label ?? node.label) : node.label;
  if (label !== undefined) parts.push(`[${shortened(line(label), 40)}]`);
  if (item.kind === "branch") parts.push(counted(item.count, "entry", "entries"));
  else if (node.role !== "user" && node.role !== "assistant") parts.push(kind(node));
  parts.push(ago(item.kind === "branch" ? node.timestamp : first.timestamp, now));
  const state = leaf ? "the leaf" : node.onPath ? "on the active path" : "on another branch";
  const what = item.kind === "branch" ? "branch" : kind(node);
  const context = ["entry", leaf ? "leaf" : "elsewhere"];
  if (item.kind === "entry" && editable(node)) context.push("editable");
  if (item.kind === "branch") context.push("branch");
  return {
    label: words,
    description: parts.filter(Boolean).join(" · "),
    icon: leaf ? "target" : item.kind === "branch" ? "git-branch" : icon(node),
    color: leaf ? LEAF : node.onPath ? PATH : ASIDE,
    spoken: [what, words, label === undefined ? "" : `label ${line(label)}`, state].filter(Boolean).join(", "),
    context: context.join(" "),
  };
}
