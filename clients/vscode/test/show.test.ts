// Documents, explanations, refusals, lists: what is said, and that nothing of a session's is more than text in them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionLost, ServerError, Unreachable } from "../../typescript/src/errors.ts";
import type { CompactResult, ContextResult, SessionInfo } from "../../typescript/src/protocol.ts";
import { advise, unjoined } from "../src/session/advice.ts";
import { grouped, titleOf, within } from "../src/session/listed.ts";
import { Pace } from "../src/session/pace.ts";
import { code, compactedDocument, contextDocument, entryDocument } from "../src/show/documents.ts";
import { why } from "../src/show/why.ts";

const EVIL = "# heading\n[x](command:evil)\n```\n<script>";

/** The lines of a document that are in no block. */
function outside(document: string): string[] {
  let fence: string | undefined;
  return document.split("\n").filter((text) => {
    const mark = /^(`{3,})/.exec(text)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence !== undefined && text === fence) fence = undefined;
    else return fence === undefined;
    return false;
  });
}

const CONTEXT: ContextResult = {
  messages: [
    { role: "user", content: EVIL },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: EVIL },
        { type: "text", text: EVIL },
        { type: "toolCall", id: "c`1", name: EVIL, arguments: { path: EVIL, [EVIL]: 1 } },
        { type: "image", mimeType: EVIL, data: "AAAA" },
        { type: "later", x: EVIL },
      ],
    },
    { role: "toolResult", toolName: EVIL, isError: true, content: [{ type: "text", text: EVIL }] },
    { role: EVIL, content: EVIL, errorMessage: EVIL },
    { role: "bashExecution", command: EVIL, output: EVIL },
    { role: "branchSummary", summary: EVIL },
  ],
  sources: ["a", "b", "c", "d", "e", "f"],
  model: { provider: "p", modelId: EVIL },
  thinkingLevel: "high",
  tokens: 1_500,
  leafId: "f",
  problems: [{ kind: "callWithoutResult", entryId: "b", toolCallId: EVIL }],
};

