// How things are called.

import type { ExplainedEntry } from "../../typescript/src/index.ts";
import type { Node } from "./tree/model.ts";

const KINDS: Record<string, string> = {
  branch_summary: "summary",
  context_edit: "edit",
  custom_message: "custom",
  model_change: "model set",
  thinking_level_change: "thinking",
  session_info: "name",
};

const ROLES: Record<string, string> = {
  assistant: "model",
  toolResult: "result",
  bashExecution: "command",
  branchSummary: "summary",
  compactionSummary: "compaction",
};

export function kindOf({ type, role }: { type: string; role?: string | undefined }): string {
  if (type === "message") return ROLES[role ?? ""] ?? role ?? "message";
  return KINDS[type] ?? type.replaceAll("_", " ");
}

/** Which colour it has. */
export function toneOf(node: Node): string {
  if (node.type === "message") return node.role ?? "other";
  if (node.type === "compaction" || node.type === "branch_summary" || node.type === "custom_message") return node.type;
  return "setting";
}

const REASONS: Record<string, string> = {
  asStored: "The model is sent it as it is.",
  edited: "The model is sent what an edit put in its place.",
  summary: "The model is sent it as a summary.",
  neverEnters: "Entries of this kind are never sent.",
  emptySummary: "The summary is empty, and is not sent.",
  excluded: "This output was kept out of the context.",
  unknownRole: "The role is unknown, and is not sent.",
  sameIdLater: "A later entry has the same id.",
  damagedLine: "The line can't be read.",
  noLeaf: "The leaf is before the first entry.",
  otherBranch: "It is on another branch.",
  afterLeaf: "It comes after the leaf.",
  orphaned: "The entries that it hangs under are missing from the file.",
  loop: "Its parents form a loop.",
  pathCut: "The path is cut above it.",
  compacted: "A compaction stands for it.",
  olderCompaction: "A newer compaction came after it.",
  foldedSystem: "A system message that the compaction carries on.",
  droppedSystem: "A system message that the compaction doesn't carry on.",
  omitted: "It was left out by an edit.",
  setting: "It sets the model or the thinking level, and is not sent itself.",
  overridden: "It set something that was set anew later.",
  edit: "It changes what another entry contributes.",
  editsNothing: "It changes an entry that contributes nothing.",
};

export function reasonOf(entry: ExplainedEntry | undefined): string {
  if (entry === undefined) return "";
  return REASONS[entry.reason] ?? entry.reason;
}

const number = new Intl.NumberFormat("en");
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function count(value: number, one: string, many = `${one}s`): string {
  return `${number.format(value)} ${value === 1 ? one : many}`;
}

export const tokens = (value: number): string => (value < 10_000 ? number.format(value) : compact.format(value).toLowerCase());

/** "12:03" today, else "3 Nov", with the year where that isn't this one. */
export function when(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return "";
  const now = new Date();
  if (time.toDateString() === now.toDateString()) {
    return time.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  }
  const year = time.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const };
  return time.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...year });
}

/** A text as it can be shown: what would turn the order of letters around, or isn't to be seen, is written out. */
export function shown(text: string): string {
  return text.replaceAll(UNSEEN, (letter) => {
    const code = letter.codePointAt(0)!;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

const UNSEEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** What a row says of an entry: of what is Markdown, without its marks. */
export function rowText({ type, role, preview }: { type: string; role?: string | undefined; preview: string }): string {
  const written = type !== "message" || role === "user" || role === "assistant";
  return (written ? plain(preview) : shown(preview)) || "—";
}

/** One line of Markdown without its marks. */
export function plain(line: string): string {
  return shown(line).replaceAll(/(^|\s)#{1,6}\s+/g, "$1").replaceAll(/\*\*|__|`+/g, "");
}
