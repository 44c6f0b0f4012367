// The panel in a webview: its way to the daemon are messages to the extension, which has a process for each connection.

import "vscode-jsonrpc/browser";
import "../../../panel/src/panel.css";
import "./page.css";
import { AbstractMessageReader, AbstractMessageWriter, type DataCallback, type Disposable, type Message } from "vscode-jsonrpc";
import { mount } from "../../../panel/src/mount.tsx";
import type { Endpoint, Wire } from "../../../typescript/src/endpoint.ts";
import { Unreachable } from "../../../typescript/src/errors.ts";
import type { FromPanel, ToPanel } from "./words.ts";

declare function acquireVsCodeApi(): { postMessage(message: FromPanel): void };

const editor = acquireVsCodeApi();
const wires = new Map<number, PanelWire>();
let numbers = 0;

class Reader extends AbstractMessageReader {
  readonly #early: Message[] = [];
  #callback: DataCallback | undefined;

  listen(callback: DataCallback): Disposable {
    this.#callback = callback;
    for (const message of this.#early.splice(0)) callback(message);
    return { dispose: () => (this.#callback = undefined) };
  }

  take(message: Message): void {
    if (this.#callback === undefined) this.#early.push(message);
    else this.#callback(message);
  }

  ended(): void {
    this.fireClose();
  }
}

class Writer extends AbstractMessageWriter {
  readonly #wire: number;

  constructor(wire: number) {
    super();
    this.#wire = wire;
  }

  async write(message: Message): Promise<void> {
    editor.postMessage({ kind: "send", wire: this.#wire, message });
  }

  end(): void {}
}

class PanelWire implements Wire {
  readonly reader = new Reader();
  readonly writer: Writer;
  readonly opened: Promise<void>;
  readonly #number: number;
  settle!: (why?: string) => void;

  constructor(number: number) {
    this.#number = number;
    this.writer = new Writer(number);
    this.opened = new Promise((resolve, reject) => {
      this.settle = (why) => (why === undefined ? resolve() : reject(new Unreachable(why)));
    });
  }

  close(): void {
    if (wires.delete(this.#number)) editor.postMessage({ kind: "close", wire: this.#number });
  }
}

const endpoint: Endpoint = {
  name: "pi-daemon",
  async open(): Promise<Wire> {
    const number = (numbers += 1);
    const wire = new PanelWire(number);
    wires.set(number, wire);
    editor.postMessage({ kind: "open", wire: number });
    await wire.opened;
    return wire;
  },
};

let shown: string | undefined;
let end: (() => void) | undefined;

function show(sessionId: string | undefined, cwd: string | undefined, name: string): void {
  if (end !== undefined && sessionId === shown) return;
  shown = sessionId;
  end?.();
  end = mount(document.getElementById("panel")!, {
    endpoint,
    name,
    sessionId,
    cwd,
    shown(id) {
      if (id === shown) return;
      shown = id;
      editor.postMessage({ kind: "shown", sessionId: id });
    },
    save: (file, text) => editor.postMessage({ kind: "save", name: file, text }),
    copy: async (text) => editor.postMessage({ kind: "copy", text }),
    refused: "Run “pi sessions: Connect to the Daemon”.",
  });
}

window.addEventListener("message", (event: MessageEvent<ToPanel>) => {
  const told = event.data;
  if (told.kind === "show") return show(told.sessionId, told.cwd, told.name);
  const wire = wires.get(told.wire);
  if (told.kind === "opened") wire?.settle();
  else if (told.kind === "told") wire?.reader.take(told.message);
  else {
    wires.delete(told.wire);
    if (told.kind === "failed") wire?.settle(told.why);
    else wire?.reader.ended();
  }
});
editor.postMessage({ kind: "ready" });
