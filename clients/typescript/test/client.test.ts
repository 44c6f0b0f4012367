// Against the real daemon. PI_DAEMON_ARGV is how `pi-daemon` is run, as a JSON array; the environment names its directories.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { type Client as AnyClient, type Json, command, socket, tcp } from "../src/node.ts";
import { Client, ServerError, Unreachable, type WatchEvent } from "../src/node.ts";
import { webSocketEndpoint } from "../src/websocket.ts";

const argv = JSON.parse(process.env["PI_DAEMON_ARGV"] ?? "[]") as [string, ...string[]];
const state = process.env["PI_DAEMON_STATE_DIR"] ?? "";
const clients: AnyClient[] = [];

function run(...args: string[]): Record<string, Json> {
  const [program, ...rest] = argv;
  return JSON.parse(execFileSync(program, [...rest, ...args, "--json"], { encoding: "utf8" }));
}

async function connected(...args: Parameters<typeof Client.connect>): Promise<Client> {
  const client = await Client.connect(...args);
  clients.push(client);
  return client;
}

const bridge = () => command([...argv, "connect"]);
const user = (content: string): Json => ({ type: "message", message: { role: "user", content, timestamp: 1 } });

async function talked(client: Client, turns = 6): Promise<string> {
  const { sessionId } = await client.request("session/create", {
    cwd: "/project",
    persist: "immediate",
    options: { keepRecentTokens: 800 },
  });
  for (let number = 0; number < turns; number += 1) {
    await client.request("session/append", { sessionId, entries: [user(`Request ${number}: ${"word ".repeat(400)}`)] });
  }
  return sessionId;
}

async function next(events: AsyncIterator<WatchEvent>): Promise<WatchEvent> {
  const { value, done } = await events.next();
  assert.ok(!done);
  return value;
}

async function until(events: AsyncIterator<WatchEvent>, method: WatchEvent["method"]): Promise<WatchEvent> {
  for (;;) {
    const event = await next(events);
    if (event.method === method) return event;
  }
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});

after(() => {
  run("stop");
});

test("a conversation through the bridge", async () => {
  const client = await connected(bridge(), { name: "typescript" });
  assert.equal(client.server.serverInfo.name, "pi-daemon");
  const { sessionId } = await client.request("session/create", { cwd: "/project" });
  const reply = await client.request("session/append", { sessionId, entries: [user("Hello")], expectedLeafId: null });
  assert.equal(reply.durability, "memory");
  const context = await client.request("session/context", { sessionId });
  assert.deepEqual(context.sources, [reply.leafId]);
  await assert.rejects(
    client.request("session/append", { sessionId, entries: [user("late")], expectedLeafId: null }),
    (error: unknown) => error instanceof ServerError && error.reason === "leafMoved" && error.data["leafId"] === reply.leafId,
  );
});

test("what another client does is heard, once and in order", async () => {
  const [writes, watches] = [await connected(bridge(), { name: "editor" }), await connected(bridge())];
  const sessionId = await talked(writes, 1);
  const watch = await watches.watch(sessionId);
  const events = watch[Symbol.asyncIterator]();
  const { revision } = await writes.request("session/append", { sessionId, entries: [user("one")] });
  await writes.request("session/label", { sessionId, entryId: (await writes.request("session/path", { sessionId })).entryIds[0]!, label: "start" });
  const heard = [await next(events), await next(events), await next(events), await next(events), await next(events)];
  assert.deepEqual(
    heard.map((event) => [event.method, event.method === "resync" ? 0 : event.params.revision - revision]),
    [
      ["session/appended", 0],
      ["session/leafChanged", 0],
      ["session/appended", 1],
      ["session/leafChanged", 1],
      ["session/labelChanged", 1],
    ],
  );
  const [first] = heard;
  assert.ok(first !== undefined && first.method !== "resync");
  assert.equal(first.params.origin?.name, "editor");
  watch.close();
  assert.ok((await events.next()).done);
});

