// The lanes of one row: lines that pass, come from above and go on below, and the entry's own mark.

import type { VNode } from "preact";
import type { Placed } from "./model.ts";

export const ROW = 30;
const MIDDLE = ROW / 2;
const WIDEST = 15;

/** How far lanes are apart where there are so many. */
export function spacing(lanes: number, room: number): number {
  return Math.max(2, Math.min(WIDEST, room / Math.max(1, lanes)));
}

interface Props {
  readonly place: Placed;
  readonly step: number;
  readonly width: number;
  readonly shape: "dot" | "turn" | "bar" | "cover";
  readonly tone: string;
  readonly leaf: boolean;
  readonly goesOn: boolean;
  readonly covered: boolean;
}

export function Graph({ place, step, width, shape, tone, leaf, goesOn, covered }: Props) {
  const { lane, first, above, below, onPath } = place;
  const x = (of: number) => 9 + of * step;
  const lines: VNode[] = [];
  const line = (key: string, path: string, active: boolean) =>
    lines.push(<path key={key} d={path} class={active ? "line active" : "line"} />);
  const has = (mask: number, of: number) => (mask & (1 << Math.min(of, 30))) !== 0;
  for (let of = 0; of < lane; of += 1) {
    line(`a${of}`, `M${x(of)} 0V${MIDDLE}`, has(above, of));
    line(`b${of}`, `M${x(of)} ${MIDDLE}V${ROW}`, has(below, of));
  }
  if (first) line("in", `M${x(lane - 1)} 0C${x(lane - 1)} ${MIDDLE} ${x(lane)} 2 ${x(lane)} ${MIDDLE}`, onPath);
  else if (!place.root) line("top", `M${x(lane)} 0V${MIDDLE}`, has(above, lane));
  if (goesOn) line("on", `M${x(lane)} ${MIDDLE}V${ROW}`, has(below, lane));
  return (
    <svg class={covered ? "graph covered" : "graph"} width={width} height={ROW} viewBox={`0 0 ${width} ${ROW}`} aria-hidden="true">
      {lines}
      {leaf && <circle class="leaf-ring" cx={x(lane)} cy={MIDDLE} r={7.5} />}
      {mark(shape, x(lane), tone)}
    </svg>
  );
}

function mark(shape: Props["shape"], x: number, tone: string) {
  if (shape === "turn") return <circle class={`mark ${tone}`} cx={x} cy={MIDDLE} r={5} />;
  if (shape === "bar") return <rect class={`mark ${tone}`} x={x - 5.5} y={MIDDLE - 3.5} width={11} height={7} rx={1.5} />;
  if (shape === "cover") {
    return <path class="mark compaction" d={`M${x - 6} ${MIDDLE - 5}H${x + 6}M${x - 6} ${MIDDLE}H${x + 6}M${x - 6} ${MIDDLE + 5}H${x + 6}`} />;
  }
  return <circle class={`mark ${tone}`} cx={x} cy={MIDDLE} r={3.2} />;
}
