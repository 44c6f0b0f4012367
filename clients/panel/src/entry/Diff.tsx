// What an edit changes, line by line.

import { useMemo } from "preact/hooks";
import { shown } from "../words.ts";
import { type Line, difference } from "./difference.ts";

export function Diff({ before, after }: { before: string; after: string }) {
  return <DiffLines lines={useMemo(() => difference(before.split("\n"), after.split("\n")), [before, after])} />;
}

/** A diff as tools write it: each line begins with what it is. */
export function WrittenDiff({ text }: { text: string }) {
  const lines = text.split("\n").map((line): Line => {
    const sign = line.startsWith("+") ? "+" : line.startsWith("-") ? "-" : " ";
    return [sign, line.startsWith("+") || line.startsWith("-") || line.startsWith(" ") ? line.slice(1) : line];
  });
  return <DiffLines lines={lines} />;
}

function DiffLines({ lines }: { lines: readonly Line[] }) {
  return (
    <pre class="code diff" tabIndex={0} role="group" aria-label="Changes">
      {lines.map(([sign, text]) => (
        <span class={sign === "+" ? "added" : sign === "-" ? "removed" : "same"}>{`${sign} ${shown(text)}\n`}</span>
      ))}
    </pre>
  );
}
