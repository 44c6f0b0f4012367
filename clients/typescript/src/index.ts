// The client without a way to a daemon: `./node` and `./browser` have those.

export { Client, type ClientOptions, type SendOptions } from "./client.ts";
export { type RequestOptions, type Summarizer } from "./connection.ts";
export { type Endpoint, type Wire } from "./endpoint.ts";
export { type Applied, ClientClosed, ConnectionLost, ServerError, Unreachable } from "./errors.ts";
export * from "./protocol.ts";
export { type ResyncEvent, type SessionEvent, Watch, type WatchEvent } from "./watch.ts";
