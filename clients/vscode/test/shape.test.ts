// The tree as items: what is a line, a turn, a branch; and what the view says of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TreeNode } from "../../typescript/src/protocol.ts";
import { branchLabel, type Item, shape } from "../src/tree/shape.ts";
import { draw } from "../src/tree/words.ts";

const TIME = "2026-01-01T00:00:00.000Z";

/** `id: [parent, role, onPath, more]`. */
function node(id: string, parentId: string | null, role: string, onPath: boolean, more: Partial<TreeNode> = {}): TreeNode {
  return { id, parentId, type: "message", role, preview: `text of ${id}`, timestamp: TIME, childCount: 0, onPath, ...more };
}

/** Two questions, the second asked in two ways; the leaf at the end of the later one. */
const TALK = [
  node("u1", null, "user", true),
  node("a1", "u1", "assistant", true),
  node("u2", "a1", "user", false),
  node("a2", "u2", "assistant", false, { label: "works" }),
  node("u3", "a1", "user", true),
  node("t3", "u3", "toolResult", true),
  node("a3", "t3", "assistant", true),
];

function drawn(items: readonly Item[], depth = 0): string[] {
  return items.flatMap((item) => [`${"  ".repeat(depth)}${item.key}`, ...drawn(item.children, depth + 1)]);
}

test("turns hold their answers, and a side branch stands behind the turn that it leaves from", () => {
  const { roots, byId, leafId } = shape(TALK, "a3");
  assert.deepEqual(drawn(roots), ["e:u1", "  e:a1", "b:u2", "  e:u2", "    e:a2", "e:u3", "  e:t3", "  e:a3"]);
  assert.equal(leafId, "a3");
  assert.equal(byId.get("a3")!.parent, byId.get("u3"));
  assert.equal(byId.get("u2")!.parent!.kind, "branch");
});

test("a branch stands for its last entry, and counts what hangs under its first", () => {
  const branch = shape(TALK, "a3").roots[1]!;
  assert.equal(branch.node.id, "a2");
  assert.equal(branch.first.id, "u2");
  assert.equal(branch.count, 2);
});

test("where a turn is answered in two ways, the other answer lies within it", () => {
  const nodes = [
    node("u", null, "user", true),
    node("a", "u", "assistant", false),
    node("b", "u", "assistant", true),
  ];
  assert.deepEqual(drawn(shape(nodes, "b").roots), ["e:u", "  b:a", "    e:a", "  e:b"]);
});

test("the keys stay the same when the leaf goes to the other branch", () => {
  const onPath = new Set(["u1", "a1", "u2", "a2"]);
  const moved = TALK.map((one) => ({ ...one, onPath: onPath.has(one.id) }));
  const { roots } = shape(moved, "a2");
  assert.deepEqual(drawn(roots), ["e:u1", "  e:a1", "b:u3", "  e:u3", "    e:t3", "    e:a3", "e:u2", "  e:a2"]);
});

test("further roots are branches, and come first", () => {
  const nodes = [node("u", null, "user", false), node("v", null, "user", true)];
  assert.deepEqual(drawn(shape(nodes, "v").roots), ["b:u", "  e:u", "e:v"]);
});

test("a stretch that the daemon folded stands before the entry that it ends with", () => {
  const nodes = [node("a", null, "assistant", true, { run: 7 })];
  const { roots } = shape(nodes, "a");
  assert.deepEqual(drawn(roots), ["s:a", "e:a"]);
  assert.equal(draw(roots[0]!, shape(nodes, "a"), 0).label, "6 more entries");
});

test("where the leaf is hidden its nearest ancestor is drawn as it", () => {
  const nodes = [node("u1", null, "user", true), node("u2", "u1", "user", false)];
  assert.equal(shape(nodes, "hidden").leafId, "u1");
  assert.equal(shape(nodes, null).leafId, undefined);
});

test("100,000 entries in one line, and as many branches within branches", () => {
  const deep = Array.from({ length: 100_000 }, (_, at) => node(`n${at}`, at === 0 ? null : `n${at - 1}`, "assistant", true));
  assert.equal(shape(deep, "n99999").roots.length, 100_000);
  const nested: TreeNode[] = [];
  for (let at = 0; at < 20_000; at += 1) {
    const parent = at === 0 ? null : `n${at - 1}`;
    nested.push(node(`m${at}`, parent, "user", at === 0), node(`n${at}`, parent, "user", false));
  }
  assert.equal(shape(nested, "m0").byId.size, 40_000);
});

test("parents in a circle, or after their children, end nothing", () => {
  const nodes = [node("a", "b", "user", true), node("b", "a", "user", true), node("c", "c", "user", false)];
  assert.equal(shape(nodes, "b").byId.size, 3);
});

test("the leaf, labels and the path are told in words, not by colours alone", () => {
  const found = shape(TALK, "a3");
  const leaf = draw(found.byId.get("a3")!, found, Date.parse(TIME) + 7_200_000);
  assert.equal(leaf.label, "text of a3");
  assert.equal(leaf.description, "◆ leaf · 2 h");
  assert.equal(leaf.context, "entry leaf");
  assert.match(leaf.spoken, /the leaf$/);
  const branch = draw(found.roots[1]!, found, Date.parse(TIME));
  assert.equal(branch.description, "[works] · 2 entries · now");
  assert.equal(branch.context, "entry elsewhere branch");
  assert.match(branch.spoken, /^branch, text of u2, label works, on another branch$/);
  const user = draw(found.byId.get("u3")!, found, Date.parse(TIME));
  assert.equal(user.context, "entry elsewhere editable");
  assert.match(user.spoken, /on the active path$/);
});

test("the branch is called by the label that is nearest above the leaf", () => {
  assert.equal(branchLabel(TALK), undefined);
  assert.equal(branchLabel(TALK.map((one) => ({ ...one, label: one.id }))), "a3");
});
