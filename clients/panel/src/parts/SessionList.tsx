// The sessions there are, by project, with search; forks are shown under what they come from.

import { useEffect, useState } from "preact/hooks";
import type { SessionInfo } from "../../../typescript/src/index.ts";
import type { Panel } from "../state/panel.ts";
import { count, shown, when } from "../words.ts";
import { useVirtual } from "./virtual.ts";

const ITEM = 52;
const SEARCH_MS = 250;

interface Hit {
  readonly sessionId: string;
  readonly entryId: string;
  readonly snippet: string;
}

export function SessionList({ panel }: { panel: Panel }) {
  const found = panel.found.value;
  const hits = useSearch(panel);
  const current = panel.session.value?.id ?? panel.refusal.value?.id ?? null;
  const at = found.findIndex((one) => one.sessionId === current);
  const { virtualizer, scroller } = useVirtual(found.length, ITEM, at);
  const byPath = new Map(panel.sessions.value.map((one) => [one.path, one]));

  function pressed(event: KeyboardEvent): void {
    const buttons = [...scroller.current!.querySelectorAll<HTMLElement>("button.session")];
    const now = buttons.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(buttons.length - 1, to))]?.focus();
  }

  return (
    <>
      <div class="search-box">
        <input
          class="search"
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions"
          value={panel.search.value}
          onInput={(event) => (panel.search.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown") scroller.current?.querySelector<HTMLElement>("button.session")?.focus();
            if (event.key === "Enter" && found[0] !== undefined) void panel.show(found[0].sessionId);
          }}
        />
        {panel.projects.value.length > 1 && (
          <select
            aria-label="Project"
            value={panel.project.value}
            onChange={(event) => (panel.project.value = event.currentTarget.value)}
          >
            <option value="">All projects</option>
            {panel.projects.value.map((cwd) => (
              <option key={cwd} value={cwd}>
                {shown(cwd)}
              </option>
            ))}
          </select>
        )}
      </div>
      {hits.length > 0 && (
        <ul class="hits" aria-label="Entries that were found">
          {hits.map((hit) => (
            <li>
              <button type="button" onClick={() => void panel.show(hit.sessionId, hit.entryId)}>
                {shown(hit.snippet)}
              </button>
            </li>
          ))}
        </ul>
      )}
      <p class="counted" role="status">
        {panel.listed.value ? count(found.length, "session") : "Reading…"}
      </p>
      <div class="sessions" ref={(element) => void (scroller.current = element)} onKeyDown={pressed}>
        <ul role="list" style={{ height: `${found.length * ITEM}px` }}>
          {virtualizer.getVirtualItems().map(({ index }) => {
            const one = found[index];
            if (one === undefined) return null;
            return (
              <li key={one.sessionId} style={{ transform: `translateY(${index * ITEM}px)` }}>
                <Item panel={panel} one={one} current={one.sessionId === current} source={byPath.get(one.parentSession)} />
              </li>
            );
          })}
        </ul>
      </div>
    </>
  );
}

function Item({ panel, one, current, source }: { panel: Panel; one: SessionInfo; current: boolean; source: SessionInfo | undefined }) {
  const project = shown(one.cwd.split("/").findLast(Boolean) ?? one.cwd);
  return (
    <button
      type="button"
      class="session"
      aria-current={current ? "true" : undefined}
      title={one.cwd}
      onClick={() => void panel.show(one.sessionId)}
    >
      <span class="session-name">
        {one.parentSession !== null && (
          <span class="fork" title={source === undefined ? "A fork" : `A fork of ${titleOf(source)}`}>
            <ForkMark />
          </span>
        )}
        {titleOf(one)}
      </span>
      <span class="session-facts">
        <span class="project">{project}</span>
        <span>{count(one.messageCount, "message")}</span>
        <time>{when(one.modified)}</time>
      </span>
    </button>
  );
}

function ForkMark() {
  return (
    <svg width="12" height="12" viewBox="0 0 12 12" role="img" aria-label="Fork">
      <path d="M3 1v10M3 7c0-4 6-1 6-5" fill="none" stroke="currentColor" stroke-width="1.6" />
    </svg>
  );
}

export function titleOf(one: { name: string | null; firstMessage?: string; sessionId: string }): string {
  return shown(one.name || one.firstMessage?.trim() || one.sessionId);
}

/** Entries of all sessions, where the daemon can search them. */
function useSearch(panel: Panel): readonly Hit[] {
  const query = panel.search.value.trim();
  const able = panel.connected.value === "there" && "search" in panel.client!.server.capabilities.experimental.piDaemon.features;
  const [hits, setHits] = useState<readonly Hit[]>([]);
  useEffect(() => {
    setHits([]);
    if (!able || query.length < 3) return;
    let wanted = true;
    const timer = setTimeout(() => {
      // Not in the protocol of every daemon, and so not in its types.
      const asked = panel.client!.request("session/search" as never, { query, limit: 20 } as never) as Promise<{ hits?: Hit[] }>;
      asked.then(
        (answer) => wanted && setHits(answer.hits ?? []),
        () => undefined,
      );
    }, SEARCH_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [query, able]);
  return hits;
}
