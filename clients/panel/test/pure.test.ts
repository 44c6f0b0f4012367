// What of the panel is pure: the order of the tree, its rows, differences, words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { difference } from "../src/entry/difference.ts";
import { type Node, Tree, order, shownAbove } from "../src/tree/model.ts";
import { type Folding, type Row, rowsOf } from "../src/tree/rows.ts";
import { plain, shown } from "../src/words.ts";

const OPEN: Folding = { folded: false, chosen: new Map() };
const FOLDED: Folding = { folded: true, chosen: new Map() };

/** Of "a", "b<a" (b under a), "c<a:assistant" and so on; users where no role is named. */
function tree(...said: string[]): Tree {
  const found = new Tree();
  for (const one of said) {
    const [, id, , parent, , kind = "user"] = /^(\w+)(<(\w+))?(:(\w+))?$/.exec(one)!;
    const message = ["user", "assistant", "toolResult"].includes(kind);
    const node: Node = {
      id: id!,
      parentId: parent ?? null,
      type: message ? "message" : kind,
      role: message ? kind : undefined,
      preview: id!,
      timestamp: "",
    };
    found.add(node);
  }
  return found;
}

function placed(of: Tree, leaf: string, all = false) {
  return order(of, new Set(of.path(leaf)), all);
}

const keys = (rows: readonly Row[]) => rows.map(({ key }) => key).join(" ");

test("the last child goes straight on, the others have lanes of their own", () => {
  const of = tree("a", "b<a", "c<b", "d<a", "e<a", "f<e");
  const found = placed(of, "c");
  assert.deepEqual(found.map(({ node, lane }) => `${node.id}${lane}`), ["a0", "b1", "c1", "d1", "e0", "f0"]);
  assert.deepEqual(found.map(({ onPath }) => onPath), [true, true, true, false, false, false]);
  assert.deepEqual(found.filter(({ first }) => first).map(({ node }) => node.id), ["b", "d"]);
});

test("the active path is drawn past the branches that it leaves aside, and not beyond where it turns off", () => {
  const of = tree("a", "b<a", "c<a", "d<a");
  const straight = placed(of, "d");
  assert.deepEqual(straight.map(({ above }) => above & 1), [1, 1, 1, 1]);
  assert.deepEqual(straight.map(({ below }) => below & 1), [1, 1, 1, 0]);
  const aside = placed(of, "b");
  assert.deepEqual(aside.map(({ above }) => above & 1), [1, 1, 0, 0]);
  assert.deepEqual(aside.map(({ below }) => below & 1), [1, 0, 0, 0]);
});

test("what has no row leaves its children to what is above it", () => {
  const of = tree("a", "l<a:label", "b<l", "m<b:label");
  assert.deepEqual(placed(of, "m").map(({ node, lane }) => `${node.id}${lane}`), ["a0", "b0"]);
  assert.equal(shownAbove(of, "m", false), "b");
  assert.equal(placed(of, "m", true).length, 4);
  assert.equal(shownAbove(of, "gone", false), null);
});

test("a parent that isn't there, and a loop", () => {
  assert.equal(placed(tree("a<x", "b<a"), "b").length, 2);
  assert.deepEqual(tree("a<b", "b<a").path("a").length, 2);
});

test("turns are folded into their beginning, but for the leaf and what bears a label", () => {
  const of = tree("u1", "a1<u1:assistant", "r1<a1:toolResult", "u2<r1", "a2<u2:assistant", "b2<a2:assistant");
  of.add({ ...of.nodes.get("a1")!, label: "here" });
  const rows = rowsOf(placed(of, "b2"), "b2", [], FOLDED);
  assert.equal(keys(rows), "u1 a1 u2 b2");
  assert.deepEqual(rows.map((row) => row.kind === "node" && row.hidden), [1, 0, 1, 0]);
  assert.equal(keys(rowsOf(placed(of, "b2"), "b2", [], { folded: true, chosen: new Map([["u2", false]]) })), "u1 a1 u2 a2 b2");
});

test("a compaction folds away what it stands for, with the branches beside it", () => {
  const of = tree("u1", "x<u1", "u2<u1", "u3<u2", "c<u3:compaction", "u4<c");
  const covers = [{ compactionId: "c", firstKept: "u3" }];
  const rows = rowsOf(placed(of, "u4"), "u4", covers, OPEN);
  assert.equal(keys(rows), "cover c u3 c u4");
  const cover = rows[0]!;
  assert.deepEqual(cover.kind === "cover" && [cover.covered, cover.beside, cover.folded], [2, 1, true]);
  assert.equal(keys(rowsOf(placed(of, "u4"), "u4", covers, { folded: false, chosen: new Map([["cover c", false]]) })), "cover c u1 x u2 u3 c u4");
});

test("an older compaction lies within the newer one", () => {
  const of = tree("u1", "c1<u1:compaction", "u2<c1", "c2<u2:compaction", "u3<c2");
  const covers = [
    { compactionId: "c1", firstKept: null },
    { compactionId: "c2", firstKept: "u2" },
  ];
  assert.equal(keys(rowsOf(placed(of, "u3"), "u3", covers, OPEN)), "cover c2 u2 c2 u3");
  const opened = { folded: false, chosen: new Map([["cover c2", false]]) };
  assert.equal(keys(rowsOf(placed(of, "u3"), "u3", covers, opened)), "cover c2 cover c1 c1 u2 c2 u3");
});

test("ten thousand entries in one chain, and ten thousand branches", () => {
  const chain = tree("n0", ...Array.from({ length: 9_999 }, (_, index) => `n${index + 1}<n${index}`));
  assert.equal(rowsOf(placed(chain, "n9999"), "n9999", [], FOLDED).length, 10_000);
  const star = tree("n0", ...Array.from({ length: 9_999 }, (_, index) => `n${index + 1}<n0`));
  assert.equal(Math.max(...placed(star, "n1").map(({ lane }) => lane)), 1);
});

test("differences", () => {
  const text = (one: string, other: string) => difference(one.split(""), other.split("")).map(([sign, line]) => sign + line).join("");
  assert.equal(text("abcd", "abxd"), " a b-c+x d");
  assert.equal(text("", ""), "");
  assert.equal(text("abc", ""), "-a-b-c");
  const long = Array.from({ length: 1_000 }, (_, index) => `a${index}`);
  assert.equal(difference(long, long.map((line) => `${line}!`)).length, 2_000);
});

test("what can't be seen, or turns letters around, is written out", () => {
  assert.equal(shown("a\u202eb\u0007\n\tc"), "a\\u202eb␇\n\tc");
  assert.equal(plain("## Goal **bold** and `code`"), "Goal bold and code");
});
