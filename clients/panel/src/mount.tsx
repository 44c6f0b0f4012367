import { render } from "preact";
import { App } from "./App.tsx";
import type { PanelHost } from "./host.ts";
import { Panel } from "./state/panel.ts";

/** Shows the panel in an element that is its alone. Returns what ends it. */
export function mount(root: HTMLElement, host: PanelHost): () => void {
  const panel = new Panel(host);
  render(<App panel={panel} />, root);
  void panel.start();
  return () => {
    render(null, root);
    void panel.close();
  };
}
