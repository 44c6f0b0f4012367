// Random sessions, written by the reference: node generate.mjs PACKAGE DIRECTORY SEED...
// DIRECTORY/SEED.jsonl holds every kind of entry, branches, and what real sessions have that is odd.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [root, directory, ...seeds] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(path.join(root, "dist/core/session-manager.js")).href);

const RealDate = Date;
let now = 0;
globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length ? given : [now]));
  }
  static now() {
    return now;
  }
};

const WORDS = ["parser", "naïve", "修复", "🚀", "src/app.py", "TypeError:", "\u2028", '"quoted"', "back\\slash", "tab\there", "line\nend", "\u0000", "\ud83d", "x\udc00y", "</summary>", "`tick`", "\u007f", "e\u0301"];
const TOOLS = ["read", "write", "edit", "bash", "odd"];
const NUMBERS = [0, -0, 1.5, 1e21, 1e-7, 123456789012345680000, Number.MAX_VALUE, 5e-324, -1e300, 0.1, 100];

function session(seed) {
  let state = seed >>> 0;
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n) => Math.floor(random() * n);
  const one = (list) => list[below(list.length)];
  const chance = (p) => random() < p;
  const maybe = (p, make) => (chance(p) ? make() : undefined);
  const words = (n) => Array.from({ length: below(n + 1) }, () => one(WORDS)).join(" ");
  const time = () => now + below(1000);
  const text = (n) => ({ type: "text", text: words(n) });
  const image = () => ({ type: "image", data: "aGk=", mimeType: "image/png" });
  const blocks = (n) => [text(n), ...(chance(0.15) ? [image()] : []), ...(chance(0.1) ? [text(3)] : [])];
  const content = (n) => (chance(0.4) ? words(n) : blocks(n));
  const json = (depth) => {
    const kind = below(depth > 0 ? 7 : 5);
    if (kind === 0) return one(NUMBERS);
    if (kind === 1) return words(4);
    if (kind === 2) return chance(0.5);
    if (kind === 3) return null;
    if (kind === 4) return one(["", "jsonrpc", "type_name"]);
    if (kind === 5) return Array.from({ length: below(4) }, () => json(depth - 1));
    return Object.fromEntries(Array.from({ length: below(4) }, (_, i) => [one(["10", "2", "key", "\ud800k", "jsonrpc", "__proto__x"]) + i, json(depth - 1)]));
  };
  const usage = () => {
    const input = one([0, 10, 5000, 90000]);
    const total = one([input + 10, input + 10, 0, undefined, -5]);
    const usage = { input, output: one([10, 0, -10]), cacheRead: 0, cacheWrite: one([0, 7]), totalTokens: total, cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 } };
    if (chance(0.05)) delete usage.cacheRead;
    return usage;
  };
  const manager = SessionManager.create("/home/someone/project", directory);
  const entries = () => manager.getEntries();
  const message = (value) => manager.appendMessage(value);
  const files = () => ({ readFiles: ["z.py", "a.py"], modifiedFiles: chance(0.5) ? ["b/c.ts"] : [] });
  const nested = () => one([{ calls: [{ name: one(TOOLS), arguments: { path: one(["n.py", "b/c.ts", ""]) } }, { name: "read" }] }, {}, null]);
  const tool = (name) => ({ name, description: words(3), parameters: json(2) });

  const steps = {
    user: () => message({ role: "user", content: chance(0.03) ? null : content(120), timestamp: time() }),
    assistant: (calls = []) =>
      message({
        role: "assistant",
        content: chance(0.03) ? null : [...(chance(0.3) ? [{ type: "thinking", thinking: words(9) }] : []), ...(chance(0.6) ? [{ type: "text", text: one([words(80), "", "  \n"]) }] : []), ...calls],
        api: "api",
        provider: one(["anthropic", "openai"]),
        model: one(["m1", "m2"]),
        usage: usage(),
        stopReason: one(["stop", "toolUse", "aborted", "error", "length", "stop", "stop"]),
        timestamp: time(),
      }),
    calls: () => {
      const calls = Array.from({ length: 1 + below(3) }, (_, i) => ({ type: "toolCall", id: `call_${seed}_${entries().length}_${i}`, name: one(TOOLS), arguments: chance(0.5) ? { path: one(["a.py", "b/c.ts"]) } : json(3) }));
      steps.assistant(calls);
      for (const call of calls) if (chance(0.85)) message({ role: "toolResult", toolCallId: call.id, toolName: call.name, content: chance(0.05) ? undefined : chance(0.02) ? [{ type: "text", text: "long ".repeat(17000) }] : blocks(200), nestedCalls: maybe(0.2, nested), details: maybe(0.3, () => json(2)), isError: chance(0.2), usage: maybe(0.1, usage), timestamp: time() });
    },
    system: () => message({ role: "system", content: chance(0.1) ? null : content(6), sections: maybe(0.7, () => ({ a: chance(0.3) ? null : words(4), [one(["b", "7"])]: chance(0.3) ? null : words(4) })), toolsAdded: maybe(0.5, () => [tool(one(["read", "bash"]))]), toolsRemoved: maybe(0.3, () => [{ name: one(["read", "bash"]) }]), timestamp: time() }),
    shell: () => message({ role: "bashExecution", command: words(5), output: one(["", words(40)]), exitCode: one([0, 2, null, undefined, 137]), cancelled: chance(0.2), truncated: chance(0.3), fullOutputPath: maybe(0.5, () => "/home/someone/output.txt"), excludeFromContext: maybe(0.4, () => chance(0.5)), timestamp: time() }),
    odd: () => message({ role: one(["custom", "branchSummary", "compactionSummary", "laterRole"]), customType: "ext", content: content(9), summary: words(9), display: chance(0.5), timestamp: one([time(), undefined]) }),
    thinking: () => manager.appendThinkingLevelChange(one(["off", "low", "high"])),
    model: () => manager.appendModelChange(one(["anthropic", "openai"]), one(["m1", "m3"])),
    usage: () => manager.appendUsage("cache_warm", "anthropic", "m1", usage(), maybe(0.3, () => words(2))),
    custom: () => manager.appendCustomEntry("ext", maybe(0.8, () => json(3))),
    customMessage: () => manager.appendCustomMessageEntry("ext", chance(0.1) ? null : content(9), chance(0.5), maybe(0.5, () => json(2))),
    label: () => manager.appendLabelChange(one(entries()).id, one([words(2), "L", "", undefined])),
    name: () => manager.appendSessionInfo(one(["a name", "", " \ufeff padded\u3000"])),
    compaction: () => manager.appendCompaction(words(40), one([one(manager.getBranch())?.id, one(manager.getBranch())?.id, one(entries()).id, undefined, "nowhere"]), below(1e5), maybe(0.5, files), maybe(0.3, () => chance(0.5)), maybe(0.3, usage)),
    edit: () => {
      const can = manager.getBranch().filter((entry) => entry.type === "custom_message" || (entry.type === "message" && ["user", "assistant", "toolResult"].includes(entry.message.role)));
      if (can.length) manager.appendContextEdit(one(can).id, chance(0.4) ? null : { content: content(5) });
    },
    again: () => (steps.compaction(), steps.compaction()),
    attempt: () => {
      if (chance(0.7)) steps.user();
      for (let i = below(3); i >= 0; i--) {
        const tries = [steps.assistant(), ...(chance(0.3) ? [steps.user()] : [])];
        if (chance(0.2)) steps.edit();
        for (const id of tries) if (chance(0.9)) manager.appendContextEdit(id, chance(0.9) ? null : { content: words(3) });
      }
    },
    branch: () => manager.branch(one(entries()).id),
    summary: () => manager.branchWithSummary(chance(0.1) ? null : one(entries()).id, one([words(30), words(30), ""]), maybe(0.5, files), maybe(0.3, () => chance(0.5)), maybe(0.3, usage)),
    root: () => manager.resetLeaf(),
  };
  const weights = { user: 14, assistant: 10, calls: 14, system: 4, shell: 4, odd: 3, thinking: 3, model: 3, usage: 2, custom: 3, customMessage: 4, label: 6, name: 2, compaction: 4, edit: 5, again: 1, attempt: 3, branch: 8, summary: 4, root: 1 };
  const deck = Object.entries(weights).flatMap(([name, weight]) => Array(weight).fill(name));
  now = 1767225600000 + below(1e9);
  if (chance(0.7)) steps.system();
  steps.user();
  const count = 20 + below(70);
  const steady = chance(0.3);
  for (let i = 0; i < count; i++) {
    now += steady ? 1 : below(5000) - 1500; // clocks go back
    steps[one(deck)]();
  }
  fs.renameSync(manager.getSessionFile(), path.join(directory, `${seed}.jsonl`));
}

for (const seed of seeds) session(Number(seed));
