// The sessions there are, listed anew whenever one comes, changes or goes.

import * as vscode from "vscode";
import type { Client } from "../../../typescript/src/index.ts";
import type { SessionInfo } from "../../../typescript/src/protocol.ts";
import { folders } from "../settings.ts";
import type { Daemon } from "./daemon.ts";
import { type Groups, grouped } from "./listed.ts";
import { Pace } from "./pace.ts";

const PAGE = 100;

export class Catalog implements vscode.Disposable {
  readonly #daemon: Daemon;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onChanged = this.#changed.event;
  readonly #pace = new Pace(() => this.#read());
  readonly #told = new WeakSet<Client>();
  /** How many of all sessions are listed. */
  #limit = PAGE;
  groups: Groups = { here: [], elsewhere: [] };
  more = false;
  /** Whether there was an answer yet. */
  read = false;

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
  }

  refresh(): void {
    this.#pace.want();
  }

  showMore(): void {
    this.#limit += PAGE;
    this.refresh();
  }

  /** Hear of changes, on this connection and whatever daemon is behind it. */
  async subscribe(client: Client): Promise<void> {
    if (!this.#told.has(client)) {
      this.#told.add(client);
      client.on("catalog/changed", () => this.refresh());
      const again = () => void this.#subscribe(client).then(() => this.refresh());
      client.on("daemon/replaced", again);
      client.onConnection((there) => there && again());
    }
    await this.#subscribe(client);
  }

  async #subscribe(client: Client): Promise<void> {
    if (!this.#daemon.can("catalog")) return; // then `Read Anew` does it
    await client.request("catalog/subscribe", {}).catch((error: unknown) => this.#daemon.log.warn(String(error)));
  }

  async #read(): Promise<void> {
    try {
      const client = await this.#daemon.client();
      const pages: SessionInfo[][] = [];
      for (const cwd of folders()) {
        pages.push((await client.request("session/list", { cwd, limit: PAGE }, { retry: true })).sessions);
      }
      let cursor: string | undefined;
      for (let left = this.#limit; left > 0; left -= PAGE) {
        const page = await client.request("session/list", { limit: PAGE, ...(cursor !== undefined && { cursor }) }, { retry: true });
        pages.push(page.sessions);
        cursor = page.nextCursor;
        if (cursor === undefined) break;
      }
      this.groups = grouped(pages, folders());
      this.more = cursor !== undefined;
      this.read = true;
      this.#changed.fire();
    } catch (error) {
      this.#daemon.log.warn(`The sessions can't be listed: ${String(error)}`);
    }
  }

  dispose(): void {
    this.#pace.stop();
    this.#changed.dispose();
  }
}
