// One connection: the handshake, requests and their answers, cancelling, progress, and what the daemon asks.

import {
  CancellationTokenSource,
  type CancellationToken,
  type MessageConnection,
  ProgressType,
  ResponseError,
  createMessageConnection,
} from "vscode-jsonrpc";
import type { Endpoint, Wire } from "./endpoint.ts";
import { ConnectionLost, ServerError, Unreachable } from "./errors.ts";
import {
  type ClientRequests,
  type InitializeResult,
  type Notifications,
  PROTOCOL_VERSION,
  type PiDaemonInitialize,
  type ProgressValue,
  type Requests,
} from "./protocol.ts";

type SummarizerParams = ClientRequests["summarizer/summarize"]["params"];
type SummarizerResult = ClientRequests["summarizer/summarize"]["result"];

/** Makes a summary of what it is given. What it throws tells the daemon to ask somebody else; `signal` that it needs none
 * any more. */
export type Summarizer = (wanted: SummarizerParams, signal: AbortSignal) => Promise<SummarizerResult> | SummarizerResult;

export interface Greeting {
  readonly name: string;
  readonly token?: string | undefined;
  readonly summarizer?: Summarizer | undefined;
}

export interface RequestOptions {
  /** Aborted, the request is cancelled at the daemon, and rejects with its `cancelled`. */
  readonly signal?: AbortSignal;
  /** Is told how far the request has come, where it takes long enough. */
  readonly progress?: (value: ProgressValue) => void;
}

export type Told = <N extends keyof Notifications>(method: N, params: Notifications[N]) => void;

const GREETING_MS = 30_000;
const progressType = new ProgressType<ProgressValue>();
let tokens = 0;

/** Lives until its wire is gone, and never comes back. */
export class Connection {
  /** Resolves with why it ended. */
  readonly ended: Promise<string>;
  server!: InitializeResult;
  lostBecause: string | undefined;
  readonly #wire: Wire;
  readonly #rpc: MessageConnection;
  #end!: (why: string) => void;

  private constructor(wire: Wire, told: Told, summarizer: Summarizer | undefined) {
    this.#wire = wire;
    this.#rpc = createMessageConnection(wire.reader, wire.writer);
    this.ended = new Promise((resolve) => (this.#end = resolve));
    this.#rpc.onClose(() => this.#lost("the connection ended"));
    this.#rpc.onError(([error]) => this.#lost(error.message));
    this.#rpc.onNotification((method, ...params) => told(method as never, (params[0] ?? {}) as never));
    if (summarizer !== undefined) {
      const answer = (wanted: SummarizerParams, token: CancellationToken) => summarizer(wanted, aborting(token));
      this.#rpc.onRequest("summarizer/summarize", answer);
    }
    this.#rpc.listen();
  }

  /** Connects and says `initialize`. Rejects with Unreachable, or ServerError (`unauthorized`, `versionMismatch`). */
  static async open(endpoint: Endpoint, greeting: Greeting, told: Told): Promise<Connection> {
    const made = new Connection(await endpoint.open(), told, greeting.summarizer);
    const piDaemon: PiDaemonInitialize = { protocolVersion: PROTOCOL_VERSION };
    if (greeting.token !== undefined) piDaemon.token = greeting.token;
    if (greeting.summarizer !== undefined) piDaemon.summarizer = true;
    const params = {
      processId: null,
      clientInfo: { name: greeting.name },
      capabilities: {},
      initializationOptions: { piDaemon },
    };
    try {
      made.server = await made.request("initialize", params, { signal: AbortSignal.timeout(GREETING_MS) });
    } catch (error) {
      made.abort();
      if (error instanceof ConnectionLost) throw new Unreachable(`no daemon answers at ${endpoint.name}`, { cause: error });
      throw error;
    }
    void made.#rpc.sendNotification("initialized", {});
    return made;
  }

  /** Rejects with ServerError and ConnectionLost. */
  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
    options: RequestOptions = {},
  ): Promise<Requests[M]["result"]> {
    if (this.lostBecause !== undefined) throw new ConnectionLost(this.lostBecause, "no");
    const cancelling = new CancellationTokenSource();
    const abort = () => cancelling.cancel();
    options.signal?.addEventListener("abort", abort);
    if (options.signal?.aborted) abort();
    let sent: object = params;
    let reporting: { dispose(): void } | undefined;
    if (options.progress !== undefined) {
      const token = `t${++tokens}`;
      reporting = this.#rpc.onProgress(progressType, token, options.progress);
      sent = { ...params, workDoneToken: token };
    }
    try {
      return await this.#rpc.sendRequest(method, sent, cancelling.token);
    } catch (error) {
      if (this.lostBecause !== undefined) throw new ConnectionLost(this.lostBecause, "unknown");
      if (!(error instanceof ResponseError)) throw error;
      throw new ServerError(error.message, error.code, (error.data ?? {}) as Record<string, unknown>);
    } finally {
      reporting?.dispose();
      options.signal?.removeEventListener("abort", abort);
      cancelling.dispose();
    }
  }

  /** `shutdown` and `exit`, then the end of the wire. */
  async close(): Promise<void> {
    try {
      await this.request("shutdown", {}, { signal: AbortSignal.timeout(5_000) });
      await this.#rpc.sendNotification("exit");
    } catch {
      // It is gone already, which is what was wanted.
    }
    this.abort();
  }

  /** The end at once, without a word. */
  abort(): void {
    this.#lost("the client left");
    this.#wire.close();
  }

  #lost(why: string): void {
    if (this.lostBecause !== undefined) return;
    this.lostBecause = why;
    this.#rpc.dispose(); // rejects what waits
    this.#end(why);
  }
}

function aborting(token: CancellationToken): AbortSignal {
  const controller = new AbortController();
  token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}
