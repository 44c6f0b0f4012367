// What a dialog may be about.

import type { CompactResult, Retention } from "../../../typescript/src/index.ts";

export type Dialog =
  | { readonly kind: "help" }
  | { readonly kind: "text"; readonly title: string; readonly label: string; readonly value: string; readonly done: (text: string) => void }
  | { readonly kind: "compose"; readonly text: string }
  | { readonly kind: "compact" }
  | { readonly kind: "compacted"; readonly result: CompactResult }
  | { readonly kind: "retention"; readonly retention: Retention }
  | { readonly kind: "move"; readonly entryId: string };
