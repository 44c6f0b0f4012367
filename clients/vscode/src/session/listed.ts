// The sessions there are, in groups: those of the workspace's folders, then the others. Pure.

import type { SessionInfo } from "../../../typescript/src/protocol.ts";
import { ago, counted, line, shortened } from "../text.ts";

export interface Groups {
  readonly here: SessionInfo[];
  readonly elsewhere: SessionInfo[];
}

/** `pages`: what was listed, newest first, some perhaps twice. */
export function grouped(pages: readonly (readonly SessionInfo[])[], folders: readonly string[]): Groups {
  const seen = new Map<string, SessionInfo>();
  for (const session of pages.flat()) if (!seen.has(session.sessionId)) seen.set(session.sessionId, session);
  const sorted = [...seen.values()].sort((a, b) => (a.modified < b.modified ? 1 : a.modified > b.modified ? -1 : 0));
  const isHere = (session: SessionInfo) => folders.some((folder) => within(session.cwd, folder));
  return { here: sorted.filter(isHere), elsewhere: sorted.filter((session) => !isHere(session)) };
}

export function within(path: string, folder: string): boolean {
  const base = folder.length > 1 ? folder.replace(/\/+$/, "") : folder;
  return path === base || path.startsWith(base === "/" ? base : `${base}/`);
}

/** What a session is called. */
export function titleOf(session: { name: string | null; sessionId: string; firstMessage?: string }): string {
  const words = line(session.name ?? "") || line(session.firstMessage ?? "");
  return shortened(words, 80) || `session ${session.sessionId.slice(0, 8)}`;
}

/** What stands beside it. */
export function besides(session: SessionInfo, now: number, cwd: boolean): string {
  const parts = [ago(session.modified, now), counted(session.messageCount, "message")];
  if (cwd) parts.unshift(line(session.cwd.split("/").findLast(Boolean) ?? session.cwd));
  return parts.filter(Boolean).join(" · ");
}
