// Session files as documents: outline, hovers, definitions, diagnostics and lenses, by the daemon's own language server.

import { homedir } from "node:os";
import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn, type LanguageClientOptions } from "vscode-languageclient/node";
import type { Daemon } from "./session/daemon.ts";
import { setting } from "./settings.ts";

/** Commands that lenses name and that are done here, with progress and in words. By the name that the daemon has. */
export type Ours = (command: string, sessionId: string, entryId: string | undefined) => Promise<boolean>;

export class Language implements vscode.Disposable {
  readonly #daemon: Daemon;
  readonly #ours: Ours;
  #client: LanguageClient | undefined;
  #started: string | undefined;

  constructor(daemon: Daemon, ours: Ours) {
    this.#daemon = daemon;
    this.#ours = ours;
  }

  /** Starts it for the files of this sessions directory, or again where that or the command is another. */
  async start(): Promise<void> {
    const directory = this.#daemon.capabilities?.sessionsDir;
    if (directory === undefined) return;
    const argv = setting.command();
    const wanted = JSON.stringify([directory, argv]);
    if (wanted === this.#started) return;
    this.#started = wanted;
    await this.#stop();
    const [command = "", ...args] = argv;
    const server = { command, args, options: { cwd: homedir() } };
    const options: LanguageClientOptions = {
      documentSelector: [{ scheme: "file", pattern: `${escaped(directory)}/**/*.jsonl` }],
      initializationOptions: { piDaemon: { protocolVersion: 1 } },
      outputChannel: this.#daemon.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      markdown: { isTrusted: false, supportHtml: false },
      middleware: {
        executeCommand: async (name, given, next) => {
          const { sessionId, entryId } = (given[0] ?? {}) as { sessionId?: string; entryId?: string };
          if (sessionId !== undefined && (await this.#ours(name, sessionId, entryId))) return undefined;
          return next(name, given);
        },
      },
    };
    this.#client = new LanguageClient("pi-daemon", "pi-daemon", server, options);
    try {
      await this.#client.start();
    } catch (error) {
      this.#started = undefined;
      this.#daemon.log.warn(`Session files get no language features: ${String(error)}`);
    }
  }

  async #stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.dispose().catch(() => undefined);
  }

  dispose(): void {
    void this.#stop();
  }
}

/** A path as a pattern that fits nothing else. */
function escaped(path: string): string {
  return path.replace(/\/+$/, "").replace(/[*?[\]{}]/g, (mark) => `[${mark}]`);
}
