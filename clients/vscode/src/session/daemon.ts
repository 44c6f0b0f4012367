// The connection to the shared daemon: made when it is first needed, and told of in the views.

import * as vscode from "vscode";
import { Client, ServerError } from "../../../typescript/src/index.ts";
import type { PiDaemonCapabilities } from "../../../typescript/src/protocol.ts";
import { setting } from "../settings.ts";
import { Editor } from "../show/model.ts";
import { unjoined, type Advice } from "./advice.ts";
import { Program } from "./process.ts";

export type State = "connecting" | "failed" | "missing" | "off" | "ready";

export class Unjoined extends Error {
  readonly advice: Advice;

  constructor(advice: Advice) {
    super(advice.message);
    this.advice = advice;
  }
}

export class Daemon implements vscode.Disposable {
  readonly log: vscode.LogOutputChannel;
  readonly #changed = new vscode.EventEmitter<void>();
  /** The connection is there, lost or another. */
  readonly onChanged = this.#changed.event;
  readonly #editor: Editor;
  #client: Promise<Client> | undefined;
  #known: Client | undefined;
  #state: State = "off";
  #offered = false;

  constructor(log: vscode.LogOutputChannel) {
    this.log = log;
    this.#editor = new Editor(log);
    this.#editor.onChanged(() => void this.#offerAnew());
  }

  get state(): State {
    return this.#state;
  }

  /** Of the last connection; undefined before the first. */
  get capabilities(): PiDaemonCapabilities | undefined {
    return this.#known?.connected === true ? this.#known.server.capabilities.experimental.piDaemon : undefined;
  }

  can(feature: string): boolean {
    return this.capabilities?.features[feature] !== undefined;
  }

  /** Joins the daemon, or starts it. Rejects with Unjoined. */
  client(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  /** Another connection, after the settings have changed or somebody has asked for it. */
  async again(): Promise<Client> {
    await this.#close();
    return this.client();
  }

  async #connect(): Promise<Client> {
    this.#set("connecting");
    const program = new Program(setting.command(), (text) => this.log.info(text));
    const summarizer = await this.#editor.summarizer();
    this.#offered = summarizer !== undefined;
    try {
      const name = vscode.env.appName || "VS Code";
      const client = await Client.connect(program, { name, ...(summarizer && { summarizer }) });
      this.#known = client;
      client.onConnection((there) => this.#set(there ? "ready" : "connecting"));
      client.on("daemon/replaced", ({ version }) => {
        this.log.info(`The daemon was replaced by one of version ${version}.`);
        this.#changed.fire();
      });
      this.log.info(`Joined pi-daemon ${client.server.serverInfo.version} by ${program.name}.`);
      this.#set("ready");
      return client;
    } catch (error) {
      const ended = error instanceof ServerError ? undefined : await program.exit();
      const advice = unjoined(program.argv[0] ?? "", error, ended, program.last.trim().split("\n").at(-1) ?? "");
      this.log.error(advice.message);
      this.#set(advice.remedies.includes("settings") ? "missing" : "failed");
      throw new Unjoined(advice);
    }
  }

  #set(state: State): void {
    this.#state = state;
    void vscode.commands.executeCommand("setContext", "piSessions.state", state);
    this.#changed.fire();
  }

  /** The editor's models came or went, or the user has allowed it, or doesn't any more. */
  async #offerAnew(): Promise<void> {
    if (this.#client === undefined || ((await this.#editor.summarizer()) !== undefined) === this.#offered) return;
    await this.again().catch(() => undefined); // told by the state, and whoever asks next
  }

  async #close(): Promise<void> {
    const client = this.#client;
    this.#client = this.#known = undefined;
    await client?.then((one) => one.close()).catch(() => undefined);
  }

  dispose(): void {
    this.#editor.dispose();
    this.#changed.dispose();
    void this.#close();
  }
}
