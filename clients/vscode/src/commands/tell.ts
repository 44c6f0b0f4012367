// Requests that the user has asked for: how a refusal is told, and what can be done about it at once.

import * as vscode from "vscode";
import { type Advice, advise, REMEDIES, type Remedy, tooOld } from "../session/advice.ts";
import { type Daemon, Unjoined } from "../session/daemon.ts";
import { signalOf } from "../signal.ts";
import { said } from "../text.ts";

export interface Attempt {
  readonly signal?: AbortSignal;
  /** What the user has agreed to after a refusal. */
  readonly remedy?: Remedy;
  /** How far it is, where it takes long enough. */
  readonly progress?: (value: { kind: string; message?: string; title?: string; percentage?: number }) => void;
}

/** What a remedy does that has nothing to do with the request itself. */
const ELSEWHERE: Partial<Record<Remedy, string>> = {
  choose: "piSessions.choose",
  log: "piSessions.showLog",
  reconnect: "piSessions.connect",
  settings: "piSessions.openSettings",
  tree: "piSessions.showTree",
};

export class Asker {
  readonly daemon: Daemon;
  readonly #shown: () => string | undefined;

  /** `shown`: the session that is shown, and written to unless a command says otherwise. */
  constructor(daemon: Daemon, shown: () => string | undefined) {
    this.daemon = daemon;
    this.#shown = shown;
  }

  /** Does it, and again where the user wants that after a refusal. undefined: it wasn't done. `sessionId`: of the session
   * that is written to, where it isn't the one that is shown. */
  async ask<T>(doing: string, request: (attempt: Attempt) => Promise<T>, sessionId?: string): Promise<T | undefined> {
    for (let tried: Attempt = {}; ; ) {
      try {
        const about = sessionId ?? this.#shown();
        if (tried.remedy === "takeOver" && about !== undefined) {
          const client = await this.daemon.client();
          await client.request("session/requestWriter", { sessionId: about });
        }
        return await request(tried);
      } catch (error) {
        const advice = error instanceof Unjoined ? error.advice : advise(doing, error);
        if (advice === undefined) return undefined;
        this.daemon.log.warn(advice.message);
        const remedy = await this.tell(advice);
        if (remedy === undefined || remedy in ELSEWHERE) return undefined;
        tried = { remedy };
      }
    }
  }

  /** The same, with its progress shown, and a button that takes it back. */
  async askLong<T>(doing: string, title: string, request: (attempt: Attempt) => Promise<T>): Promise<T | undefined> {
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    const once = async (given: Attempt): Promise<T> =>
      await vscode.window.withProgress(options, (progress, token) => {
        let done = 0;
        const told: Attempt["progress"] = ({ kind, message, percentage }) => {
          if (kind === "end") return;
          const increment = percentage === undefined ? undefined : Math.max(0, percentage - done);
          done = Math.max(done, percentage ?? 0);
          progress.report({ ...(message !== undefined && { message: said(message, 100) }), ...(increment !== undefined && { increment }) });
        };
        return request({ ...given, signal: signalOf(token), progress: told });
      });
    return this.ask(doing, once);
  }

  /** Which of its remedies the user has chosen. Those that are done elsewhere are done. */
  async tell(advice: Advice): Promise<Remedy | undefined> {
    const titles = advice.remedies.map((remedy) => REMEDIES[remedy]);
    const chosen = await vscode.window.showErrorMessage(advice.message, ...titles);
    const remedy = advice.remedies.find((one) => REMEDIES[one] === chosen);
    if (remedy !== undefined && ELSEWHERE[remedy] !== undefined) await vscode.commands.executeCommand(ELSEWHERE[remedy]);
    return remedy;
  }

  /** Whether the daemon has what is needed; the user is told where it hasn't. */
  async can(doing: string, feature: string): Promise<boolean> {
    const joined = await this.ask(doing, () => this.daemon.client());
    if (joined === undefined) return false;
    if (this.daemon.can(feature)) return true;
    void this.tell(tooOld(doing));
    return false;
  }
}

export function inform(message: string): void {
  void vscode.window.showInformationMessage(message);
}
