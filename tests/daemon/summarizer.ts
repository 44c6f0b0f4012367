// A client in TypeScript that makes summaries, at the other end of `pi-daemon connect`: run as
// `node summarizer.ts PROGRAM ARGUMENT...`. It says `ready` when the daemon knows it, and what it was asked for.

import { spawn } from "node:child_process";
import type { ClientRequests, InitializeParams, SummarizeParams, SummarizeResult } from "../../clients/typescript/src/protocol.ts";

type Message = { id?: number; method?: string; params?: unknown; result?: unknown };

const [program, ...args] = process.argv.slice(2);
const bridge = spawn(program!, args, { stdio: ["pipe", "pipe", "inherit"] });

function send(message: Message): void {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  bridge.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
  bridge.stdin.write(body);
}

function summarize(wanted: SummarizeParams): SummarizeResult {
  process.stdout.write(`asked ${wanted.kind} ${wanted.maxTokens}\n`);
  return { summary: `## Goal\n- What a client in TypeScript wrote of ${wanted.conversation.length} characters\n`, model: "ts" };
}

function take(message: Message): void {
  const method: keyof ClientRequests = "summarizer/summarize";
  if (message.method === method && message.id !== undefined) {
    send({ id: message.id, result: summarize(message.params as SummarizeParams) });
  } else if (message.id === 1 && message.method === undefined) {
    send({ method: "initialized", params: {} });
    process.stdout.write("ready\n");
  }
}

let buffer = Buffer.alloc(0);
bridge.stdout.on("data", (data: Buffer) => {
  buffer = Buffer.concat([buffer, data]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    const length = Number(/content-length: *(\d+)/i.exec(buffer.toString("latin1", 0, Math.max(end, 0)))?.[1] ?? NaN);
    if (end < 0 || !(buffer.length >= end + 4 + length)) return;
    const body = buffer.subarray(end + 4, end + 4 + length);
    buffer = buffer.subarray(end + 4 + length);
    take(JSON.parse(body.toString()) as Message);
  }
});

process.stdin.on("end", () => bridge.stdin.end()).resume();

const params: InitializeParams = {
  processId: process.pid,
  clientInfo: { name: "typescript" },
  capabilities: {},
  initializationOptions: { piDaemon: { protocolVersion: 1, summarizer: true } },
};
send({ id: 1, method: "initialize", params });
