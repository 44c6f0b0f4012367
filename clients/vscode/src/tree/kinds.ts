// What entries are called, and how they are drawn. Pure.

import type { TreeNode } from "../../../typescript/src/protocol.ts";

const KINDS: Readonly<Record<string, readonly [name: string, icon: string]>> = {
  user: ["user", "account"],
  assistant: ["model", "sparkle"],
  toolResult: ["tool", "tools"],
  bashExecution: ["shell", "terminal"],
  system: ["system", "gear"],
  custom: ["note", "note"],
  custom_message: ["note", "note"],
  branch_summary: ["summary of a branch", "git-merge"],
  branchSummary: ["summary of a branch", "git-merge"],
  compaction: ["compaction", "fold"],
  compactionSummary: ["compaction", "fold"],
  context_edit: ["edit of the context", "eye-closed"],
  label: ["label", "tag"],
  session_info: ["name", "edit"],
  model_change: ["model change", "arrow-swap"],
  thinking_level_change: ["thinking level", "lightbulb"],
  usage: ["usage", "graph"],
};

type Kinded = Pick<TreeNode, "type" | "role">;

export function kind(node: Kinded): string {
  return KINDS[node.role ?? node.type]?.[0] ?? node.role ?? node.type;
}

/** The name of one of the editor's own icons. */
export function icon(node: Kinded): string {
  return KINDS[node.role ?? node.type]?.[1] ?? "circle-small";
}

/** Whether the message can be edited anew. */
export function editable(node: Kinded): boolean {
  return node.role === "user" || node.type === "custom_message";
}
