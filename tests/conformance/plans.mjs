// What the reference would compact and summarize: node plans.mjs PACKAGE QUESTIONS, a file with one line of JSON for
// each session: {file, leaves, settings: [[reserve, keep]...], moves: [[from, to]...], budgets}. Entries are numbered
// in file order. One line of JSON an answer; messages are numbered in `values`, lists of them in `lists`.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [root, questions] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(root, "dist", name)).href);
const { SessionManager } = await load("core/session-manager.js");
const { prepareCompaction } = await load("core/compaction/compaction.js");
const { collectEntriesForBranchSummary, prepareBranchEntries } = await load("core/compaction/branch-summarization.js");
const { computeFileLists, serializeConversation } = await load("core/compaction/utils.js");
const { convertToLlm } = await load("core/messages.js");

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "pi-daemon-plans-"));

function numbering() {
  const values = [];
  const numbers = new Map();
  const number = (value) => {
    const text = JSON.stringify(value);
    if (!numbers.has(text)) numbers.set(text, values.push(value) - 1);
    return numbers.get(text);
  };
  return { values, number };
}

function answer({ file, leaves, settings, moves, budgets }) {
  const copy = path.join(scratch, "session.jsonl"); // opening may write to it
  fs.copyFileSync(file, copy);
  const manager = SessionManager.open(copy);
  const entries = manager.getEntries();
  const places = new Map(entries.map((entry, place) => [entry.id, place]));
  const messages = numbering();
  const lists = numbering();
  const known = new Map();
  const number = (message) => {
    if (!known.has(message)) known.set(message, messages.number(message));
    return known.get(message);
  };
  const list = (found) => lists.number(found.map(number));
  const tried = (make) => {
    try {
      return make() ?? null;
    } catch (error) {
      return { error: String(error) };
    }
  };
  const plan = (branch, [reserveTokens, keepRecentTokens]) => {
    const found = prepareCompaction(branch, { enabled: true, reserveTokens, keepRecentTokens });
    return found && {
      firstKept: places.get(found.firstKeptEntryId),
      history: list(found.messagesToSummarize),
      prefix: list(found.turnPrefixMessages),
      split: found.isSplitTurn,
      tokens: found.tokensBefore,
      previous: found.previousSummary ?? null,
      files: computeFileLists(found.fileOps),
    };
  };
  const left = ([from, to]) => {
    const found = collectEntriesForBranchSummary(manager, entries[from].id, to === null ? null : entries[to].id);
    return {
      entries: found.entries.map((entry) => places.get(entry.id)),
      chosen: budgets.map((budget) =>
        tried(() => {
          const prepared = prepareBranchEntries(found.entries, budget);
          return { messages: list(prepared.messages), tokens: prepared.totalTokens, files: computeFileLists(prepared.fileOps) };
        }),
      ),
    };
  };
  const result = {
    entries: entries.length,
    plans: leaves.map((leaf) => {
      const branch = manager.getBranch(entries[leaf].id);
      return settings.map((setting) => tried(() => plan(branch, setting)));
    }),
    moves: moves.map((move) => tried(() => left(move))),
  };
  return { ...result, values: messages.values, lists: lists.values, texts: messages.values.map((value) => tried(() => serializeConversation(convertToLlm([value])))) };
}

for (const line of fs.readFileSync(questions, "utf8").split("\n")) {
  if (line) fs.writeSync(1, JSON.stringify(answer(JSON.parse(line))) + "\n");
}
fs.rmSync(scratch, { recursive: true });
