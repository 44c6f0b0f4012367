// Markdown as elements. Nothing of a text ever becomes markup: each piece is a text node, whatever it says.

import type { ComponentChildren, VNode } from "preact";
import { shown as safe } from "../words.ts";

const LONGEST = 200_000;

export function Markdown({ text }: { text: string }) {
  const shown = safe(text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  return <div class="markdown">{blocks(shown.split(/\r\n|\r|\n/), 0, { now: 2 })}</div>;
}

const FENCE = /^\s{0,3}(```+|~~~+)\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const TABLE = /^\s*\|.*\|\s*$/;
const DEEPEST = 8;

/** Of the last heading: for those who only hear them, no level is left out. */
interface Level {
  now: number;
}

function blocks(lines: readonly string[], depth: number, level: Level): VNode[] {
  const found: VNode[] = [];
  let at = 0;
  const add = (element: VNode) => found.push(element);
  while (at < lines.length) {
    const line = lines[at]!;
    const fence = FENCE.exec(line);
    if (fence !== null) {
      const end = lines.findIndex((other, index) => index > at && other.trim().startsWith(fence[1]!) && other.trim() === other.trim()[0]!.repeat(other.trim().length));
      const last = end < 0 ? lines.length : end;
      add(<Code text={lines.slice(at + 1, last).join("\n")} language={fence[2]!.trim()} />);
      at = last + 1;
      continue;
    }
    const heading = HEADING.exec(line);
    if (heading !== null) {
      level.now = Math.min(6, level.now + 1, heading[1]!.length + 2);
      add(
        <p class={`heading h${heading[1]!.length}`} role="heading" aria-level={level.now}>
          {inline(heading[2]!)}
        </p>,
      );
      at += 1;
      continue;
    }
    if (RULE.test(line)) {
      add(<hr />);
      at += 1;
      continue;
    }
    if (line.trim() === "") {
      at += 1;
      continue;
    }
    if (QUOTE.test(line) && depth < DEEPEST) {
      const inner = take(lines, at, (one) => QUOTE.test(one));
      add(<blockquote>{blocks(inner.map((one) => QUOTE.exec(one)![1]!), depth + 1, level)}</blockquote>);
      at += inner.length;
      continue;
    }
    if (TABLE.test(line) && /^[\s|:-]+$/.test(lines[at + 1] ?? "")) {
      const inner = take(lines, at, (one) => TABLE.test(one));
      add(table(inner));
      at += inner.length;
      continue;
    }
    const item = ITEM.exec(line);
    if (item !== null && depth < DEEPEST) {
      const inner = take(lines, at, (one, index) => index === at || ITEM.test(one) || /^\s{2,}\S/.test(one));
      add(list(inner, depth, level));
      at += inner.length;
      continue;
    }
    const inner = take(lines, at, (one, index) => index === at || (one.trim() !== "" && !starts(one)));
    add(<p>{inner.flatMap((one, index) => (index === 0 ? inline(one) : [<br />, ...inline(one)]))}</p>);
    at += inner.length;
  }
  return found;
}

function starts(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line) || RULE.test(line);
}

function take(lines: readonly string[], from: number, fits: (line: string, index: number) => boolean): string[] {
  let end = from;
  while (end < lines.length && fits(lines[end]!, end)) end += 1;
  return lines.slice(from, Math.max(end, from + 1));
}

function list(lines: readonly string[], depth: number, level: Level): VNode {
  const first = ITEM.exec(lines[0]!)!;
  const indent = first[1]!.length;
  const items: string[][] = [];
  for (const line of lines) {
    const found = ITEM.exec(line);
    if (found !== null && found[1]!.length <= indent) items.push([found[3]!]);
    else items.at(-1)!.push(line.slice(Math.min(indent + 2, line.length - line.trimStart().length)));
  }
  const inner = items.map((one) => {
    const rest = one.length > 1 ? blocks(one.slice(1), depth + 1, level) : [];
    return <li>{[...inline(one[0]!), ...rest]}</li>;
  });
  return /\d/.test(first[2]!) ? <ol start={Number.parseInt(first[2]!, 10)}>{inner}</ol> : <ul>{inner}</ul>;
}

function table(lines: readonly string[]): VNode {
  const cells = (line: string) => line.trim().slice(1, -1).split("|").map((cell) => cell.trim());
  return (
    <div class="wide" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{cells(lines[0]!).map((cell) => <th scope="col">{inline(cell)}</th>)}</tr>
        </thead>
        <tbody>{lines.slice(2).map((line) => <tr>{cells(line).map((cell) => <td>{inline(cell)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

const INLINE = /(`+)(.+?)\1(?!`)|\*\*(.+?)\*\*|__(.+?)__|\*([^*\s](?:[^*]*[^*\s])?)\*|~~(.+?)~~|\[([^\]]*)\]\(([^)\s]+)\)|(https?:\/\/[^\s<>)\]]*[^\s<>)\].,;:!?'\x22])/;

function inline(text: string): ComponentChildren[] {
  const found: ComponentChildren[] = [];
  let rest = text;
  for (let match = INLINE.exec(rest); match !== null; match = INLINE.exec(rest)) {
    if (match.index > 0) found.push(rest.slice(0, match.index));
    found.push(piece(match));
    rest = rest.slice(match.index + match[0].length);
  }
  found.push(rest);
  return found;
}

function piece(match: RegExpExecArray): ComponentChildren {
  const [whole, , code, strong, strong2, emphasis, gone, words, target, bare] = match;
  if (code !== undefined) return <code>{code}</code>;
  if (strong !== undefined || strong2 !== undefined) return <strong>{inline((strong ?? strong2)!)}</strong>;
  if (emphasis !== undefined) return <em>{inline(emphasis)}</em>;
  if (gone !== undefined) return <del>{gone}</del>;
  const address = target ?? bare ?? "";
  if (!/^https?:\/\//i.test(address)) return whole;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" title={address}>
      {words || address}
    </a>
  );
}

export function Code({ text, language }: { text: string; language?: string }) {
  return (
    <pre class="code" tabIndex={0} role="group" aria-label={language ? `Code, ${language}` : "Code"}>
      <code>{safe(text)}</code>
    </pre>
  );
}