test("what the model sees is one document, with texts in blocks", () => {
  const document = contextDocument(EVIL, CONTEXT, 10_000);
  const told = outside(document);
  assert.match(document, /6 messages, about 1,500 tokens of 10,000 \(15%\)\./);
  assert.deepEqual(told.filter((text) => text.startsWith("#")).length, 7);
  for (const text of told) assert.doesNotMatch(text.replace(/(`+).*?\1/g, ""), /command:|<script>/);
});

test("an entry is told with what the tree knows of it", () => {
  const entry = { id: "e1", parentId: null, type: "message", timestamp: "t", message: { role: "user", content: "hi" }, odd: [1] };
  const document = entryDocument(entry, { label: "mine" } as never);
  assert.match(document, /^# User\n\n- entry `e1`, `message`\n- a root\n- `t`\n- label `mine`\n\n```markdown\nhi\n```/);
  assert.match(document, /"odd"/);
  assert.match(entryDocument({ id: "x", type: "compaction", summary: EVIL, parentId: "p" }, undefined), /^# compaction/);
  assert.match(entryDocument(null, undefined), /^# /);
});

test("of a compaction it is told what the summary kept, and what not", () => {
  const result = {
    entryId: "c",
    summary: EVIL,
    tokensBefore: 50_000,
    tokensAfter: 9_000,
    summarizer: "extractive",
    retention: {
      policy: "amend",
      score: 0.5,
      scoreAfter: 0.98,
      kinds: { request: { kept: 1, asked: 1 }, error: { kept: 0, asked: 2 }, read: { kept: 0, asked: 0 } },
      missing: [{ kind: "error", text: EVIL }],
      missingLeftOut: 1,
    },
  } as unknown as CompactResult;
  const document = compactedDocument("It", result);
  assert.match(document, /50,000 tokens before, about 9,000 now/);
  assert.match(document, /98% of the facts\n\n- the last request: 1 of 1\n- errors that stand: 0 of 2\n/);
  assert.match(document, /## Not in the summary by itself; it was added as far as there was room\n\n- errors that stand: ``/);
  assert.match(document, /- and 1 more fact\n/);
});

test("code within a line holds its own marks", () => {
  assert.equal(code("a"), "`a`");
  assert.equal(code("a`b"), "`` a`b ``");
});

test("an explanation fills in what it names", () => {
  assert.deepEqual(why({ id: "a", inContext: false, reason: "compacted", compactionId: "c1" }), [
    "Not in the model's context.",
    "The compaction c1 covers it.",
  ]);
  const facts = { summaryId: "s", asked: 3, kept: 2, missing: [{ kind: "read", text: "a.py" }] };
  assert.deepEqual(why({ id: "a", inContext: true, reason: "new" as never, facts }).slice(1), [
    "Reason: new.",
    "The summary that stands for it names 2 of its 3 facts.",
    "It lacks: a.py",
  ]);
});

test("a refusal says what to do, with a button for it", () => {
  const refused = (reason: string, message = "No.") => new ServerError(message, 1, { reason });
  assert.equal(advise("move", refused("cancelled")), undefined);
  assert.deepEqual(advise("move the leaf", refused("leafMoved", "The leaf is another."))?.remedies, ["anyway", "tree"]);
  assert.match(advise("search", refused("methodNotFound"))!.message, /^Can't search: this daemon can't do that yet\. Update/);
  assert.match(advise("move", new ConnectionLost("gone", "unknown"))!.message, /not known/);
  assert.doesNotMatch(advise("x", new Error("[a](command:b)"))!.message, /\]\(/);
});

test("a program that is missing, of another version or too old is told apart", () => {
  const missing = unjoined("pi-daemon", new Unreachable("no", { cause: { code: "ENOENT" } as never }), undefined, "");
  assert.match(missing.message, /isn't there\. Install pi-daemon/);
  assert.deepEqual(missing.remedies, ["settings", "again"]);
  // The client says so of whatever ends before it has greeted.
  for (const gone of [new ConnectionLost("gone", "unknown"), new Unreachable("no daemon answers", { cause: new Error("closed") })]) {
    const old = unjoined("pi-daemon", gone, 2, "No such command 'connect'.");
    assert.match(old.message, /ended with 2, and said: No such command 'connect'.*too old/);
    assert.deepEqual(old.remedies, ["settings", "log", "again"]);
  }
  const other = unjoined("pi-daemon", new ServerError("It speaks 2.", 1020, { reason: "versionMismatch" }), undefined, "");
  assert.match(other.message, /another version/);
  assert.match(unjoined("p", new ServerError("Why.", 1022, { reason: "daemonUnavailable" }), undefined, "").message, /join the daemon: Why/);
});

test("sessions of the workspace come first, each once, the newest before", () => {
  const session = (sessionId: string, cwd: string, modified: string) => ({ sessionId, cwd, modified }) as SessionInfo;
  const a = session("a", "/w/x", "2026-01-01");
  const b = session("b", "/w", "2026-01-02");
  const c = session("c", "/wide", "2026-01-03");
  const { here, elsewhere } = grouped([[a], [c, b, a]], ["/w/"]);
  assert.deepEqual([here.map((one) => one.sessionId), elsewhere.map((one) => one.sessionId)], [["b", "a"], ["c"]]);
  assert.equal(within("/a", "/"), true);
  assert.equal(titleOf({ name: null, sessionId: "0123456789", firstMessage: "\n" }), "session 01234567");
});

test("what is wanted while it is done is done once more, and never after it was stopped", async () => {
  let times = 0;
  const gates: (() => void)[] = [];
  const began: (() => void)[] = [];
  const begun = () => new Promise<void>((resolve) => began.push(resolve));
  const pace = new Pace(() => {
    times += 1;
    began.shift()?.();
    return new Promise((resolve) => gates.push(resolve));
  });
  pace.want();
  pace.want();
  pace.want();
  assert.equal(times, 1);
  const second = begun();
  gates.shift()!();
  await second;
  assert.equal(times, 2);
  pace.stop();
  pace.want();
  gates.shift()!();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(times, 2);
});
