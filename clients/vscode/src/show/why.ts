// Why the model knows an entry, or doesn't: the answers of `session/explain` in sentences. Pure.

import type { ExplainedEntry } from "../../../typescript/src/protocol.ts";
import { line } from "../text.ts";

/** By reason; `<name>` stands for that member of the explanation. */
const SENTENCES: Readonly<Record<ExplainedEntry["reason"], string>> = {
  asStored: "The model sees it as it is stored.",
  edited: "The model sees it with other content: that of the context edit <byId>.",
  summary: "The model sees it as a summary.",
  neverEnters: "The model never sees entries of its kind.",
  emptySummary: "It is a summary without text, which is not sent.",
  excluded: "It is the output of a command that was kept out of the context.",
  unknownRole: "It is a message of a role that isn't known.",
  sameIdLater: "A later line of the file has the same id and counts instead.",
  damagedLine: "Its line (<line>) can't be read.",
  noLeaf: "The leaf is before the first entry.",
  otherBranch: "It lies on another branch, which begins with <branchId> and left the path at <leftAtId>.",
  afterLeaf: "It comes after the leaf, on a branch that begins with <branchId>.",
  orphaned: "Its parents end at <rootId>, whose parent <missingId> isn't in the file.",
  loop: "Its parents run in a loop, which is cut at <rootId>.",
  pathCut: "The path to the leaf is broken at <rootId>, and it isn't below that.",
  compacted: "The compaction <compactionId> covers it.",
  olderCompaction: "It is a compaction, and <compactionId> came after it.",
  foldedSystem: "It is a system message, which the compaction <compactionId> carries on.",
  droppedSystem: "It is a system message that the compaction <compactionId> doesn't carry on.",
  omitted: "It is omitted by the context edit <byId>.",
  setting: "It sets the model or the thinking level, now.",
  overridden: "It set something that <byId> set anew.",
  edit: "It changes what <targetId> contributes.",
  editsNothing: "It is an edit of <targetId>, which contributes nothing that could be changed.",
};

export function why(explained: ExplainedEntry): string[] {
  const sentence: string | undefined = SENTENCES[explained.reason];
  const members = explained as unknown as Readonly<Record<string, unknown>>;
  const filled = (sentence ?? `Reason: ${explained.reason}.`).replace(/<(\w+)>/g, (_, name: string) => {
    const value = members[name];
    return value === undefined || value === null ? "nothing" : line(String(value));
  });
  const found = [explained.inContext ? "In the model's context." : "Not in the model's context.", filled];
  if (explained.summaryId !== undefined) {
    found.push(`The summary ${line(explained.summaryId)} was made of its branch, and is in the context.`);
  }
  const facts = explained.facts;
  if (facts !== undefined) {
    found.push(`The summary that stands for it names ${facts.kept} of its ${facts.asked} facts.`);
    for (const missing of facts.missing) found.push(`It lacks: ${line(missing.text)}`);
  }
  return found;
}
