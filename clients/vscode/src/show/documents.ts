// What is read of a session as Markdown documents. Pure. All text from sessions stands in blocks of code, so that no link
// and no picture of it is one, and headings are those of the document.

import type { CompactResult, ContextResult, Json, TreeNode } from "../../../typescript/src/protocol.ts";
import { kind } from "../tree/kinds.ts";
import { counted, fenced, line, longestTicks, number, percent } from "../text.ts";

type Members = { readonly [name: string]: Json };

/** Code within a line. */
export function code(text: string): string {
  const words = line(text);
  const longest = longestTicks(words);
  const mark = "`".repeat(longest + 1);
  return longest > 0 ? `${mark} ${words} ${mark}` : `${mark}${words}${mark}`;
}

function members(value: Json | undefined): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function text(value: Json | undefined): string {
  return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value, null, 2);
}

function call(block: Members): string[] {
  const found = [`Calls ${code(text(block["name"]))}, ${code(text(block["id"]))}:`];
  for (const [name, value] of Object.entries(members(block["arguments"]))) {
    if (typeof value === "string" && value.includes("\n")) found.push(`- ${code(name)}:`, fenced(value));
    else found.push(`- ${code(name)}: ${code(text(value)) || "nothing"}`);
  }
  return found;
}

function content(value: Json | undefined, language: string): string[] {
  if (typeof value === "string") return value === "" ? ["*nothing*"] : [fenced(value, language)];
  if (!Array.isArray(value)) return [];
  return value.flatMap((one) => {
    const block = members(one);
    switch (block["type"]) {
      case "text":
        return [fenced(text(block["text"]), language)];
      case "thinking":
        return ["*Thinking:*", fenced(text(block["thinking"]), language)];
      case "toolCall":
        return call(block);
      case "image": {
        const data = block["data"];
        const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
        return [`*An image: ${code(text(block["mimeType"] ?? "unknown kind"))}, ${number(bytes)} bytes*`];
      }
      default:
        return [fenced(JSON.stringify(one, null, 2), "json")];
    }
  });
}

/** A message, without a heading. */
export function message(given: Members): string[] {
  if (given["role"] === "bashExecution") {
    return [fenced(`$ ${text(given["command"])}`, "sh"), fenced(text(given["output"]))];
  }
  if (given["content"] === undefined && given["summary"] !== undefined) {
    return [fenced(text(given["summary"]), "markdown")];
  }
  const found = content(given["content"] ?? given["sections"], given["role"] === "toolResult" ? "" : "markdown");
  if (typeof given["errorMessage"] === "string") found.push("**Failed:**", fenced(given["errorMessage"]));
  return found;
}

const HEADINGS: Readonly<Record<string, string>> = {
  user: "User",
  assistant: "Model",
  toolResult: "Tool result",
  bashExecution: "Shell",
  system: "System",
  custom: "Note",
  branchSummary: "Summary of a branch",
  compactionSummary: "Summary of what came before",
};

export function heading(given: Members): string {
  const role = text(given["role"]);
  const name = HEADINGS[role] ?? code(role || "Message");
  if (role === "toolResult") return `${name} of ${code(text(given["toolName"]))}${given["isError"] === true ? ", an error" : ""}`;
  return role === "custom" ? `${name} ${code(text(given["customType"]))}` : name;
}

function document(parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}

