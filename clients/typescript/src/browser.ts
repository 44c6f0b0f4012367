// The way to a daemon from a browser: a WebSocket, one message a text frame.

import "vscode-jsonrpc/browser";
import { webSocketEndpoint } from "./websocket.ts";

export * from "./index.ts";
export const webSocket = webSocketEndpoint;
