// One session as the panel knows it: its tree, its leaf, why the model knows an entry or not, and what comes meanwhile.

import { batch, computed, signal } from "@preact/signals";
import type {
  Client,
  ExplainedEntry,
  Origin,
  SessionEvent,
  SessionState,
  StatsResult,
  TreeNode,
  Watch,
} from "../../../typescript/src/index.ts";
import { ServerError } from "../../../typescript/src/index.ts";
import { Tree, order, shownAbove } from "../tree/model.ts";
import { type Cover, coverKey, rowsOf } from "../tree/rows.ts";
import { Later } from "./later.ts";
import { Entries, type Entry, readCovers, readReasons, readTree } from "./reading.ts";

/** Visible entries from which on turns are folded until somebody unfolds them. */
const FOLDED_FROM = 60;

/** After a change, how long the panel waits for the next one before it asks what it must ask anew. */
const SOON_MS = 120;
const LATER_MS = 1_500;
const SELDOM_MS = 5_000;

export interface Told {
  readonly text: string;
  readonly details?: unknown;
}

export class Session {
  readonly id: string;
  readonly state = signal<SessionState | null>(null);
  readonly leafId = signal<string | null>(null);
  readonly reasons = signal<ReadonlyMap<string, ExplainedEntry>>(new Map());
  readonly stats = signal<StatsResult | null>(null);
  readonly selected = signal<string | null>(null);
  readonly marked = signal<string | null>(null);
  readonly all = signal(false);
  readonly chosen = signal<ReadonlyMap<string, boolean>>(new Map());
  readonly foldedByDefault = signal(false);
  readonly covers = signal<readonly Cover[]>([]);
  readonly loaded = signal(false);
  readonly gone = signal(false);
  readonly compacting = signal<Origin | null | undefined>(undefined);
  /** Who moved the leaf last, if it wasn't this panel. */
  readonly movedBy = signal<string | null>(null);
  /** Entries that came while the panel was open. */
  readonly fresh = new Set<string>();

  readonly tree = new Tree();
  readonly #version = signal(0);
  readonly #client: Client;
  readonly #tell: (told: Told) => void;
  readonly #entries: Entries;
  readonly #timers = new Later();
  #watch: Watch | undefined;
  #loading: SessionEvent[] | undefined;
  readonly #pending: SessionEvent[] = [];
  #revision = 0;
  #closed = false;
  #awaited: string | null = null;

  readonly path = computed<ReadonlySet<string>>(() => {
    this.#version.value;
    return new Set(this.tree.path(this.leafId.value));
  });

  readonly placed = computed(() => {
    this.#version.value;
    return order(this.tree, this.path.value, this.all.value);
  });

  /** The row that bears the leaf: the leaf itself may be a label or a setting. */
  readonly leafRow = computed(() => {
    this.#version.value;
    return shownAbove(this.tree, this.leafId.value, this.all.value);
  });

  readonly activeCovers = computed(() => this.covers.value.filter((cover) => this.path.value.has(cover.compactionId)));

  readonly rows = computed(() =>
    rowsOf(this.placed.value, this.leafRow.value, this.activeCovers.value, {
      folded: this.foldedByDefault.value,
      chosen: this.chosen.value,
    }),
  );

  constructor(client: Client, id: string, tell: (told: Told) => void) {
    this.#client = client;
    this.id = id;
    this.#entries = new Entries(client, id);
    this.#tell = tell;
  }

