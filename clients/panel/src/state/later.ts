// Work that many changes ask for, and that is done once for several of them.

/** How many times the wait it may become where they don't cease to ask. */
const PATIENCE = 4;

export class Later {
  readonly #timers = new Map<string, { until: number; timer: ReturnType<typeof setTimeout> }>();
  #ended = false;

  /** Does `work` so many milliseconds after the last one who asked for `what`. What it rejects with is forgotten: the next
   * change asks again. */
  do(what: string, after: number, work: () => Promise<void>): void {
    const now = performance.now();
    const known = this.#timers.get(what);
    clearTimeout(known?.timer);
    const until = known?.until ?? now + PATIENCE * after;
    const run = () => {
      this.#timers.delete(what);
      if (!this.#ended) work().catch(() => undefined);
    };
    this.#timers.set(what, { until, timer: setTimeout(run, Math.min(after, Math.max(0, until - now))) });
  }

  end(): void {
    this.#ended = true;
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
  }
}
