// node open.mjs PACKAGE_DIRECTORY SESSION_FILE: what it takes pi to open a session, as one JSON line.
// Memory in bytes: before and after opening, after collecting garbage (with --expose-gc), and the highest.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [packageDirectory, file] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(`${packageDirectory}/dist/index.js`).href);
const highest = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;

const before = process.memoryUsage.rss();
const began = process.hrtime.bigint();
const manager = SessionManager.open(file);
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
const after = process.memoryUsage.rss();
globalThis.gc?.();
const collected = process.memoryUsage.rss();
const entries = manager.getEntries().length;
console.log(JSON.stringify({ seconds, before, after, collected, highest: highest(), entries }));
