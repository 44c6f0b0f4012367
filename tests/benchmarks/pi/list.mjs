// node list.mjs PACKAGE_DIRECTORY: how long pi takes to list every session below PI_CODING_AGENT_DIR, as one JSON line.
import { pathToFileURL } from "node:url";

const [packageDirectory] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(`${packageDirectory}/dist/index.js`).href);

const began = process.hrtime.bigint();
const sessions = await SessionManager.listAll();
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
console.log(JSON.stringify({ seconds, sessions: sessions.length }));
