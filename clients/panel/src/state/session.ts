// One session as the panel knows it: its tree, its leaf, why the model knows an entry or not, and what comes meanwhile.

import { batch, computed, signal } from "@preact/signals";
import type {
  Client,
  ExplainedEntry,
  Json,
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

export type Entry = { [member: string]: Json } & { id: string; type: string };

/** Visible entries from which on turns are folded until somebody unfolds them. */
const FOLDED_FROM = 60;

/** After a change, how long the panel waits for the next one before it asks what it must ask anew. */
const SOON_MS = 120;
const LATER_MS = 1_500;
const SELDOM_MS = 5_000;
const PATIENCE = 4;

const KEPT_ENTRIES = 40;

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
  readonly #entries = new Map<string, Promise<Entry>>();
  #watch: Watch | undefined;
  #loading: SessionEvent[] | undefined;
  readonly #pending: SessionEvent[] = [];
  #revision = 0;
  readonly #timers = new Map<string, { until: number; timer: ReturnType<typeof setTimeout> }>();
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
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    if (this.state.value !== null) void this.#client.request("session/close", { sessionId: this.id }).catch(() => undefined);
  }

  /** The entry as it is stored. Rejects with ServerError, ConnectionLost. */
  entry(id: string): Promise<Entry> {
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const asked = this.#client
      .request("session/entries", { sessionId: this.id, ids: [id] })
      .then(({ entries }) => entries[0] as Entry);
    asked.catch(() => this.#entries.delete(id));
    this.#entries.set(id, asked);
    for (const old of this.#entries.keys()) {
      if (this.#entries.size <= KEPT_ENTRIES) break;
      this.#entries.delete(old);
    }
    return asked;
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
    const nodes: TreeNode[] = [];
    let cursor: string | undefined;
    let leafId: string | null = null;
    do {
      const page = await this.#client.request(
        "session/tree",
        { sessionId: this.id, filter: "all", ...(cursor !== undefined && { cursor }) },
        { retry: true },
      );
      nodes.push(...page.nodes);
      leafId = page.leafId;
      this.#revision = page.revision;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const covers = await this.#coversOf(nodes.filter(({ type }) => type === "compaction").map(({ id }) => id));
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
    this.#later("stats", SOON_MS, () => this.#readStats());
    this.#later("reasons", 0, () => this.#readReasons());
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
        this.#later("state", SOON_MS, () => this.#readState());
        this.#later("reasons", event.params.entries.every(isPlain) ? LATER_MS : SOON_MS, () => this.#readReasons());
        break;
      case "session/leafChanged": {
        const { cause, leafId } = event.params;
        this.leafId.value = leafId;
        this.movedBy.value = other ?? (cause === "external" ? "another program" : null);
        if (cause === "move") {
          if (other !== null) this.#tell({ text: `${other || "Another client"} moved the leaf.` });
          this.#later("reasons", 0, () => this.#readReasons());
        }
        this.#later("state", SOON_MS, () => this.#readState());
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
    const ids = entries.filter(({ type }) => type === "compaction").map(({ id }) => id);
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
    const reasons = new Map<string, ExplainedEntry>();
    let cursor: string | undefined;
    do {
      const page = await this.#client.request(
        "session/explain",
        { sessionId: this.id, ...(cursor !== undefined && { cursor }) },
        { retry: true },
      );
      for (const entry of page.entries) if (entry.id !== null) reasons.set(entry.id, entry);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    this.reasons.value = reasons;
  }

  /** How large the context is now; the window and the rest of the sums take the daemon longer, and seldom change. */
  async #readState(): Promise<void> {
    this.state.value = await this.#client.request("session/configure", { sessionId: this.id }, { retry: true });
    this.#later("stats", SELDOM_MS, () => this.#readStats());
  }

  async #readStats(): Promise<void> {
    this.stats.value = await this.#client.request("session/stats", { sessionId: this.id }, { retry: true });
  }

  async #coversOf(ids: readonly string[]): Promise<Cover[]> {
    if (ids.length === 0) return [];
    const asked = { sessionId: this.id, ids: [...ids] };
    const { entries } = await this.#client.request("session/entries", asked, { retry: true });
    return (entries as Entry[]).map(({ id, firstKeptEntryId }) => ({
      compactionId: id,
      firstKept: typeof firstKeptEntryId === "string" ? firstKeptEntryId : null,
    }));
  }

  /** New compactions; what is chosen stays in view. */
  async #addCovers(ids: readonly string[]): Promise<void> {
    const found = await this.#coversOf(ids);
    batch(() => {
      this.covers.value = [...this.covers.value.filter((one) => !ids.includes(one.compactionId)), ...found];
      const selected = this.selected.value;
      if (selected !== null && !this.rows.value.some(({ key }) => key === selected)) this.reveal(selected);
    });
  }

  /** Once, some time after the last one who asked for it; where they don't cease to ask, after some times that time. */
  #later(what: string, after: number, work: () => Promise<void>): void {
    const now = performance.now();
    const known = this.#timers.get(what);
    clearTimeout(known?.timer);
    const until = known?.until ?? now + PATIENCE * after;
    const run = () => {
      this.#timers.delete(what);
      if (!this.#closed) work().catch(() => undefined); // the next change asks again
    };
    this.#timers.set(what, { until, timer: setTimeout(run, Math.min(after, Math.max(0, until - now))) });
  }
}

/** What doesn't change why other entries are in the context. */
function isPlain({ type, role }: TreeNode): boolean {
  return type === "message" && role !== "system";
}

function pick({ id, parentId, type, role, preview, label, timestamp }: TreeNode) {
  return { id, parentId, type, role, preview, label, timestamp };
}
