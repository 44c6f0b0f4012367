// What the reference makes of session files: node ask.mjs PACKAGE FILE...
// One line of JSON a file. Messages are numbered in `values`, for leaves share most of theirs.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [root, ...files] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(path.join(root, "dist", name)).href);
const { SessionManager, buildSessionProjection } = await load("core/session-manager.js");
const { estimateProjectedContextTokens } = await load("core/compaction/compaction.js");
const { convertToLlm } = await load("core/messages.js");
const { TreeSelectorComponent } = await load("modes/interactive/components/tree-selector.js");
const { initTheme } = await load("modes/interactive/theme/theme.js");
const { AgentSession } = await load("core/agent-session.js");
initTheme("dark");

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "pi-daemon-ask-"));
const FILTERS = { default: "default", noTools: "no-tools", userOnly: "user-only", labeledOnly: "labeled-only", all: "all" };

function ask(file) {
  const copy = path.join(scratch, "session.jsonl"); // opening may write to it
  fs.copyFileSync(file, copy);
  const manager = SessionManager.open(copy);
  const entries = manager.getEntries();
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const values = [];
  const numbers = new Map();
  const number = (value) => {
    const text = JSON.stringify(value);
    if (!numbers.has(text)) numbers.set(text, values.push(value) - 1);
    return numbers.get(text);
  };
  const tree = manager.getTree();
  const children = {};
  const waiting = [...tree];
  while (waiting.length) {
    const node = waiting.pop();
    if (node.children.length) children[node.entry.id] = node.children.map((child) => child.entry.id);
    waiting.push(...node.children);
  }
  const at = (leaf) => {
    const projection = buildSessionProjection(entries, leaf, byId);
    const branch = manager.getBranch(leaf);
    return {
      path: branch.map((entry) => entry.id),
      messages: projection.messages.map(number),
      llm: convertToLlm(projection.messages).map(number),
      sources: projection.entries.flatMap((entry) => entry.messages.map(() => entry.sourceEntry.id)),
      model: projection.model,
      thinkingLevel: projection.thinkingLevel,
      tokens: estimateProjectedContextTokens(projection, branch).tokens,
    };
  };
  const shown = (filter) => {
    const list = new TreeSelectorComponent(tree, manager.getLeafId(), 20, () => {}, () => {}, () => {}, undefined, filter).getTreeList();
    return Object.fromEntries(list.filteredNodes.map(({ node }) => [node.entry.id, list.visibleParentMap.get(node.entry.id)]));
  };
  const leaves = entries.map((entry) => entry.id).filter((id) => !children[id]);
  const answer = {
    id: manager.getSessionId(),
    cwd: manager.getCwd(),
    name: manager.getSessionName() ?? null,
    entries: entries.map((entry) => entry.id),
    leaf: manager.getLeafId(),
    labels: Object.fromEntries(entries.filter((entry) => manager.getLabel(entry.id)).map((entry) => [entry.id, manager.getLabel(entry.id)])),
    roots: tree.map((node) => node.entry.id),
    children,
    at: Object.fromEntries(leaves.map((leaf) => [leaf, at(leaf)])),
    shown: Object.fromEntries(Object.entries(FILTERS).map(([ours, theirs]) => [ours, shown(theirs)])),
    stats: counted(manager),
    values,
  };
  // The folded system message is what the reference writes into a compaction; the fork replaces the manager's session.
  answer.fork = forked(manager, leaves[Math.floor(leaves.length / 2)]);
  return answer;
}

function counted(manager) {
  try {
    return AgentSession.prototype.getSessionStats.call({ sessionManager: manager, getContextUsage() {} });
  } catch {
    return null; // an answer without usage is too much for it
  }
}

function forked(manager, leaf) {
  manager.createBranchedSession(leaf);
  const entries = manager.getEntries();
  manager.appendCompaction("s", undefined, 1);
  return { leaf, entries, system: manager.getLeafEntry().systemMessage ?? null };
}

for (const file of files) {
  let answer;
  try {
    answer = ask(file);
  } catch (error) {
    answer = { error: String(error?.stack ?? error) };
  }
  fs.writeSync(1, JSON.stringify(answer) + "\n");
}
fs.rmSync(scratch, { recursive: true });