/** An entry as it is stored, and what the tree says of it. */
export function entryDocument(given: Json, node: TreeNode | undefined): string {
  const entry = members(given);
  const { id, parentId, timestamp, type, message: said, summary, content: parts, ...rest } = entry;
  const own = members(said);
  const facts = [`- entry ${code(text(id))}, ${code(text(type))}`];
  facts.push(parentId === null || parentId === undefined ? "- a root" : `- under ${code(text(parentId))}`);
  if (timestamp !== undefined) facts.push(`- ${code(text(timestamp))}`);
  if (node?.label !== undefined) facts.push(`- label ${code(node.label)}`);
  if (own["provider"] !== undefined) facts.push(`- model ${code(`${text(own["provider"])}/${text(own["model"])}`)}`);
  if (own["stopReason"] !== undefined) facts.push(`- stopped: ${code(text(own["stopReason"]))}`);
  const usage = members(own["usage"]);
  if (usage["input"] !== undefined) facts.push(`- ${text(usage["input"])} tokens in, ${text(usage["output"])} out`);
  const body = said !== undefined ? message(own) : summary !== undefined ? [fenced(text(summary), "markdown")] : content(parts, "markdown");
  const more = Object.keys(rest).length > 0 ? [fenced(JSON.stringify(rest, null, 2), "json")] : [];
  const title = own["role"] !== undefined ? heading(own) : kind({ type: text(type) });
  return document([`# ${title}`, facts.join("\n"), ...body, ...more]);
}

/** What the model sees. `window` in tokens, where it is known. */
export function contextDocument(title: string, context: ContextResult, window: number | null): string {
  const share = window === null ? "" : ` of ${number(window)} (${percent(context.tokens / window)})`;
  const parts = [
    `# What the model sees: ${code(title)}`,
    `${counted(context.messages.length, "message")}, about ${number(context.tokens)} tokens${share}.`,
  ];
  if (context.model !== null) {
    const name = code(`${context.model.provider}/${context.model.modelId}`);
    parts.push(`Model ${name}, thinking ${code(context.thinkingLevel)}.`);
  }
  if (context.compactionId !== undefined) parts.push("What came before was compacted; the summary stands for it.");
  for (const problem of context.problems) {
    const what = problem.kind === "callWithoutResult" ? "a tool call without its result" : "a tool result without its call";
    parts.push(`**A provider would refuse this:** ${what}, ${code(problem.toolCallId)} in entry ${code(problem.entryId)}.`);
  }
  context.messages.forEach((given, place) => {
    parts.push(`## ${heading(members(given))} ${code(context.sources[place] ?? "")}`, ...message(members(given)));
  });
  return document(parts);
}

/** Facts that a summary is questioned about, in the order in which they are told. */
const FACTS: Readonly<Record<string, string>> = {
  request: "the last request",
  constraint: "what the user demanded",
  unfinished: "what was left to do",
  superseded: "what is long past, told as if it held",
  openCall: "calls without a result",
  error: "errors that stand",
  modified: "modified files",
  commit: "commits",
  reference: "what results gave",
  overcome: "errors that were overcome",
  read: "files that were read",
};

/** What a compaction did: what its summary kept, and what not. */
export function compactedDocument(title: string, result: CompactResult): string {
  const { retention } = result;
  const by = result.model === undefined ? code(result.summarizer) : `${code(result.summarizer)} (${code(result.model)})`;
  const tallies = Object.keys(FACTS).flatMap((name) => {
    const tally = retention.kinds[name];
    return tally === undefined || tally.asked === 0 ? [] : [`- ${FACTS[name]}: ${tally.kept} of ${tally.asked}`];
  });
  const parts = [
    `# Compacted: ${code(title)}`,
    `${number(result.tokensBefore)} tokens before, about ${number(result.tokensAfter)} now. Summarized by ${by}.`,
    `## Kept: ${percent(retention.scoreAfter)} of the facts`,
    tallies.length > 0 ? tallies.join("\n") : "There were no facts to ask for.",
  ];
  if (retention.missing.length > 0) {
    const added = retention.policy === "amend" ? " by itself; it was added as far as there was room" : "";
    const missing = retention.missing.map((fact) => `- ${FACTS[fact.kind] ?? code(fact.kind)}: ${code(fact.text)}`);
    if (retention.missingLeftOut > 0) missing.push(`- and ${counted(retention.missingLeftOut, "more fact")}`);
    parts.push(`## Not in the summary${added}`, missing.join("\n"));
  }
  return document([...parts, "## The summary", fenced(result.summary, "markdown")]);
}
