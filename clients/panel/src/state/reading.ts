// What the panel reads of a session, page by page. All reject with ServerError and ConnectionLost.

import type { Client, ExplainedEntry, Json, TreeNode } from "../../../typescript/src/index.ts";
import type { Cover } from "../tree/rows.ts";

export type Entry = { [member: string]: Json } & { id: string; type: string };

const KEPT_ENTRIES = 40;

export interface WholeTree {
  readonly nodes: readonly TreeNode[];
  readonly leafId: string | null;
  readonly revision: number;
}

export async function readTree(client: Client, sessionId: string): Promise<WholeTree> {
  const nodes: TreeNode[] = [];
  for (let cursor: string | undefined; ; ) {
    const asked = { sessionId, filter: "all" as const, ...(cursor !== undefined && { cursor }) };
    const page = await client.request("session/tree", asked, { retry: true });
    nodes.push(...page.nodes);
    cursor = page.nextCursor;
    if (cursor === undefined) return { nodes, leafId: page.leafId, revision: page.revision };
  }
}

/** By entry: why the model is sent it, or not. */
export async function readReasons(client: Client, sessionId: string): Promise<Map<string, ExplainedEntry>> {
  const reasons = new Map<string, ExplainedEntry>();
  for (let cursor: string | undefined; ; ) {
    const asked = { sessionId, ...(cursor !== undefined && { cursor }) };
    const page = await client.request("session/explain", asked, { retry: true });
    for (const entry of page.entries) if (entry.id !== null) reasons.set(entry.id, entry);
    cursor = page.nextCursor;
    if (cursor === undefined) return reasons;
  }
}

/** What the compactions of these ids stand for. */
export async function readCovers(client: Client, sessionId: string, ids: readonly string[]): Promise<Cover[]> {
  if (ids.length === 0) return [];
  const { entries } = await client.request("session/entries", { sessionId, ids: [...ids] }, { retry: true });
  return (entries as Entry[]).map(({ id, firstKeptEntryId }) => ({
    compactionId: id,
    firstKept: typeof firstKeptEntryId === "string" ? firstKeptEntryId : null,
  }));
}

/** Entries as they are stored; the last ones that were asked for are kept. */
export class Entries {
  readonly #client: Client;
  readonly #sessionId: string;
  readonly #kept = new Map<string, Promise<Entry>>();

  constructor(client: Client, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  get(id: string): Promise<Entry> {
    const known = this.#kept.get(id);
    if (known !== undefined) return known;
    const asked = this.#client
      .request("session/entries", { sessionId: this.#sessionId, ids: [id] }, { retry: true })
      .then(({ entries }) => entries[0] as Entry);
    asked.catch(() => this.#kept.delete(id));
    this.#kept.set(id, asked);
    for (const old of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_ENTRIES) break;
      this.#kept.delete(old);
    }
    return asked;
  }

  clear(): void {
    this.#kept.clear();
  }
}
