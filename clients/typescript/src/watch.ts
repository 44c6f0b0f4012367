// A session's notifications, over lost connections and restarted daemons: each once and in order, or a resync.

import type { Connection } from "./connection.ts";
import type { Notifications, SubscribeResult, SubscribeSince } from "./protocol.ts";

type Named = { [N in keyof Notifications]: { method: N; params: Notifications[N] } }[keyof Notifications];

/** A notification of the session. After `session/replaced` read the session anew: it is another instance. */
export type SessionEvent = Extract<Named, { params: { origin: unknown } }>;

/** What lies before can't be told singly: read the session anew, for example with `session/entries {since}`. */
export interface ResyncEvent {
  readonly method: "resync";
  readonly state: SubscribeResult;
}

export type WatchEvent = SessionEvent | ResyncEvent;

/** Events that may wait to be read; beyond it they are replaced by a resync. */
const LIMIT = 10_000;

/** `for await (const event of watch)`. Ends with `close`, when the session is deleted, or when the client fails. */
export class Watch implements AsyncIterable<WatchEvent> {
  readonly sessionId: string;
  readonly #forget: (watch: Watch) => void;
  readonly #queue: WatchEvent[] = [];
  #wake: (() => void) | undefined;
  #ended = false;
  #error: Error | undefined;
  #live: Connection | undefined;
  #waiting: SessionEvent[] = [];
  #instanceId: string | undefined;
  /** The last revision that something was heard of, and how many of its notifications. */
  #revision = 0;
  #heard = 0;

  /** Made by `Client.watch`. */
  constructor(sessionId: string, since: SubscribeSince | undefined, forget: (watch: Watch) => void) {
    this.sessionId = sessionId;
    this.#forget = forget;
    if (since !== undefined) {
      this.#instanceId = since.instanceId;
      this.#revision = since.revision;
      this.#heard = Number.POSITIVE_INFINITY;
    }
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#forget(this);
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent, void, undefined> {
    try {
      for (;;) {
        const event = this.#queue.shift();
        if (event !== undefined) {
          yield event;
          if (event.method === "session/deleted") return;
        } else if (this.#error !== undefined) {
          throw this.#error;
        } else if (this.#ended) {
          return;
        } else {
          await new Promise<void>((resolve) => (this.#wake = resolve));
        }
      }
    } finally {
      this.close();
    }
  }

  // What the client calls.

  /** Subscribe at a connection, with what is known. What is told meanwhile waits. */
  async catchUp(connection: Connection): Promise<void> {
    this.#live = connection;
    this.#waiting = [];
    const known = this.#instanceId;
    const since = known === undefined ? undefined : { instanceId: known, revision: this.#complete() };
    const state = await connection.request("session/subscribe", { sessionId: this.sessionId, ...(since && { since }) });
    if (this.#live !== connection) return;
    if (state.fresh) {
      this.#instanceId = state.instanceId;
      this.#revision = state.revision;
      this.#heard = Number.POSITIVE_INFINITY;
      if (known !== undefined || since !== undefined) this.#put({ method: "resync", state });
    } else {
      this.#replay((state.events ?? []) as unknown as SessionEvent[]);
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const event of waiting) this.#take(event);
  }

  /** The connection is gone; what comes of it is none of ours any more. */
  hold(): void {
    this.#live = undefined;
  }

  told(connection: Connection, event: SessionEvent): void {
    if (connection !== this.#live || this.#ended) return;
    this.#take(event);
  }

  fail(error: Error | undefined): void {
    this.#error = error;
    this.#ended = true;
    this.#wake?.();
  }

  /** The last revision of which everything was heard for certain. */
  #complete(): number {
    return this.#heard === Number.POSITIVE_INFINITY ? this.#revision : Math.max(0, this.#revision - 1);
  }

  /** Those of the last revision that were heard are told again, first. */
  #replay(events: SessionEvent[]): void {
    let skip = this.#heard;
    for (const event of events) {
      if (event.params.revision < this.#revision) continue;
      if (event.params.revision === this.#revision && skip > 0) skip -= 1;
      else this.#take(event);
    }
  }

  #take(event: SessionEvent): void {
    const { instanceId, revision } = event.params;
    if (this.#instanceId !== undefined && instanceId !== this.#instanceId && event.method !== "session/replaced") {
      this.#waiting.push(event); // of an instance that we aren't subscribed to yet
      return;
    }
    if (instanceId === this.#instanceId && (revision < this.#revision || this.#heardAll(revision))) return;
    if (revision === this.#revision && instanceId === this.#instanceId) this.#heard += 1;
    else {
      this.#revision = revision;
      this.#heard = 1;
    }
    this.#instanceId = instanceId;
    this.#put(event);
  }

  #heardAll(revision: number): boolean {
    return revision === this.#revision && this.#heard === Number.POSITIVE_INFINITY;
  }

  #put(event: WatchEvent): void {
    if (this.#ended) return;
    if (this.#queue.length >= LIMIT && event.method !== "resync") {
      const last = event.params;
      const state = { instanceId: last.instanceId, revision: last.revision, leafId: null, fresh: true };
      this.#queue.splice(0, this.#queue.length, { method: "resync", state });
    } else {
      this.#queue.push(event);
    }
    this.#wake?.();
  }
}
