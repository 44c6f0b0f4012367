// Messages over a WebSocket, in a browser or wherever there is one. What imports this imports vscode-jsonrpc's own part for
// that place too.

import {
  AbstractMessageReader,
  AbstractMessageWriter,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageReader,
  type MessageWriter,
} from "vscode-jsonrpc";
import type { Endpoint, Wire } from "./endpoint.ts";
import { Unreachable } from "./errors.ts";

/** `url`: `ws://127.0.0.1:7777`; the token goes into `initialize`, never into the address. */
export function webSocketEndpoint(url: string, token: string): Endpoint {
  return {
    name: url,
    token,
    async open(): Promise<Wire> {
      const socket = new WebSocket(url);
      await new Promise<void>((resolve, reject) => {
        socket.onopen = () => resolve();
        socket.onerror = () => reject(new Unreachable(`nobody listens at ${url}`));
      });
      return { reader: new Reader(socket), writer: new Writer(socket), close: () => socket.close() };
    },
  };
}

class Reader extends AbstractMessageReader implements MessageReader {
  readonly #socket: WebSocket;
  readonly #early: Message[] = [];
  #callback: DataCallback | undefined;

  constructor(socket: WebSocket) {
    super();
    this.#socket = socket;
    socket.onmessage = (event) => this.#take(event.data);
    socket.onerror = () => undefined; // a close follows
    socket.onclose = () => this.fireClose();
  }

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    for (const message of this.#early.splice(0)) callback(message);
    return { dispose: () => (this.#callback = undefined) };
  }

  #take(data: unknown): void {
    try {
      const message = JSON.parse(String(data)) as Message;
      if (this.#callback === undefined) this.#early.push(message);
      else this.#callback(message);
    } catch (error) {
      this.fireError(error);
      this.#socket.close();
    }
  }
}

class Writer extends AbstractMessageWriter implements MessageWriter {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    super();
    this.#socket = socket;
  }

  async write(message: Message): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) throw new Error("the WebSocket is closed");
    this.#socket.send(JSON.stringify(message));
  }

  end(): void {
    this.#socket.close();
  }
}
