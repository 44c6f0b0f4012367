// The client: one connection at a time to one daemon, made again whenever it is lost.

import { Connection, type RequestOptions, type Summarizer } from "./connection.ts";
import type { Endpoint } from "./endpoint.ts";
import { ClientClosed, ConnectionLost, ServerError, Unreachable } from "./errors.ts";
import type { InitializeResult, Notifications, OpenParams, Requests, SubscribeSince } from "./protocol.ts";
import { type SessionEvent, Watch } from "./watch.ts";

export interface ClientOptions {
  /** How the daemon names this client to the others. */
  readonly name?: string;
  /** Makes summaries for the daemon, for whichever client wants one. */
  readonly summarizer?: Summarizer;
  /** Whether a lost connection is made again; otherwise it is the client's end. Default: true. */
  readonly reconnect?: boolean;
}

export interface SendOptions extends RequestOptions {
  /** Send it again on a new connection where the old one took the answer with it: only for what may happen twice. */
  readonly retry?: boolean;
}

const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 3_000;
const ATTEMPTS = 5;

/** Sessions that were opened through this client are opened again when it comes back, and every watch catches up. */
export class Client {
  readonly #endpoint: Endpoint;
  readonly #options: ClientOptions;
  readonly #listeners = new Map<string, Set<(params: never) => void>>();
  readonly #connectionListeners = new Set<(connected: boolean) => void>();
  readonly #opened = new Map<string, OpenParams>();
  readonly #watches = new Set<Watch>();
  #connection: Connection | undefined;
  #ready: Promise<Connection>;
  #failed: Error | undefined;

  private constructor(endpoint: Endpoint, options: ClientOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#ready = this.#open();
  }

  /** Rejects with Unreachable, or ServerError where the daemon won't have this client. */
  static async connect(endpoint: Endpoint, options: ClientOptions = {}): Promise<Client> {
    const client = new Client(endpoint, options);
    await client.#ready;
    return client;
  }

  /** What the daemon said of itself at the last connection. */
  get server(): InitializeResult {
    if (this.#connection === undefined) throw new ClientClosed();
    return this.#connection.server;
  }

  get connected(): boolean {
    return this.#failed === undefined && this.#connection !== undefined && this.#connection.lostBecause === undefined;
  }

  /** Any request of the protocol. While there is no connection it waits for one. Rejects with ServerError,
   * ConnectionLost, ClientClosed. */
  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options: SendOptions = {},
  ): Promise<Requests[M]["result"]> {
    for (let attempt = 1; ; attempt += 1) {
      const connection = await this.#ready;
      try {
        const result = await connection.request(method, params, options);
        this.#answered(method, params, result);
        return result;
      } catch (error) {
        if (attempt >= ATTEMPTS || this.#failed !== undefined || !mayRepeat(error, options.retry ?? false)) throw error;
        await gone(connection, attempt);
      }
    }
  }

  /** Calls `listener` for each notification of that method. Returns what ends it. */
  on<N extends keyof Notifications>(method: N, listener: (params: Notifications[N]) => void): () => void {
    const found = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, found.add(listener as (params: never) => void));
    return () => void found.delete(listener as (params: never) => void);
  }

  /** Calls `listener(false)` when the connection is lost, `listener(true)` when it is there again. */
  onConnection(listener: (connected: boolean) => void): () => void {
    this.#connectionListeners.add(listener);
    return () => void this.#connectionListeners.delete(listener);
  }

