// What the user has set.

import * as vscode from "vscode";
import type { TreeParams } from "../../typescript/src/protocol.ts";

function get<T>(name: string, otherwise: T): T {
  return vscode.workspace.getConfiguration("pi-daemon").get<T>(name) ?? otherwise;
}

export type Filter = NonNullable<TreeParams["filter"]>;

export const setting = {
  command(): readonly string[] {
    const given = get<readonly string[]>("command", []).filter((word) => typeof word === "string");
    return given.length > 0 && given[0] !== "" ? given : ["pi-daemon", "connect"];
  },
  /** Tokens; undefined: not known. */
  contextWindow(): number | undefined {
    const given = get<number | null>("contextWindow", null);
    return given !== null && Number.isInteger(given) && given > 0 ? given : undefined;
  },
  filter: () => get<Filter>("filter", "default"),
  summarizer: () => get<boolean>("summarizer", false),
  summarizerModel: () => get<string>("summarizerModel", ""),
  startsWithWindow: () => get<string>("startWith", "use") === "window",
};

/** The directories of the workspace's folders. */
export function folders(): string[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === "file").map(({ uri }) => uri.fsPath);
}
