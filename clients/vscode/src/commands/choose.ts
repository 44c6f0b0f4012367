// Choosing a session: from all there are, or by what was said in one.

import * as vscode from "vscode";
import type { SearchHit, SessionInfo } from "../../../typescript/src/protocol.ts";
import { besides, grouped, titleOf } from "../session/listed.ts";
import { folders } from "../settings.ts";
import { ago, percent, said } from "../text.ts";
import { opened, type Parts } from "./parts.ts";

type SessionPick = vscode.QuickPickItem & { session?: SessionInfo };
type HitPick = vscode.QuickPickItem & { hit?: SearchHit };

const SEARCH_MS = 150;
/** Until it is asked again while the daemon indexes. */
const AGAIN_MS = 1_000;

export async function choose(parts: Parts): Promise<void> {
  const { asker } = parts;
  const listed = await asker.ask("list the sessions", async () => {
    const client = await asker.daemon.client();
    const here = await Promise.all(folders().map((cwd) => client.request("session/list", { cwd, limit: 500 })));
    const all = await client.request("session/list", { limit: 500 });
    return grouped([...here.map(({ sessions }) => sessions), all.sessions], folders());
  });
  if (listed === undefined) return;
  const pick = (cwd: boolean) => (session: SessionInfo): SessionPick => ({
    label: said(titleOf(session), 80),
    description: said(besides(session, Date.now(), cwd)),
    session,
  });
  const separator = (label: string): SessionPick => ({ label, kind: vscode.QuickPickItemKind.Separator });
  const picks = [separator("this workspace"), ...listed.here.map(pick(false)), separator("other directories"), ...listed.elsewhere.map(pick(true))];
  const picked = await vscode.window.showQuickPick(picks, { placeHolder: "A session of pi", matchOnDescription: true });
  if (picked?.session === undefined) return;
  await opened(parts, picked.session.sessionId);
  await vscode.commands.executeCommand("piSessions.tree.focus");
}

export async function search(parts: Parts): Promise<void> {
  const { asker } = parts;
  if (!(await asker.can("search", "search"))) return;
  const picker = vscode.window.createQuickPick<HitPick>();
  picker.placeholder = 'Words, and "phrases", of all sessions';
  let running: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function look(query: string): Promise<void> {
    running?.abort();
    const own = (running = new AbortController());
    if (query.trim() === "") {
      picker.items = [];
      picker.busy = false;
      return;
    }
    picker.busy = true;
    try {
      const client = await asker.daemon.client();
      const found = await client.request("session/search", { query, limit: 50 }, { signal: own.signal, retry: true });
      if (own !== running) return;
      picker.title = found.complete ? "" : `Still being indexed: ${percent(found.indexed)} was searched`;
      picker.items = found.hits.map(hitPick);
      if (!found.complete) timer = setTimeout(() => void look(query), AGAIN_MS);
    } catch (error) {
      if (own !== running) return;
      picker.items = [{ label: said(error instanceof Error ? error.message : String(error)), alwaysShow: true }];
    } finally {
      if (own === running) picker.busy = false;
    }
  }

  picker.onDidChangeValue((query) => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(query), SEARCH_MS);
  });
  picker.onDidHide(() => {
    clearTimeout(timer);
    running?.abort();
    picker.dispose();
  });
  picker.onDidAccept(() => {
    const hit = picker.selectedItems[0]?.hit;
    if (hit === undefined) return;
    picker.hide();
    void go(parts, hit);
  });
  picker.show();
}

function hitPick(hit: SearchHit): HitPick {
  const session = titleOf({ name: hit.name, sessionId: hit.sessionId });
  return {
    label: said(hit.snippet, 200),
    description: said([hit.role ?? hit.type, ago(hit.timestamp, Date.now()), hit.onPath ? "" : "another branch"].filter(Boolean).join(" · ")),
    detail: said(`${session} · ${hit.cwd}`),
    alwaysShow: true, // the daemon has chosen it, by its own rules
    hit,
  };
}

/** Shows the session, and the entry in it. */
async function go(parts: Parts, hit: SearchHit): Promise<void> {
  const session = await opened(parts, hit.sessionId);
  if (session === undefined) return;
  await vscode.commands.executeCommand("piSessions.tree.focus");
  await parts.documents.show("entry", session.id, hit.entryId);
  if (await parts.branches.reveal(hit.entryId, false)) return;
  // The tree is read yet; it shows the entry once it is.
  const waiting = parts.chosen.onChanged(({ kind }) => {
    if (kind !== "read" || session.nodes.length === 0) return;
    waiting.dispose();
    void parts.branches.reveal(hit.entryId, false);
  });
}