  /** The session's events from now on, or from `since`. */
  async watch(sessionId: string, since?: SubscribeSince): Promise<Watch> {
    const watch = new Watch(sessionId, since, (closed) => this.#forget(closed));
    this.#watches.add(watch);
    try {
      await watch.catchUp(await this.#ready);
    } catch (error) {
      this.#watches.delete(watch);
      throw error;
    }
    return watch;
  }

  async close(): Promise<void> {
    this.#fail(new ClientClosed());
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  // The connection, made again and again.

  async #open(): Promise<Connection> {
    const greeting = {
      name: this.#options.name ?? "pi-daemon-client",
      token: this.#endpoint.token,
      summarizer: this.#options.summarizer,
    };
    let known: Connection | undefined;
    const early: [string, unknown][] = [];
    const connection = await Connection.open(this.#endpoint, greeting, (method, params) => {
      if (known === undefined) early.push([method, params]);
      else this.#told(known, method, params);
    });
    known = connection;
    await this.#adopt(connection);
    for (const [method, params] of early) this.#told(connection, method, params);
    void connection.ended.then((why) => this.#lost(connection, why));
    return connection;
  }

  /** Opens again what was open, and lets every watch catch up. */
  async #adopt(connection: Connection): Promise<void> {
    for (const [sessionId, params] of this.#opened) {
      try {
        await connection.request("session/open", params);
      } catch (error) {
        if (!(error instanceof ServerError)) throw error;
        // Damaged, say, or held by another daemon: whoever uses it is told so then.
        if (error.reason === "sessionNotFound") this.#opened.delete(sessionId);
      }
    }
    this.#connection = connection;
    for (const watch of this.#watches) this.#catchUp(watch, connection);
  }

  #catchUp(watch: Watch, connection: Connection): void {
    watch.catchUp(connection).catch((error: unknown) => {
      if (error instanceof ServerError && error.reason !== "shuttingDown") {
        this.#watches.delete(watch);
        watch.fail(error);
      } // else the connection is gone, and the next one catches up
    });
  }

  #lost(connection: Connection, why: string): void {
    if (this.#connection !== connection || this.#failed !== undefined) return;
    for (const watch of this.#watches) watch.hold();
    for (const listener of this.#connectionListeners) listener(false);
    if (this.#options.reconnect === false) {
      this.#fail(new ConnectionLost(why, "no"));
      return;
    }
    this.#ready = this.#comeBack();
    this.#ready.then(
      () => this.#connectionListeners.forEach((listener) => listener(true)),
      (error: Error) => this.#fail(error),
    );
  }

  async #comeBack(): Promise<Connection> {
    for (let attempt = 0; ; attempt += 1) {
      const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(attempt, 30));
      await new Promise((resolve) => setTimeout(resolve, delay * (0.5 + Math.random() / 2)));
      if (this.#failed !== undefined) throw this.#failed;
      try {
        return await this.#open();
      } catch (error) {
        const passing = error instanceof ServerError && ["shuttingDown", "overloaded"].includes(error.reason ?? "");
        if (!passing && !(error instanceof Unreachable) && !(error instanceof ConnectionLost)) throw error;
      }
    }
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    this.#ready = Promise.reject(this.#failed);
    this.#ready.catch(() => undefined); // whoever asks is told
    for (const watch of this.#watches) watch.fail(error instanceof ClientClosed ? undefined : error);
    this.#watches.clear();
  }

  // Sessions that are open, and who listens.

  #told(connection: Connection, method: string, params: unknown): void {
    for (const listener of this.#listeners.get(method) ?? []) listener(params as never);
    if (method === "daemon/replaced") {
      // Behind `pi-daemon connect` another daemon has the same wire: nothing of our subscriptions is left.
      for (const watch of this.#watches) watch.hold();
      void this.#adopt(connection).catch(() => undefined);
      return;
    }
    const { sessionId } = params as { sessionId?: string };
    for (const watch of this.#watches) {
      if (watch.sessionId !== sessionId) continue;
      if (method === "session/resync" || method === "session/replaced") {
        if (method === "session/replaced") watch.told(connection, { method, params } as SessionEvent);
        this.#catchUp(watch, connection);
      } else {
        watch.told(connection, { method, params } as SessionEvent);
      }
    }
  }

  #answered<M extends keyof Requests>(method: M, params: Requests[M]["params"], result: Requests[M]["result"]): void {
    if (method === "session/open" || method === "session/create" || method === "session/fork") {
      const { sessionId } = result as { sessionId: string };
      const asked = method === "session/open" ? (params as OpenParams) : {};
      const { path: _path, ...rest } = asked;
      this.#opened.set(sessionId, { ...rest, sessionId });
    } else if (method === "session/close" || method === "session/delete" || method === "session/unsubscribe") {
      const { sessionId } = params as { sessionId: string };
      this.#opened.delete(sessionId);
      for (const watch of this.#watches) {
        if (watch.sessionId === sessionId && this.#connection !== undefined) this.#catchUp(watch, this.#connection);
      }
    }
  }

  #forget(watch: Watch): void {
    if (!this.#watches.delete(watch) || !this.connected || this.#opened.has(watch.sessionId)) return;
    if ([...this.#watches].some((other) => other.sessionId === watch.sessionId)) return;
    void this.#connection?.request("session/unsubscribe", { sessionId: watch.sessionId }).catch(() => undefined);
  }
}

function mayRepeat(error: unknown, retry: boolean): boolean {
  if (error instanceof ConnectionLost) return retry || error.applied === "no";
  return error instanceof ServerError && error.reason === "shuttingDown" && (retry || error.data["applied"] === false);
}

/** Until a daemon that is going away has gone, or for a while. */
async function gone(connection: Connection, attempt: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise((resolve) => (timer = setTimeout(resolve, 500 * 2 ** attempt)));
  await Promise.race([connection.ended, patience]);
  clearTimeout(timer);
  await new Promise((resolve) => setTimeout(resolve, 0)); // the client looks for another one first
}
