// Something that is done again after each change, but never more than a third of the time. Pure.

export class Pace {
  readonly #work: () => Promise<void>;
  #wanted = false;
  #running = false;
  #stopped = false;

  /** `work` tells its own errors. */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  /** Do it now, or once more after the time that is under way. */
  want(): void {
    this.#wanted = true;
    if (!this.#running && !this.#stopped) void this.#run();
  }

  stop(): void {
    this.#stopped = true;
  }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#wanted && !this.#stopped) {
      this.#wanted = false;
      const began = performance.now();
      await this.#work().catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 2 * (performance.now() - began)));
    }
    this.#running = false;
  }
}
