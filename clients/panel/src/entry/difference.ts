// Which lines two texts have in common. Pure.

export type Line = readonly ["+" | "-" | " ", string];

/** Beyond so many pairs of lines the one text is shown after the other. */
const PAIRS = 400_000;

export function difference(one: readonly string[], other: readonly string[]): Line[] {
  let start = 0;
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < Math.min(one.length, other.length) - start && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const a = one.slice(start, one.length - end);
  const b = other.slice(start, other.length - end);
  const same = (lines: readonly string[]) => lines.map((line): Line => [" ", line]);
  return [...same(one.slice(0, start)), ...middle(a, b), ...same(one.slice(one.length - end))];
}

function middle(a: readonly string[], b: readonly string[]): Line[] {
  const removed = a.map((line): Line => ["-", line]);
  const added = b.map((line): Line => ["+", line]);
  if (a.length * b.length > PAIRS) return [...removed, ...added];
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  const found: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      found.push([" ", a[i]!]);
      i += 1;
      j += 1;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) found.push(removed[i++]!);
    else found.push(added[j++]!);
  }
  return [...found, ...removed.slice(i), ...added.slice(j)];
}