test("a daemon that is killed is followed by the next, and watches go on", async () => {
  const client = await connected(bridge());
  const sessionId = await talked(client, 2);
  const watch = await client.watch(sessionId);
  const events = watch[Symbol.asyncIterator]();
  const { pid, daemonId } = await client.request("daemon/status", {});
  process.kill(pid, "SIGKILL");
  const id = "an-id-of-our-own";
  const draft = { ...(user("after") as object), id } as Json;
  const reply = await client.request("session/append", { sessionId, entries: [draft] }, { retry: true });
  assert.equal(reply.entries[0]!.id, id);
  assert.notEqual((await client.request("daemon/status", {})).daemonId, daemonId);
  await until(events, "resync");
  await client.request("session/append", { sessionId, entries: [user("and on")] });
  const appended = await until(events, "session/appended");
  assert.ok(appended.method === "session/appended" && appended.params.entries.length === 1);
});

test("a socket that is lost is made again", async () => {
  const place = join(state, "own.sock");
  const serve = ["serve", "--detach", "--idle", "0", "--socket", place];
  run(...serve);
  const client = await connected(socket(place));
  const seen: boolean[] = [];
  client.onConnection((is) => seen.push(is));
  const sessionId = await talked(client, 2);
  const events = (await client.watch(sessionId))[Symbol.asyncIterator]();
  process.kill((await client.request("daemon/status", {})).pid, "SIGKILL");
  while (client.connected) await new Promise((resolve) => setImmediate(resolve));
  run(...serve);
  await client.request("session/append", { sessionId, entries: [user("after")] }, { retry: true });
  await until(events, "resync");
  assert.deepEqual(seen, [false, true]);
  run("stop", "--socket", place);
});

test("over TCP and over a WebSocket, with the token", async () => {
  const place = join(state, "other.sock");
  const told = run("serve", "--detach", "--socket", place, "--tcp", "127.0.0.1:0", "--ws", "127.0.0.1:0");
  const ports = new Map((told["transports"] as string[]).map((one) => [one.split(":")[0], Number(one.split(":").at(-1))]));
  const token = readFileSync(join(state, "token"), "utf8").trim();
  const ways = [
    (given: string) => tcp("127.0.0.1", ports.get("tcp")!, given),
    (given: string) => webSocketEndpoint(`ws://127.0.0.1:${ports.get("websocket")!}`, given),
  ];
  for (const way of ways) {
    const client = await connected(way(token));
    const sessionId = await talked(client, 1);
    const events = (await client.watch(sessionId))[Symbol.asyncIterator]();
    await client.request("session/append", { sessionId, entries: [user("\u{1f600} \ud83d")] });
    assert.equal((await next(events)).method, "session/appended");
    await assert.rejects(Client.connect(way("wrong")), (error: unknown) => error instanceof ServerError && error.reason === "unauthorized");
  }
  run("stop", "--socket", place);
});

test("it makes summaries for others, and is told when none is wanted any more", async () => {
  const asked: string[] = [];
  let ended: (() => void) | undefined;
  const given = new Promise<void>((resolve) => (ended = resolve));
  await connected(bridge(), {
    name: "model",
    summarizer: async (wanted, signal) => {
      asked.push(wanted.kind);
      if (wanted.instructions !== "hang") return { summary: "## Goal\n- From TypeScript\n", model: "ts" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      ended?.();
      throw new Error("aborted");
    },
  });
  const client = await connected(bridge());
  const sessionId = await talked(client);
  const stop = new AbortController();
  const hanging = client.request("session/compact", { sessionId, instructions: "hang" }, { signal: stop.signal });
  while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  await assert.rejects(hanging, (error: unknown) => error instanceof ServerError && error.reason === "cancelled");
  await given;
  const told: string[] = [];
  const done = await client.request("session/compact", { sessionId }, { progress: (value) => told.push(value.kind) });
  assert.equal(done.model, "ts");
  assert.match(done.summary, /From TypeScript/);
  assert.equal(told.at(0), "begin");
  assert.equal(told.at(-1), "end");
});

test("nobody is there", async () => {
  await assert.rejects(Client.connect(socket("/nowhere/daemon.sock")), Unreachable);
  await assert.rejects(Client.connect(command(["/nowhere/pi-daemon"])), Unreachable);
  assert.ok(!existsSync("/nowhere"));
});
