// What the user is told of a refusal, and what can be done about it at once. Pure.

import { ClientClosed, ConnectionLost, ServerError, Unreachable } from "../../../typescript/src/errors.ts";
import { said } from "../text.ts";

/** What a button under a message does; `extension.ts` knows how. */
export type Remedy =
  | "again"
  | "anyway"
  | "choose"
  | "embedded"
  | "log"
  | "reconnect"
  | "settings"
  | "skip"
  | "takeOver"
  | "tree";

export const REMEDIES: Readonly<Record<Remedy, string>> = {
  again: "Try Again",
  anyway: "Do It Anyway",
  choose: "Choose a Session",
  embedded: "Summarize Without a Model",
  log: "Show the Log",
  reconnect: "Connect Again",
  settings: "Open Settings",
  skip: "Open Without the Broken Lines",
  takeOver: "Take Over",
  tree: "Show the Branches",
};

export interface Advice {
  readonly message: string;
  readonly remedies: readonly Remedy[];
}

const BY_REASON: Readonly<Record<string, readonly [advice: string, ...remedies: Remedy[]]>> = {
  sessionNotFound: ["", "choose"],
  sessionCorrupted: ["`pi-daemon check` names each line, `pi-daemon repair` mends the file.", "skip"],
  ambiguousSession: ["`pi-daemon doctor` says which files there are.", "log"],
  entryNotFound: ["The tree is read anew.", "tree"],
  leafMoved: ["Somebody else was faster: look where the leaf is.", "anyway", "tree"],
  writerBusy: ["", "takeOver"],
  busy: ["Wait until it has ended.", "again"],
  overloaded: ["", "again"],
  storageFailed: ["", "again", "log"],
  sessionFailed: ["Close the session everywhere, and open it again.", "log"],
  nothingToCompact: [""],
  summarizerFailed: ["", "again", "embedded"],
  superseded: ["", "again", "tree"],
  tooLarge: ["", "log"],
  shuttingDown: ["Whether it was done may not be known: look at the tree.", "again"],
  daemonUnavailable: ["`pi-daemon status` and `pi-daemon logs` say more.", "reconnect", "log"],
  versionMismatch: ["Update pi-daemon, or this extension.", "log"],
  invalidSettings: ["", "log"],
};

/** undefined: the user took it back, and needn't be told. */
export function advise(doing: string, error: unknown): Advice | undefined {
  if (error instanceof ServerError) {
    const { reason } = error;
    if (reason === "cancelled") return undefined;
    if (reason === "methodNotFound") return tooOld(doing);
    const [advice = "", ...remedies] = BY_REASON[reason ?? ""] ?? ["", "log"];
    return told(doing, error.message, advice, remedies as Remedy[]);
  }
  if (error instanceof ConnectionLost) {
    return told(doing, "the connection to the daemon was lost", "Whether it was done is not known: look at the tree.", ["tree", "log"]);
  }
  if (error instanceof Unreachable || error instanceof ClientClosed) {
    return told(doing, "there is no connection to the daemon", "", ["reconnect", "log"]);
  }
  return told(doing, error instanceof Error ? error.message : String(error), "", ["log"]);
}

/** Of a feature that the daemon doesn't name. */
export function tooOld(doing: string): Advice {
  return told(doing, "this daemon can't do that yet", "Update pi-daemon.", ["log"]);
}

function told(doing: string, message: string, advice: string, remedies: readonly Remedy[]): Advice {
  const words = said(message, 500).replace(/[.\s]+$/, "");
  return { message: `Can't ${doing}: ${words}.${advice === "" ? "" : ` ${advice}`}`, remedies };
}

/** Why the daemon can't be joined at all. `ended`: how the program ended, where it did; `last`: the end of what it said. */
export function unjoined(program: string, error: unknown, ended: number | undefined, last: string): Advice {
  const code = error instanceof Unreachable ? (error.cause as NodeJS.ErrnoException | undefined)?.code : undefined;
  if (code !== undefined) {
    const why = code === "ENOENT" ? "isn't there" : `can't be started (${code})`;
    const what = "Install pi-daemon (a Python package), or say where it is in the setting pi-daemon.command.";
    return { message: `The program ${said(program)} ${why}. ${what}`, remedies: ["settings", "again"] };
  }
  if (error instanceof ServerError && error.reason === "versionMismatch") {
    const message = `pi-daemon is of another version than this extension: ${said(error.message)} Update the older one.`;
    return { message, remedies: ["again", "log"] };
  }
  if ((error instanceof ConnectionLost || error instanceof Unreachable) && ended !== undefined && ended !== 0) {
    const words = last === "" ? "" : `, and said: ${said(last, 200)}`;
    const message = `${said(program)} ended with ${ended}${words}. It may be too old for this extension, or another program: update it, or name it in pi-daemon.command.`;
    return { message, remedies: ["settings", "log", "again"] };
  }
  return advise("join the daemon", error) ?? { message: "Joining the daemon was taken back.", remedies: ["again"] };
}
