// A session that is followed: what the daemon says of it, kept up to date, also over lost connections.

import {
  type Client,
  ConnectionLost,
  ServerError,
  type SessionState,
  type StatsResult,
  type TreeNode,
  type Watch,
  type WatchEvent,
} from "../../../typescript/src/index.ts";
import type { Filter } from "../settings.ts";
import { Pace } from "./pace.ts";

/** What has happened. `leaf`: it is elsewhere now; `by`: by another client, of that name. */
export interface Change {
  readonly kind: "compaction" | "gone" | "leaf" | "problem" | "read";
  readonly by?: string;
  readonly message?: string;
}

export interface Target {
  readonly sessionId?: string;
  readonly path?: string;
  readonly recover?: "refuse" | "skip";
}

/** Sessions with more entries are folded by the daemon, unless somebody wants to see them all. */
export const FOLDED_FROM = 4_000;
const READINGS = 5;

export class Followed {
  readonly client: Client;
  state: SessionState;
  filter: Filter;
  /** Whether all entries are wanted, though there are many. */
  whole = false;
  nodes: readonly TreeNode[] = [];
  labelled: readonly TreeNode[] = [];
  stats: StatsResult | undefined;
  folded = false;
  /** The compaction that is under way. */
  compacting: string | undefined;
  gone = false;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #pace = new Pace(() => this.#read());
  #watch: Watch | undefined;
  #leafId: string | null;
  /** Whether the state has to be asked for again, too. */
  #stale = false;

  private constructor(client: Client, state: SessionState, filter: Filter) {
    this.client = client;
    this.state = state;
    this.filter = filter;
    this.#leafId = state.leafId;
  }

  /** Rejects as `session/open` does. `window`: the model's, in tokens. */
  static async open(client: Client, target: Target, filter: Filter, window: number | undefined, signal?: AbortSignal): Promise<Followed> {
    const options = window === undefined ? {} : { options: { contextWindow: window } };
    const state = await client.request("session/open", { ...target, ...options }, signal ? { signal } : {});
    const followed = new Followed(client, state, filter);
    followed.#watch = await client.watch(state.sessionId);
    void followed.#follow(followed.#watch);
    return followed;
  }

  get id(): string {
    return this.state.sessionId;
  }

  get leafId(): string | null {
    return this.#leafId;
  }

  listen(listener: (change: Change) => void): void {
    this.#listeners.add(listener);
  }

  /** Read it again: now, or after the reading that is under way. */
  refresh(): void {
    if (!this.gone) this.#pace.want();
  }

  /** The entry as the tree shows it. */
  node(id: string): TreeNode | undefined {
    return this.nodes.find((node) => node.id === id);
  }

  close(): void {
    this.#pace.stop();
    this.#listeners.clear();
    this.#watch?.close();
    if (!this.gone) void this.client.request("session/close", { sessionId: this.id }).catch(() => undefined);
  }

  #tell(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }

  async #follow(watch: Watch): Promise<void> {
    try {
      for await (const event of watch) {
        this.#take(event);
        if (!this.gone) this.refresh();
      }
    } catch (error) {
      this.#tell({ kind: "problem", message: error instanceof Error ? error.message : String(error) });
    }
  }

  #take(event: WatchEvent): void {
    switch (event.method) {
      case "session/leafChanged": {
        this.#leafId = event.params.leafId;
        const { origin, cause } = event.params;
        const own = origin?.clientId === this.client.server.capabilities.experimental.piDaemon.clientId;
        this.#tell({ kind: "leaf", ...(cause === "move" && origin !== null && !own && { by: origin.name }) });
        break;
      }
      case "session/renamed":
        this.state = { ...this.state, name: event.params.name };
        break;
      case "session/compaction":
        this.compacting = event.params.status === "started" ? event.params.compactionId : undefined;
        this.#tell({ kind: "compaction" });
        break;
      case "session/replaced":
        this.#tell({ kind: "problem", message: `the file was rewritten by another program (${event.params.reason}), and is read anew` });
        break;
      case "session/damaged": {
        const lost = event.params.lost?.length ?? 0;
        const what = lost > 0 ? `${lost} acknowledged entries are gone from the file` : "the file is damaged";
        this.#tell({ kind: "problem", message: `${what}; pi-daemon check names each line` });
        break;
      }
      case "session/failed":
        this.#tell({ kind: "problem", message: `it takes no more entries (${event.params.reason})` });
        break;
      case "session/deleted":
        this.gone = true;
        this.#tell({ kind: "gone" });
        break;
      case "resync":
        this.compacting = undefined;
        this.#stale = true;
        break;
    }
  }

  async #read(): Promise<void> {
    const sessionId = this.id;
    try {
      if (this.#stale) {
        this.state = await this.client.request("session/open", { sessionId }, { retry: true });
        this.#stale = false;
      }
      const stats = await this.client.request("session/stats", { sessionId }, { retry: true });
      const fold = !this.whole && stats.entryCount > FOLDED_FROM;
      const { nodes, leafId } = await this.#tree(this.filter, fold);
      const labelled = this.filter === "all" ? nodes : (await this.#tree("labeledOnly", false)).nodes;
      this.stats = stats;
      this.nodes = nodes;
      this.labelled = labelled;
      this.folded = fold;
      const moved = leafId !== this.#leafId;
      this.#leafId = leafId;
      if (moved) this.#tell({ kind: "leaf" });
      this.#tell({ kind: "read" });
    } catch (error) {
      if (error instanceof ConnectionLost) return; // the watch says when there is a daemon again
      if (error instanceof ServerError && error.reason === "sessionNotFound") this.gone = true;
      const message = error instanceof Error ? error.message : String(error);
      this.#tell(this.gone ? { kind: "gone" } : { kind: "problem", message });
    }
  }

  /** All pages of one revision: the daemon keeps those of the latest reader alone. */
  async #tree(filter: Filter, fold: boolean): Promise<{ nodes: TreeNode[]; leafId: string | null }> {
    for (let reading = 1; ; reading += 1) {
      const nodes: TreeNode[] = [];
      let cursor: string | undefined;
      try {
        for (;;) {
          const asked = { sessionId: this.id, filter, fold, ...(cursor !== undefined && { cursor }) };
          const page = await this.client.request("session/tree", asked, { retry: true });
          for (const node of page.nodes) nodes.push(node);
          cursor = page.nextCursor;
          if (cursor === undefined) return { nodes, leafId: page.leafId };
        }
      } catch (error) {
        const stale = error instanceof ServerError && error.data["path"] === "cursor";
        if (!stale || reading >= READINGS) throw error;
      }
    }
  }
}
