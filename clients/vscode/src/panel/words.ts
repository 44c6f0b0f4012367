// What the panel in the webview and the extension tell each other. `wire` numbers the panel's connections.

import type { Message } from "vscode-jsonrpc";

export type FromPanel =
  | { kind: "close"; wire: number }
  | { kind: "copy"; text: string }
  | { kind: "open"; wire: number }
  | { kind: "ready" }
  | { kind: "save"; name: string; text: string }
  | { kind: "send"; wire: number; message: Message }
  | { kind: "shown"; sessionId: string };

export type ToPanel =
  | { kind: "closed"; wire: number }
  | { kind: "failed"; wire: number; why: string }
  | { kind: "opened"; wire: number }
  | { kind: "show"; sessionId: string | undefined; cwd: string | undefined; name: string }
  | { kind: "told"; wire: number; message: Message };
