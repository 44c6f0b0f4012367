// The panel as a page that the daemon serves: the code is taken out of the address, and exchanged for a token.

import "vscode-jsonrpc/browser";
import type { Endpoint, Wire } from "../../typescript/src/index.ts";
import { webSocketEndpoint } from "../../typescript/src/websocket.ts";
import type { PanelHost } from "./host.ts";
import { mount } from "./mount.tsx";

const TOKEN = "pi-daemon.token";
const SESSION = "pi-daemon.session";

const [code, named = ""] = location.hash.slice(1).split("/");
if (location.hash !== "") history.replaceState(null, "", location.pathname);

/** The code of the address, until there is a token for it. Both stay in this tab. */
let token = code || sessionStorage.getItem(TOKEN) || "";

const endpoint: Endpoint = {
  name: location.host,
  get token() {
    return token;
  },
  open(): Promise<Wire> {
    return webSocketEndpoint(`ws://${location.host}/socket`, token).open();
  },
};

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

const host: PanelHost = {
  endpoint,
  name: "pi-daemon panel",
  sessionId: decoded(named) || sessionStorage.getItem(SESSION) || undefined,
  greeted(server) {
    const fresh = server.capabilities.experimental.piDaemon.token;
    if (fresh === undefined) return;
    token = fresh;
    sessionStorage.setItem(TOKEN, fresh);
  },
  shown(sessionId) {
    sessionStorage.setItem(SESSION, sessionId);
  },
  save(name, text) {
    const url = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  },
  copy: (text) => navigator.clipboard.writeText(text),
  refused: "This page is no longer known to the daemon. Run `pi-daemon panel` for another one.",
};

mount(document.getElementById("panel")!, host);
