// Bundles the extension into one file, dist/extension.cjs, and what its webview shows into dist/panel.js and dist/panel.css.
// The TypeScript client and the panel, which lie beside it, are bundled from source.

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  nodePaths: [join(here, "node_modules")],
  logLevel: "warning",
};

await build({
  ...common,
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.cjs",
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  mainFields: ["module", "main"],
});

await build({
  ...common,
  entryPoints: { panel: "src/panel/page.ts" },
  outdir: "dist",
  platform: "browser",
  format: "iife",
  target: "es2022",
  conditions: ["browser"],
});
