// The whole panel: the connection, the sessions there are, the one that is shown, and what is said to the user.

import { batch, computed, signal } from "@preact/signals";
import { Client, ConnectionLost, ServerError, type SessionInfo } from "../../../typescript/src/index.ts";
import type { PanelHost } from "../host.ts";
import type { Dialog } from "./dialogs.ts";
import { Session, type Told } from "./session.ts";

export type Connected = "coming" | "there" | "lost" | "refused";
export type Pane = "sessions" | "tree" | "entry";

export interface Notice extends Told {
  readonly number: number;
  readonly undo?: () => void;
  readonly bad?: boolean;
}

const LIST_PAGE = 200;
const LIST_AGAIN_MS = 10_000;
/** A list that takes long is asked for less often: so many times what it took. */
const SHARE = 50;
const FIRST_AGAIN_MS = 300;
const AGAIN_MS = 2_000;
const NOTICE_MS = 8_000;

export class Panel {
  readonly host: PanelHost;
  readonly connected = signal<Connected>("coming");
  readonly sessions = signal<readonly SessionInfo[]>([]);
  readonly listed = signal(false);
  readonly search = signal("");
  /** The directory whose sessions are listed; empty: all. */
  readonly project = signal("");
  readonly session = signal<Session | null>(null);
  /** Why the session that was asked for isn't shown. */
  readonly refusal = signal<{ id: string; message: string; recoverable: boolean } | null>(null);
  readonly pane = signal<Pane>("tree");
  readonly dialog = signal<Dialog | null>(null);
  readonly notice = signal<Notice | null>(null);
  readonly comparing = signal<{ a: string; b: string } | null>(null);
  client: Client | undefined;
  #notices = 0;
  #ended = false;
  #listing: ReturnType<typeof setTimeout> | undefined;

  /** The sessions that fit what is searched for, those of the host's directory first. */
  readonly found = computed(() => {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (one: SessionInfo) => {
      const text = `${one.name ?? ""} ${one.firstMessage} ${one.cwd} ${one.sessionId}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const project = this.project.value;
    const found = this.sessions.value.filter((one) => (project === "" || one.cwd === project) && fits(one));
    const here = this.host.cwd;
    return here === undefined ? found : found.sort((a, b) => Number(b.cwd === here) - Number(a.cwd === here));
  });

  /** The directories that sessions work in, those with the newest activity first. */
  readonly projects = computed(() => [...new Set(this.sessions.value.map(({ cwd }) => cwd))]);

  constructor(host: PanelHost) {
    this.host = host;
  }

  async start(): Promise<void> {
    this.client = await this.#connect();
    if (this.client === undefined) return;
    this.connected.value = "there";
    this.client.onConnection((there) => this.#told(there));
    void this.list();
    document.addEventListener("visibilitychange", () => document.hidden || void this.list());
    const first = this.host.sessionId;
    if (first !== undefined) await this.show(first);
    else this.pane.value = "sessions";
  }

  async #connect(): Promise<Client | undefined> {
    for (let delay = FIRST_AGAIN_MS; !this.#ended; delay = AGAIN_MS) {
      try {
        const client = await Client.connect(this.host.endpoint, { name: this.host.name });
        this.host.greeted?.(client.server);
        return client;
      } catch (error) {
        if (error instanceof ServerError && error.reason !== "shuttingDown") {
          batch(() => {
            this.connected.value = "refused";
            this.say({ text: error.reason === "unauthorized" ? this.host.refused : error.message, bad: true });
          });
          return undefined;
        }
        this.connected.value = "lost";
        await new Promise((resolve) => setTimeout(resolve, delay));
      }
    }
    return undefined;
  }

  #told(there: boolean): void {
    this.connected.value = there ? "there" : "lost";
    if (there) {
      this.host.greeted?.(this.client!.server);
      void this.list();
      const asked = this.refusal.value?.id;
      if (asked !== undefined && this.session.value === null) void this.show(asked);
    } else {
      // The client looks for the daemon by itself; where it is refused nothing comes of it any more.
      const refused = (error: unknown) => error instanceof ServerError && error.reason === "unauthorized";
      void this.client!.request("daemon/status", {}, { retry: true }).catch((error: unknown) => {
        if (!refused(error)) return;
        this.connected.value = "refused";
        this.say({ text: this.host.refused, bad: true });
      });
    }
  }

  async close(): Promise<void> {
    this.#ended = true;
    clearTimeout(this.#listing);
    this.session.value?.close();
    await this.client?.close();
  }

  /** Now, and again after a while: no notification tells of sessions that nobody has open. */
  async list(): Promise<void> {
    const client = this.client;
    if (client === undefined || this.#ended) return;
    clearTimeout(this.#listing);
    const begun = performance.now();
    const again = () => {
      const took = performance.now() - begun;
      clearTimeout(this.#listing);
      this.#listing = setTimeout(() => (document.hidden ? again() : void this.list()), Math.max(LIST_AGAIN_MS, SHARE * took));
    };
    if (!client.connected) return again();
    try {
      const found: SessionInfo[] = [];
      let cursor: string | undefined;
      do {
        const asked = { limit: LIST_PAGE, ...(cursor !== undefined && { cursor }) };
        const page = await client.request("session/list", asked, { retry: true });
        found.push(...page.sessions);
        cursor = page.nextCursor;
        if (!this.listed.value) this.sessions.value = [...found];
      } while (cursor !== undefined);
      batch(() => {
        if (!same(found, this.sessions.value)) this.sessions.value = found;
        this.listed.value = true;
      });
    } catch (error) {
      this.failed(error);
    } finally {
      again();
    }
  }

  /** Shows a session. `at`: the entry to go to. */
  async show(id: string, at?: string, recover = false): Promise<void> {
    const client = this.client;
    if (client === undefined) return;
    const former = this.session.value;
    if (former?.id === id && !former.gone.value) {
      batch(() => {
        this.pane.value = "tree";
        if (at !== undefined) former.reveal(at);
      });
      return;
    }
    const session = new Session(client, id, (told) => this.say(told));
    batch(() => {
      this.comparing.value = null;
      this.refusal.value = null;
      this.session.value = session;
      this.pane.value = "tree";
    });
    former?.close();
    this.host.shown?.(id);
    try {
      await session.open(recover);
      if (at !== undefined) session.reveal(at);
    } catch (error) {
      if (this.session.value !== session) return;
      const refused = error instanceof ServerError;
      batch(() => {
        this.session.value = null;
        const message = error instanceof Error ? error.message : String(error);
        const recoverable = refused && error.reason === "sessionCorrupted" && error.data["recoverable"] !== false;
        this.refusal.value = { id, message, recoverable };
      });
      session.close();
    }
  }

  say(told: Omit<Notice, "number">): void {
    this.#notices += 1;
    const notice = { ...told, number: this.#notices };
    this.notice.value = notice;
    if (told.bad || told.details !== undefined) return; // until it was read
    setTimeout(() => {
      if (this.notice.value === notice) this.notice.value = null;
    }, NOTICE_MS);
  }

  failed(error: unknown): void {
    if (error instanceof ConnectionLost) this.say({ text: "The connection was lost: look whether that was done." });
    else if (error instanceof Error) this.say({ text: error.message, bad: true });
  }
}

function same(one: readonly SessionInfo[], other: readonly SessionInfo[]): boolean {
  return one.length === other.length && JSON.stringify(one) === JSON.stringify(other);
}
