// Where a daemon is, and how messages come and go there.

import type { MessageReader, MessageWriter } from "vscode-jsonrpc";

/** One wire. `close` ends it at once. */
export interface Wire {
  readonly reader: MessageReader;
  readonly writer: MessageWriter;
  close(): void;
}

/** `open` is called for every connection that is made, and rejects with Unreachable. `token`: for TCP and WebSocket. */
export interface Endpoint {
  readonly name: string;
  readonly token?: string | undefined;
  open(): Promise<Wire>;
}