  /** Everything at once; what comes meanwhile waits. Rejects with ServerError, ConnectionLost. */
  async open(recover: boolean): Promise<void> {
    this.#loading = [];
    const opened = this.#client.request("session/open", { sessionId: this.id, ...(recover && { recover: "skip" }) });
    if (recover) await opened; // until then the others would be refused
    const watching = this.#client.watch(this.id);
    const read = this.#read();
    const [state, watch] = await Promise.all([opened, watching, read]);
    this.#watch = watch;
    if (this.#closed) return watch.close();
    this.state.value = state;
    void this.#follow(watch);
  }

  close(): void {
    this.#closed = true;
    this.#watch?.close();
    this.#timers.end();
    if (this.state.value !== null) void this.#client.request("session/close", { sessionId: this.id }).catch(() => undefined);
  }

  /** The entry as it is stored. Rejects with ServerError, ConnectionLost. */
  entry(id: string): Promise<Entry> {
    return this.#entries.get(id);
  }

  choose(key: string, folded: boolean): void {
    this.chosen.value = new Map(this.chosen.value).set(key, folded);
  }

  foldAll(folded: boolean): void {
    batch(() => {
      this.chosen.value = new Map(this.activeCovers.value.map(({ compactionId }) => [coverKey(compactionId), folded]));
      this.foldedByDefault.value = folded;
    });
  }

  /** Unfolds whatever hides the entry, and selects it; once it comes, where the session hasn't got it yet. */
  reveal(id: string): void {
    this.#awaited = this.tree.nodes.has(id) ? null : id;
    const shown = shownAbove(this.tree, id, this.all.value);
    if (shown === null) return;
    batch(() => {
      const at = this.placed.value.findIndex(({ node }) => node.id === shown);
      const place = this.placed.value[at];
      if (place === undefined) return;
      const has = () => this.rows.value.some((row) => row.key === shown);
      if (!has() && place.head !== shown) this.choose(place.head, false);
      for (const cover of this.activeCovers.value) if (!has()) this.choose(coverKey(cover.compactionId), false);
      this.selected.value = shown;
    });
  }

  // What the daemon says.

  async #read(): Promise<void> {
    const { nodes, leafId, revision } = await readTree(this.#client, this.id);
    this.#revision = revision;
    const covers = await readCovers(this.#client, this.id, compactionsOf(nodes));
    const waiting = this.#loading ?? [];
    this.#loading = undefined;
    batch(() => {
      this.tree.clear();
      for (const node of nodes) this.tree.add(pick(node));
      this.leafId.value = leafId;
      this.covers.value = covers;
      if (!this.loaded.value) this.foldedByDefault.value = nodes.length > FOLDED_FROM;
      this.loaded.value = true;
      this.#changed();
      this.#openLeafTurn();
      for (const event of waiting) if (event.params.revision > this.#revision) this.#take(event);
      if (this.selected.value === null || !this.tree.nodes.has(this.selected.value)) this.selected.value = this.leafRow.value;
    });
    if (leafId !== null && !this.tree.nodes.has(leafId)) await this.#findLeaf(leafId);
    this.#timers.do("stats", SOON_MS, () => this.#readStats());
    this.#timers.do("reasons", 0, () => this.#readReasons());
  }

  /** A leaf that a tree leaves out hangs under the last entry of its path that isn't. */
  async #findLeaf(leafId: string): Promise<void> {
    const { entryIds } = await this.#client.request("session/path", { sessionId: this.id, leafId }, { retry: true });
    const known = entryIds.findLast((id) => this.tree.nodes.has(id)) ?? null;
    this.tree.add({ id: leafId, parentId: known, type: "message", role: "assistant", preview: "", timestamp: "" });
    this.#changed();
  }

  async #follow(watch: Watch): Promise<void> {
    try {
      for await (const event of watch) {
        if (event.method === "resync" || event.method === "session/replaced") await this.#readAnew();
        else if (this.#loading !== undefined) this.#loading.push(event);
        else if (this.#pending.push(event) === 1) setTimeout(() => this.#takePending());
      }
    } catch (error) {
      if (error instanceof ServerError && !this.#closed) this.#tell({ text: error.message });
    }
  }

  /** All that has come by now at once: the tree is ordered anew for each time, not for each entry. */
  #takePending(): void {
    const events = this.#pending.splice(0);
    if (this.#closed) return;
    batch(() => {
      const leafId = this.leafId.value;
      for (const event of events) this.#take(event);
      if (this.leafId.value !== leafId) this.#openLeafTurn();
    });
    if (this.#awaited !== null && this.tree.nodes.has(this.#awaited)) this.reveal(this.#awaited);
  }

  async #readAnew(): Promise<void> {
    this.#pending.length = 0;
    this.#loading = [];
    this.#entries.clear();
    try {
      await this.#read();
      this.state.value = await this.#client.request("session/open", { sessionId: this.id }, { retry: true });
    } catch (error) {
      this.#loading = undefined;
      if (error instanceof Error && !this.#closed) this.#tell({ text: error.message });
    }
  }

  get #clientId(): string {
    return this.#client.server.capabilities.experimental.piDaemon.clientId;
  }

  #take(event: SessionEvent): void {
    const { params } = event;
    this.#revision = params.revision;
    const other = params.origin !== null && params.origin.clientId !== this.#clientId ? params.origin.name : null;
    switch (event.method) {
      case "session/appended":
        for (const node of event.params.entries) {
          this.tree.add(pick(node));
          this.fresh.add(node.id);
        }
        this.#changed();
        this.#compacted(event.params.entries);
        this.#timers.do("state", SOON_MS, () => this.#readState());
        this.#timers.do("reasons", event.params.entries.every(isPlain) ? LATER_MS : SOON_MS, () => this.#readReasons());
        break;
      case "session/leafChanged": {
        const { cause, leafId } = event.params;
        this.leafId.value = leafId;
        this.movedBy.value = other ?? (cause === "external" ? "another program" : null);
        if (cause === "move") {
          if (other !== null) this.#tell({ text: `${other || "Another client"} moved the leaf.` });
          this.#timers.do("reasons", 0, () => this.#readReasons());
        }
        this.#timers.do("state", SOON_MS, () => this.#readState());
        break;
      }
      case "session/labelChanged": {
        const node = this.tree.nodes.get(event.params.targetId);
        if (node !== undefined) this.tree.nodes.set(node.id, { ...node, label: event.params.label ?? undefined });
        this.#changed();
        break;
      }
      case "session/renamed":
        if (this.state.value !== null) this.state.value = { ...this.state.value, name: event.params.name };
        break;
      case "session/compaction":
        this.compacting.value = event.params.status === "started" ? event.params.origin : undefined;
        if (event.params.status === "failed" && other !== null) this.#tell({ text: `A compaction failed: ${event.params.reason}.` });
        break;
      case "session/compacted":
        if (other !== null || params.origin === null) {
          this.#tell({ text: `${other ?? "Another program"} compacted the session.`, details: event.params.retention });
        }
        break;
      case "session/damaged":
        if (this.state.value !== null) this.state.value = { ...this.state.value, damage: event.params.damage };
        this.#tell({ text: "The session's file is damaged." });
        break;
      case "session/failed":
        this.#tell({ text: `The session takes no more entries: ${event.params.reason}.` });
        break;
      case "session/deleted":
        this.gone.value = true;
        this.#tell({ text: "The session's file is gone." });
        break;
    }
  }

  #compacted(entries: readonly TreeNode[]): void {
    const ids = compactionsOf(entries);
    if (ids.length > 0) this.#addCovers(ids).catch(() => undefined); // it is drawn as an entry then
  }

  #changed(): void {
    this.#version.value += 1;
  }

  /** The turn that the leaf is in stays open, as something may come there. */
  #openLeafTurn(): void {
    if (!this.foldedByDefault.value) return;
    const leaf = this.leafRow.value;
    const place = this.placed.value.findLast(({ node }) => node.id === leaf);
    if (place !== undefined && !this.chosen.value.has(place.head)) this.choose(place.head, false);
  }

