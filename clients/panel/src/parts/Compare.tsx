// Two branches beside each other, from where they part.

import { useEffect, useState } from "preact/hooks";
import type { CompareResult } from "../../../typescript/src/index.ts";
import type { Panel } from "../state/panel.ts";
import type { Session } from "../state/session.ts";
import { type Node, isShown } from "../tree/model.ts";
import { count, kindOf, plain, reasonOf, rowText, toneOf } from "../words.ts";
import { useVirtual } from "./virtual.ts";

const ITEM = 46;

export function Compare({ panel, session, a, b }: { panel: Panel; session: Session; a: string; b: string }) {
  const [result, setResult] = useState<CompareResult | null>(null);
  useEffect(() => {
    setResult(null);
    panel.client!.request("session/compare", { sessionId: session.id, a, b }, { retry: true }).then(setResult, (error: unknown) => {
      panel.comparing.value = null;
      panel.failed(error);
    });
  }, [session, a, b]);
  const ancestor = result?.ancestorId == null ? undefined : session.tree.nodes.get(result.ancestorId);
  const close = () => (panel.comparing.value = null);
  return (
    <section class="compare" aria-label="Two branches compared">
      <div class="compare-head">
        <p>
          {result === null ? (
            "Reading…"
          ) : ancestor === undefined ? (
            "They have nothing in common."
          ) : (
            <>
              They part after{" "}
              <button
                type="button"
                class="link"
                onClick={() => {
                  close();
                  session.reveal(ancestor.id);
                }}
              >
                {plain(ancestor.preview) || kindOf(ancestor)}
              </button>
            </>
          )}
        </p>
        <button type="button" title="Back to the tree (Escape)" onClick={close}>
          Close
        </button>
      </div>
      {result !== null && (
        <div class="columns">
          <Column panel={panel} session={session} ids={result.a} title="The first" />
          <Column panel={panel} session={session} ids={result.b} title="The second" />
        </div>
      )}
    </section>
  );
}

function Column({ panel, session, ids, title }: { panel: Panel; session: Session; ids: readonly string[]; title: string }) {
  const nodes = ids.flatMap((id) => session.tree.nodes.get(id) ?? []).filter((node) => isShown(node, session.all.value));
  const { virtualizer, scroller } = useVirtual(nodes.length, ITEM, -1);
  const onPath = ids.length > 0 && session.path.value.has(ids[0]!);
  return (
    <div class="column">
      <h2>
        {title}: {count(nodes.length, "entry", "entries")}
        {onPath && <span class="chip here">active</span>}
      </h2>
      <div class="column-rows" ref={(element) => void (scroller.current = element)}>
        <ul role="list" style={{ height: `${nodes.length * ITEM}px` }}>
          {virtualizer.getVirtualItems().map(({ index }) => {
            const node = nodes[index];
            return node === undefined ? null : (
              <li key={node.id} style={{ transform: `translateY(${index * ITEM}px)` }}>
                <Item panel={panel} session={session} node={node} />
              </li>
            );
          })}
        </ul>
      </div>
    </div>
  );
}

function Item({ panel, session, node }: { panel: Panel; session: Session; node: Node }) {
  const reason = session.reasons.value.get(node.id);
  return (
    <button
      type="button"
      class={reason?.inContext ? "compared lit" : "compared"}
      aria-current={session.selected.value === node.id ? "true" : undefined}
      title={reasonOf(reason)}
      onClick={() => {
        session.reveal(node.id);
        panel.pane.value = "entry";
      }}
    >
      <span class={`kind ${toneOf(node)}`}>{kindOf(node)}</span> <span class="compared-text">{rowText(node)}</span>
    </button>
  );
}
