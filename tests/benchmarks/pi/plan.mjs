// node plan.mjs PACKAGE_DIRECTORY SESSION_FILE ROUNDS: milliseconds that planning a compaction takes pi with an open
// session, as one JSON line.
import { pathToFileURL } from "node:url";

const [packageDirectory, file, rounds] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${packageDirectory}/dist/${name}`).href);
const { SessionManager } = await load("index.js");
const { prepareCompaction, DEFAULT_COMPACTION_SETTINGS } = await load("core/compaction/compaction.js");

const manager = SessionManager.open(file);
const path = manager.getBranch();
const times = [];
let plan;
for (let round = 0; round < Number(rounds); round++) {
  const began = process.hrtime.bigint();
  plan = prepareCompaction(path, DEFAULT_COMPACTION_SETTINGS);
  times.push(Number(process.hrtime.bigint() - began) / 1e6);
}
console.log(JSON.stringify({ plan: times, path: path.length, messages: plan.messagesToSummarize.length + plan.turnPrefixMessages.length }));