  async #readReasons(): Promise<void> {
    this.reasons.value = await readReasons(this.#client, this.id);
  }

  /** How large the context is now; the window and the rest of the sums take the daemon longer, and seldom change. */
  async #readState(): Promise<void> {
    this.state.value = await this.#client.request("session/configure", { sessionId: this.id }, { retry: true });
    this.#timers.do("stats", SELDOM_MS, () => this.#readStats());
  }

  async #readStats(): Promise<void> {
    this.stats.value = await this.#client.request("session/stats", { sessionId: this.id }, { retry: true });
  }

  /** New compactions; what is chosen stays in view. */
  async #addCovers(ids: readonly string[]): Promise<void> {
    const found = await readCovers(this.#client, this.id, ids);
    batch(() => {
      this.covers.value = [...this.covers.value.filter((one) => !ids.includes(one.compactionId)), ...found];
      const selected = this.selected.value;
      if (selected !== null && !this.rows.value.some(({ key }) => key === selected)) this.reveal(selected);
    });
  }
}

function compactionsOf(nodes: readonly TreeNode[]): string[] {
  return nodes.filter(({ type }) => type === "compaction").map(({ id }) => id);
}

/** What doesn't change why other entries are in the context. */
function isPlain({ type, role }: TreeNode): boolean {
  return type === "message" && role !== "system";
}

function pick({ id, parentId, type, role, preview, label, timestamp }: TreeNode) {
  return { id, parentId, type, role, preview, label, timestamp };
}
