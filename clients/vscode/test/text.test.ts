// Texts from sessions, in places where the editor would make something of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ago, fenced, line, lines, said, shortened, tokens } from "../src/text.ts";

test("what nobody would see is marked, and a line is one line", () => {
  assert.equal(line(" a\n\tb \u202ec\u0007 "), "a b ·c·");
  assert.equal(lines("a\r\n\u202eb\tc"), "a\n·b\tc");
});

test("a message holds no link and no icon of a session's", () => {
  assert.equal(said("[x](command:evil) $(trash)"), "[x] (command:evil) $ (trash)");
});

test("a shortened text ends with a whole character", () => {
  assert.equal(shortened("😀".repeat(5), 3), "😀😀…");
  assert.equal(shortened("abc", 3), "abc");
  assert.equal(shortened("\ud83d", 1), "\ud83d");
});

test("nothing in a block ends it", () => {
  assert.equal(fenced("a\n````\n# b", "markdown"), "`````markdown\na\n````\n# b\n`````");
  assert.equal(fenced("`".repeat(300_000)).split("\n").length, 3);
});

test("numbers are short, and times are told as one says them", () => {
  assert.deepEqual([0, 980, 34_120, 250_400, 999_960, 1_200_000].map(tokens), ["0", "980", "34.1k", "250k", "1.0M", "1.2M"]);
  const now = Date.parse("2026-03-01T12:00:00Z");
  const times = ["2026-03-01T11:59:30Z", "2026-03-01T11:20:00Z", "2026-02-28T12:00:00Z", "2025-01-01T00:00:00Z", "nonsense"];
  assert.deepEqual(times.map((time) => ago(time, now)), ["now", "40 min", "1 d", "2025-01-01", ""]);
});
