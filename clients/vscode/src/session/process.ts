// The way to the daemon: the command whose stdin and stdout speak the protocol. What it says otherwise goes to the log.

import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import { Unreachable } from "../../../typescript/src/errors.ts";
import type { Endpoint, Wire } from "../../../typescript/src/endpoint.ts";

const KEPT = 2_000;

export class Program implements Endpoint {
  readonly name: string;
  readonly argv: readonly string[];
  /** The exit code of the last run, once it has ended. */
  ended: number | undefined;
  /** The end of what it wrote to stderr. */
  last = "";
  readonly #log: (text: string) => void;

  constructor(argv: readonly string[], log: (text: string) => void) {
    this.argv = argv;
    this.name = argv.join(" ");
    this.#log = log;
  }

  async open(): Promise<Wire> {
    const [program = "", ...args] = this.argv;
    this.ended = undefined;
    this.last = "";
    // Not in the workspace's directory, whose files are not to be taken for programs or modules.
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], cwd: homedir() });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(new Unreachable(`${program} can't be started`, { cause: error })));
    });
    child.stdin.on("error", () => undefined); // that it has ended shows at its stdout
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.last = (this.last + text).slice(-KEPT);
      this.#log(text.trimEnd());
    });
    child.once("exit", (code) => (this.ended = code ?? -1));
    return {
      reader: new StreamMessageReader(child.stdout),
      writer: new StreamMessageWriter(child.stdin),
      close: () => void child.stdin.end(),
    };
  }

  /** The exit code, given the program a moment to end after its stdout did. */
  async exit(patience = 500): Promise<number | undefined> {
    for (let waited = 0; this.ended === undefined && waited < patience; waited += 20) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return this.ended;
  }
}
