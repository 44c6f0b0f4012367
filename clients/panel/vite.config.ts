// What the daemon serves: four files with fixed names, in `pi_daemon/panel_files`.

import { defineConfig } from "vite";

export default defineConfig({
  build: {
    outDir: "../../pi_daemon/panel_files",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    sourcemap: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rolldownOptions: {
      output: { entryFileNames: "panel.js", assetFileNames: "panel[extname]", codeSplitting: false },
    },
  },
});
