// The session that is shown: one at a time, chosen by the user, or the newest of the workspace.

import * as vscode from "vscode";
import { setting } from "../settings.ts";
import type { Daemon } from "./daemon.ts";
import { type Change, Followed, type Target } from "./follow.ts";

export class Chosen implements vscode.Disposable {
  readonly #daemon: Daemon;
  readonly #changed = new vscode.EventEmitter<Change>();
  readonly onChanged = this.#changed.event;
  #followed: Followed | undefined;
  #opening = 0;

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
  }

  get session(): Followed | undefined {
    return this.#followed;
  }

  /** Follow another session. Rejects as `session/open` does, and keeps the one that is shown then. */
  async open(target: Target, signal?: AbortSignal): Promise<Followed> {
    const opening = (this.#opening += 1);
    const client = await this.#daemon.client();
    const shown = this.#followed;
    if (shown !== undefined && shown.client === client && target.sessionId === shown.id && !shown.gone) return shown;
    const opened = await Followed.open(client, target, setting.filter(), setting.contextWindow(), signal);
    if (opening !== this.#opening) {
      opened.close(); // another was asked for meanwhile
      return this.#followed ?? opened;
    }
    this.#drop();
    this.#followed = opened;
    opened.listen((change) => this.#changed.fire(change));
    opened.refresh();
    void vscode.commands.executeCommand("setContext", "piSessions.session", true);
    this.#changed.fire({ kind: "read" });
    return opened;
  }

  /** After the connection is another: the same session, over it. */
  async again(): Promise<void> {
    const shown = this.#followed;
    if (shown !== undefined && !shown.gone) await this.open({ sessionId: shown.id });
  }

  #drop(): void {
    this.#followed?.close();
    this.#followed = undefined;
  }

  dispose(): void {
    this.#drop();
    this.#changed.dispose();
  }
}
