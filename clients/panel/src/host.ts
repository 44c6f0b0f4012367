// What the panel needs of the place that it is shown in: a browser's page, or an editor's webview.

import type { Endpoint, InitializeResult } from "../../typescript/src/index.ts";

export interface PanelHost {
  /** The way to the daemon. Its token may be another for each connection. */
  readonly endpoint: Endpoint;
  /** What the other clients are told of who changed something. */
  readonly name: string;
  /** The session to begin with. */
  readonly sessionId?: string | undefined;
  /** Sessions of this directory come first. */
  readonly cwd?: string | undefined;
  /** Is told what the daemon said of itself, at each connection that the panel looks at. */
  greeted?(server: InitializeResult): void;
  /** The session that is shown now. */
  shown?(sessionId: string): void;
  /** Gives a text to the user as a file. */
  save(name: string, text: string): void;
  copy(text: string): Promise<void>;
  /** What to do where the daemon doesn't know this panel, in words. */
  readonly refused: string;
}
