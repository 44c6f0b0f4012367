// @tanstack/virtual-core for Preact: of a long list only what can be seen is in the document.

import { Virtualizer, defaultRangeExtractor, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

export interface Virtual {
  readonly virtualizer: Virtualizer<HTMLElement, HTMLElement>;
  readonly scroller: { current: HTMLElement | null };
}

/** `kept`: the index of a row that is always there, as the focus may be on it; -1: none. */
export function useVirtual(count: number, rowHeight: number, kept: number): Virtual {
  const [, again] = useReducer((times: number) => times + 1, 0);
  const scroller = useRef<HTMLElement | null>(null);
  const keptRef = useRef(kept);
  keptRef.current = kept;
  const options = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
      const found = defaultRangeExtractor(range);
      const extra = keptRef.current;
      if (extra < 0 || extra >= range.count || found.includes(extra)) return found;
      return [...found, extra].sort((one, other) => one - other);
    },
    onChange: () => again(0),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), [virtualizer]);
  useLayoutEffect(() => virtualizer._willUpdate());
  return { virtualizer, scroller };
}
