// What can go wrong with a request, one class each.

import type { ErrorReason } from "./protocol.ts";

/** Whether a request was carried out that has no answer: certainly not, or nobody knows. */
export type Applied = "no" | "unknown";

/** The daemon refused. `reason` is the stable name, the message says what to do. */
export class ServerError extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(message: string, code: number, data: Record<string, unknown>) {
    super(message);
    this.name = "ServerError";
    this.code = code;
    this.data = data;
  }

  get reason(): ErrorReason | undefined {
    return this.data["reason"] as ErrorReason | undefined;
  }
}

/** The connection ended before the answer came. */
export class ConnectionLost extends Error {
  readonly applied: Applied;

  constructor(message: string, applied: Applied) {
    super(message);
    this.name = "ConnectionLost";
    this.applied = applied;
  }
}

/** No daemon can be reached there. */
export class Unreachable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Unreachable";
  }
}

/** The client was closed. */
export class ClientClosed extends Error {
  constructor() {
    super("the client is closed");
    this.name = "ClientClosed";
  }
}
