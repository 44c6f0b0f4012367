// Ways to a daemon from Node: a command (`pi-daemon connect`), the Unix socket, TCP.

import { spawn } from "node:child_process";
import { connect } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { StreamMessageReader, StreamMessageWriter } from "vscode-jsonrpc/node";
import type { Endpoint, Wire } from "./endpoint.ts";
import { Unreachable } from "./errors.ts";

export * from "./index.ts";

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Starts `argv`, whose stdin and stdout speak the protocol: `["pi-daemon", "connect"]` joins the user's shared daemon and
 * starts it where none runs, `["pi-daemon", "serve", "--stdio"]` is a daemon of one's own. */
export function command(argv: readonly [string, ...string[]], options: CommandOptions = {}): Endpoint {
  return {
    name: argv.join(" "),
    async open(): Promise<Wire> {
      const [program, ...args] = argv;
      const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], ...options });
      await new Promise<void>((resolve, reject) => {
        child.once("spawn", resolve);
        child.once("error", (error) => reject(new Unreachable(`${program} can't be started`, { cause: error })));
      });
      child.stdin.on("error", () => undefined); // that it has ended shows at its stdout
      return {
        reader: new StreamMessageReader(child.stdout),
        writer: new StreamMessageWriter(child.stdin),
        close: () => child.stdin.end(),
      };
    },
  };
}

/** The daemon at that socket; without a path, the user's own at its standard place. */
export function socket(path: string = standardSocket()): Endpoint {
  return { name: path, open: () => stream(() => connect(path), path) };
}

/** `token`: what is in the file `token` of the daemon's state directory. */
export function tcp(host: string, port: number, token: string): Endpoint {
  return { name: `${host}:${port}`, token, open: () => stream(() => connect(port, host), `${host}:${port}`) };
}

/** Where clients look for the daemon when they are told no place. */
export function standardSocket(): string {
  const runtime = process.env["XDG_RUNTIME_DIR"];
  if (runtime) return join(runtime, "pi-daemon", "daemon.sock");
  const states = process.env["XDG_STATE_HOME"] || join(homedir(), ".local", "state");
  return join(process.env["PI_DAEMON_STATE_DIR"] || join(states, "pi-daemon"), "run", "daemon.sock");
}

async function stream(dial: () => Duplex, name: string): Promise<Wire> {
  const made = dial();
  await new Promise<void>((resolve, reject) => {
    made.once("connect", resolve);
    made.once("error", (error) => reject(new Unreachable(`nobody listens at ${name}`, { cause: error })));
  });
  made.on("error", () => undefined); // its end tells as much
  return {
    reader: new StreamMessageReader(made),
    writer: new StreamMessageWriter(made),
    close: () => made.destroy(),
  };
}
