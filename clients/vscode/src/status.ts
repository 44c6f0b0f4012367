// The status bar: the branch, the size of its context, and whether it is time to compact.

import * as vscode from "vscode";
import type { Chosen } from "./session/chosen.ts";
import type { Daemon } from "./session/daemon.ts";
import { titleOf } from "./session/listed.ts";
import { number, percent, said, tokens } from "./text.ts";
import { branchLabel } from "./tree/shape.ts";

export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem("piSessions.status", vscode.StatusBarAlignment.Left, 10);
  readonly #parts: vscode.Disposable[];

  constructor(daemon: Daemon, chosen: Chosen) {
    this.#item.name = "pi session";
    this.#item.command = "piSessions.showTree";
    this.#parts = [chosen.onChanged(() => this.#draw(daemon, chosen)), daemon.onChanged(() => this.#draw(daemon, chosen))];
  }

  #draw(daemon: Daemon, chosen: Chosen): void {
    const session = chosen.session;
    if (session === undefined || session.gone) return this.#item.hide();
    const { stats } = session;
    const title = titleOf({ ...session.state, firstMessage: session.nodes[0]?.preview ?? "" });
    const parts = [`$(git-branch) ${said(branchLabel(session.labelled) ?? title, 30)}`];
    const about = [said(title, 60)];
    if (stats !== undefined) {
      parts.push(tokens(stats.contextTokens));
      about.push(`${number(stats.contextTokens)} tokens in the context`);
      if (stats.contextShare !== null && stats.contextWindow !== null) {
        parts.push(percent(stats.contextShare));
        about.push(`${percent(stats.contextShare)} of the window of ${number(stats.contextWindow)}`);
      }
    }
    const due = stats?.shouldCompact === true && session.compacting === undefined;
    if (session.compacting !== undefined) parts.push("$(sync~spin) compacting");
    else if (due) parts.push("$(fold) compact");
    if (due) about.push("a compaction is due");
    if (daemon.state !== "ready") parts.push("$(debug-disconnect)");
    this.#item.text = parts.join(" ");
    this.#item.tooltip = `${about.join("\n")}\n\nShow the branches`;
    this.#item.accessibilityInformation = { label: `pi session: ${about.join(", ")}` };
    this.#item.backgroundColor = due ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.#item.show();
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
    this.#item.dispose();
  }
}
