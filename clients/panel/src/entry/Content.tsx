// What an entry holds, by its kind. What has another form than expected is shown as the JSON that it is.

import type { Json } from "../../../typescript/src/index.ts";
import type { Entry } from "../state/reading.ts";
import { count, shown, tokens } from "../words.ts";
import { Diff, WrittenDiff } from "./Diff.tsx";
import { Code, Markdown } from "./markdown.tsx";

type Members = { [member: string]: Json | undefined };

const IMAGES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === "string" ? shown(value) : "");

export function Content({ entry }: { entry: Entry }) {
  switch (entry.type) {
    case "message":
      return isMembers(entry["message"]) ? <Message message={entry["message"]} /> : <Raw value={entry} />;
    case "custom_message":
      return <Blocks content={entry["content"]} plain={false} />;
    case "compaction":
    case "branch_summary":
      return <Summary entry={entry} />;
    case "model_change":
      return <p>{`${text(entry["provider"])}/${text(entry["modelId"])}`}</p>;
    case "thinking_level_change":
      return <p>{text(entry["thinkingLevel"])}</p>;
    default:
      return <Raw value={entry} />;
  }
}

function Message({ message }: { message: Members }) {
  const role = text(message["role"]);
  if (role === "bashExecution") {
    return (
      <>
        <Code text={`$ ${text(message["command"])}`} language="command" />
        <Code text={text(message["output"])} language="output" />
      </>
    );
  }
  const details = isMembers(message["details"]) ? message["details"] : {};
  return (
    <>
      {role === "toolResult" && (
        <p class="facts">
          {text(message["toolName"])}
          {message["isError"] === true && <strong class="bad"> failed</strong>}
        </p>
      )}
      {typeof details["diff"] === "string" && <WrittenDiff text={details["diff"]} />}
      <Blocks content={message["content"]} plain={role === "toolResult"} />
      {role === "assistant" && <Usage message={message} />}
      {typeof message["errorMessage"] === "string" && <p class="bad">{text(message["errorMessage"])}</p>}
    </>
  );
}

function Usage({ message }: { message: Members }) {
  const usage = isMembers(message["usage"]) ? message["usage"] : {};
  const said = [`${text(message["provider"])}/${text(message["model"])}`, text(message["stopReason"])];
  if (typeof usage["input"] === "number") said.push(`${tokens(usage["input"])} in`);
  if (typeof usage["output"] === "number") said.push(`${tokens(usage["output"])} out`);
  return <p class="facts">{said.filter((part) => part !== "" && part !== "/").join(" · ")}</p>;
}

/** `plain`: text is shown as it is, not as Markdown. */
function Blocks({ content, plain }: { content: Json | undefined; plain: boolean }) {
  if (typeof content === "string") return plain ? <Code text={content} language="text" /> : <Markdown text={content} />;
  if (!Array.isArray(content)) return <Raw value={content ?? null} />;
  return <>{content.map((block) => <Block block={block} plain={plain} />)}</>;
}

function Block({ block, plain }: { block: Json; plain: boolean }) {
  if (!isMembers(block)) return <Raw value={block} />;
  switch (block["type"]) {
    case "text":
      return plain ? <Code text={text(block["text"])} language="text" /> : <Markdown text={text(block["text"])} />;
    case "thinking":
      return (
        <details class="thinking">
          <summary>Thinking</summary>
          <Markdown text={text(block["thinking"])} />
        </details>
      );
    case "toolCall":
      return <Call name={text(block["name"])} given={block["arguments"]} />;
    case "image":
      return <Image block={block} />;
    default:
      return <Raw value={block as Json} />;
  }
}

function Image({ block }: { block: Members }) {
  const type = text(block["mimeType"]);
  const data = typeof block["data"] === "string" ? block["data"] : "";
  if (!IMAGES.has(type) || !/^[A-Za-z0-9+/=\s]*$/.test(data)) return <p class="facts">An image that can't be shown ({type})</p>;
  return <img class="image" alt={`Image in the session, ${type}`} src={`data:${type};base64,${data}`} />;
}

function Call({ name, given }: { name: string; given: Json | undefined }) {
  const members = isMembers(given) ? given : {};
  const edits = editsOf(members);
  const { path, command, content, ...rest } = members;
  const others = edits.length > 0 ? {} : rest;
  return (
    <section class="call" aria-label={`Call of ${name}`}>
      <p class="call-name">
        <strong>{name}</strong> {typeof path === "string" && <code>{shown(path)}</code>}
      </p>
      {typeof command === "string" && <Code text={command} language="command" />}
      {edits.map(([before, after]) => <Diff before={before} after={after} />)}
      {typeof content === "string" && <Code text={content} language="content" />}
      {Object.keys(others).length > 0 && <Raw value={others as Json} />}
    </section>
  );
}

function editsOf(given: Members): [string, string][] {
  const listed = Array.isArray(given["edits"]) ? given["edits"] : [given as Json];
  return listed.flatMap((edit): [string, string][] => {
    if (!isMembers(edit)) return [];
    const before = edit["oldText"] ?? edit["old_string"];
    const after = edit["newText"] ?? edit["new_string"];
    return typeof before === "string" && typeof after === "string" ? [[before, after]] : [];
  });
}

function Summary({ entry }: { entry: Entry }) {
  const before = entry["tokensBefore"];
  const details = isMembers(entry["details"]) ? entry["details"] : {};
  const files = ["readFiles", "modifiedFiles"].map((name) => details[name]).map((found) => (Array.isArray(found) ? found.length : 0));
  return (
    <>
      <p class="facts">
        {typeof before === "number" && `${tokens(before)} tokens before · `}
        {count(files[0]!, "file")} read · {count(files[1]!, "file")} modified
      </p>
      <Markdown text={text(entry["summary"])} />
    </>
  );
}

export function Raw({ value }: { value: Json }) {
  return <Code text={JSON.stringify(value, null, 2)} language="JSON" />;
}
