// Texts from sessions, made fit for labels, messages and documents. Pure: what they hold is never run, and shows as it is.

// Control characters, and marks that turn the direction of what follows or that nobody sees.
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** On one line, with marks for what would not be seen. */
export function line(text: string): string {
  return text.replace(/\s+/g, " ").replace(UNSEEN, "\u00b7").trim();
}

/** Of several lines; only what would not be seen is marked. */
export function lines(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(UNSEEN, (mark) => (mark === "\n" || mark === "\t" ? mark : "\u00b7"));
}

/** At most `most` characters, without half a surrogate pair. */
export function shortened(text: string, most: number): string {
  const points = [...text.slice(0, 2 * most + 2)];
  return points.length <= most ? text : `${points.slice(0, most - 1).join("").trimEnd()}\u2026`;
}

/** For messages, which make links of `[text](command:...)`, and for places where `$(name)` is an icon. */
export function said(text: string, most = 300): string {
  return shortened(line(text), most).replaceAll("](", "] (").replaceAll("$(", "$ (");
}

/** 980, 34.1k, 1.2M. */
export function tokens(count: number): string {
  if (count < 1_000) return String(Math.round(count));
  if (count < 999_950) return `${(count / 1_000).toFixed(count < 99_950 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** 12,345. */
export function number(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** "1 entry", "12 entries". */
export function counted(count: number, one: string, more = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : more}`;
}

export function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** "now", "5 min", "3 h", "2 d", or the date: how long ago `time`, ISO 8601, was at `now`, in ms since 1970. */
export function ago(time: string, now: number): string {
  const then = Date.parse(time);
  if (Number.isNaN(then)) return "";
  const minutes = Math.floor((now - then) / 60_000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h`;
  if (minutes < 14 * 24 * 60) return `${Math.floor(minutes / (24 * 60))} d`;
  return time.slice(0, 10);
}

/** A block of code that nothing in `text` ends. */
export function fenced(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(2, longestTicks(text)) + 1);
  return `${fence}${language}\n${lines(text).replace(/\n$/, "")}\n${fence}`;
}

/** The length of the longest run of backticks. */
export function longestTicks(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
