// Above the tree: which session it is, where it comes from, how full the context is, and what can be done with it.

import type { Panel } from "../state/panel.ts";
import { exportMarkdown, rename, setWindow } from "../state/actions.ts";
import type { Session } from "../state/session.ts";
import { count, shown, tokens } from "../words.ts";
import { titleOf } from "./SessionList.tsx";

export function SessionHeader({ panel, session }: { panel: Panel; session: Session }) {
  const state = session.state.value;
  const listed = panel.sessions.value.find((one) => one.sessionId === session.id);
  const source = listed?.parentSession && panel.sessions.value.find((one) => one.path === listed.parentSession);
  const forks = listed?.path ? panel.sessions.value.filter((one) => one.parentSession === listed.path) : [];
  const title = titleOf({ sessionId: session.id, name: state?.name ?? null, firstMessage: listed?.firstMessage ?? "" });
  return (
    <header class="session-header">
      <h2 title={title}>{title}</h2>
      <div class="toolbar" role="group" aria-label="What can be done with this session">
        <button type="button" title="Rename the session (r)" onClick={() => rename(panel, session)}>
          Rename
        </button>
        <button type="button" title="Summarize the older part of the context (K)" onClick={() => (panel.dialog.value = { kind: "compact" })}>
          Compact
        </button>
        <button type="button" title="Say something at the leaf (a)" onClick={() => (panel.dialog.value = { kind: "compose", text: "" })}>
          Append
        </button>
        <button type="button" title="The path to the leaf as Markdown" onClick={() => void exportMarkdown(panel, session, session.leafId.value)}>
          Export
        </button>
        <button type="button" title="Fold all turns (-)" onClick={() => session.foldAll(true)}>
          Fold
        </button>
        <button type="button" title="Unfold all turns (*)" onClick={() => session.foldAll(false)}>
          Unfold
        </button>
        <button type="button" aria-pressed={session.all.value} title="Labels and settings too (.)" onClick={() => (session.all.value = !session.all.value)}>
          All kinds
        </button>
        <button type="button" title="Keys (?)" onClick={() => (panel.dialog.value = { kind: "help" })}>
          Keys
        </button>
      </div>
      <Meter panel={panel} session={session} />
      {(source || forks.length > 0) && (
        <p class="relations">
          {source && (
            <>
              <span>Forked from</span>
              <button type="button" class="link" onClick={() => void toSource(panel, session, source.sessionId)}>
                {titleOf(source)}
              </button>
            </>
          )}
          {forks.length > 0 && (
            <>
              <span>{forks.length === 1 ? "Its fork:" : "Its forks:"}</span>
              {forks.map((one) => (
                <button key={one.sessionId} type="button" class="link" onClick={() => void panel.show(one.sessionId)}>
                  {titleOf(one)}
                </button>
              ))}
            </>
          )}
        </p>
      )}
      {state !== null && state.damage.length > 0 && (
        <p class="bad">The file is damaged: {state.damage[0]!.message}</p>
      )}
      {session.compacting.value !== undefined && (
        <p class="under-way" role="status">
          A compaction is under way{session.compacting.value?.name ? ` (${session.compacting.value.name})` : ""}…
        </p>
      )}
    </header>
  );
}

/** To the source, at the last entry that both have. */
async function toSource(panel: Panel, fork: Session, id: string): Promise<void> {
  const path = fork.tree.path(fork.leafId.value);
  await panel.show(id);
  const source = panel.session.value;
  const shared = source?.id === id ? path.findLast((one) => source.tree.nodes.has(one)) : undefined;
  if (shared !== undefined) source!.reveal(shared);
}

function Meter({ panel, session }: { panel: Panel; session: Session }) {
  const stats = session.stats.value;
  const state = session.state.value;
  const used = state?.contextTokens ?? stats?.contextTokens;
  if (used === undefined) return <div class="meter-line" />;
  const window = stats?.contextWindow ?? null;
  const threshold = stats?.contextThreshold ?? null;
  const share = (value: number) => `${Math.min(100, (100 * value) / (window ?? 1))}%`;
  const due = threshold !== null && used > threshold;
  const sent = [...session.reasons.value.values()].filter((one) => one.inContext).length;
  const words =
    `${tokens(used)}${window === null ? "" : ` of ${tokens(window)}`} tokens` +
    (sent > 0 ? ` in ${count(sent, "entry", "entries")}` : "");
  return (
    <div class="meter-line">
      {window !== null && (
        <div
          class={due ? "meter due" : "meter"}
          role="meter"
          aria-label="How full the context is"
          aria-valuemin={0}
          aria-valuemax={window}
          aria-valuenow={Math.min(used, window)}
          aria-valuetext={`${words}${threshold === null ? "" : `; a compaction is due beyond ${tokens(threshold)}`}`}
          title={threshold === null ? words : `A compaction is due beyond ${tokens(threshold)} tokens`}
        >
          <span class="filled" style={{ width: share(used) }} />
          {threshold !== null && <span class="threshold" style={{ left: share(threshold) }} />}
        </div>
      )}
      <span class="meter-words">
        {words}
        {state?.model && ` · ${shown(state.model.modelId)}`}
        {due && <strong class="bad"> · a compaction is due</strong>}
      </span>
      <button type="button" class="link" onClick={() => setWindow(panel, session)}>
        {window === null ? "Set the window…" : "Change the window…"}
      </button>
    </div>
  );
}
