// The reference as another process that works on session files: node pi.mjs PACKAGE
// One JSON command a line on stdin, one JSON answer a line on stdout. Opened sessions are known by their path.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const [root] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(path.join(root, "dist", "core/session-manager.js")).href);
const managers = new Map();

const state = (manager) => ({
  path: manager.getSessionFile(),
  header: manager.getHeader(),
  entries: manager.getEntries(),
  leafId: manager.getLeafId(),
  name: manager.getSessionName() ?? null,
});

const keep = (manager) => {
  managers.set(manager.getSessionFile(), manager);
  return state(manager);
};

const info = (found) => ({ ...found, created: found.created.toJSON(), modified: found.modified.toJSON() });

// Stand at a gate, a file that somebody makes, after saying that one is there.
const wait = (gate) => {
  fs.writeFileSync(`${gate}.reached`, "");
  while (!fs.existsSync(gate)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
};

// Open a file, but stand at a gate before it is rewritten, and at another after so many lines of that.
const openHeld = ({ path, before, within, lines }) => {
  const { openSync, writeFileSync } = fs;
  let written = 0;
  fs.openSync = (file, flags, ...rest) => {
    if (file === path && flags === "w" && before) wait(before);
    return openSync(file, flags, ...rest);
  };
  fs.writeFileSync = (file, ...rest) => {
    if (typeof file === "number" && within && written++ === lines) {
      fs.writeFileSync = writeFileSync;
      wait(within);
    }
    return writeFileSync(file, ...rest);
  };
  syncBuiltinESMExports();
  try {
    return keep(SessionManager.open(path));
  } finally {
    Object.assign(fs, { openSync, writeFileSync });
    syncBuiltinESMExports();
  }
};

const commands = {
  openHeld,
  create: ({ cwd, dir, id }) => keep(SessionManager.create(cwd, dir, id ? { id } : undefined)),
  open: ({ path }) => keep(SessionManager.open(path)),
  state: ({ path }) => state(managers.get(path)),
  append: ({ path, calls }) => {
    const manager = managers.get(path);
    return calls.map(([name, ...args]) => manager[name](...args));
  },
  // As fast as it can; the ids of what it has appended.
  appendMany: ({ path, count, size }) => {
    const manager = managers.get(path);
    const content = "x".repeat(size);
    return Array.from({ length: count }, (_, number) =>
      manager.appendMessage({ role: "user", content: `${number} ${content}`, timestamp: number }),
    );
  },
  // What it makes of many files: the ids of their entries, those that have one.
  read: ({ paths }) =>
    paths.map((path) => {
      const manager = SessionManager.open(path);
      return manager.getEntries().map((entry) => entry?.id).filter((id) => typeof id === "string");
    }),
  fork: ({ path, cwd, dir }) => keep(SessionManager.forkFrom(path, cwd, dir)),
  branch: ({ path, leafId }) => {
    const manager = managers.get(path);
    managers.delete(path);
    manager.createBranchedSession(leafId);
    return keep(manager);
  },
  find: ({ cwd, id, dir }) => SessionManager.findById(cwd, id, dir) ?? null,
  list: async ({ cwd, dir }) => (await SessionManager.list(cwd, dir)).map(info),
  listAll: async ({ dir }) => (await SessionManager.listAll(dir)).map(info),
};

for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { op, ...args } = JSON.parse(line);
  let answer;
  try {
    answer = { result: await commands[op](args) };
  } catch (error) {
    answer = { error: String(error.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
