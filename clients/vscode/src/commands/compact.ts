// Compacting: what would be done, the doing of it, and what the summary kept and what not.

import * as vscode from "vscode";
import type { CompactParams } from "../../../typescript/src/protocol.ts";
import { titleOf } from "../session/listed.ts";
import { compactedDocument } from "../show/documents.ts";
import { number, percent, said } from "../text.ts";
import { type Given, type Parts, sessionOf } from "./parts.ts";

const COMPACT = "Compact";
const WITH = "Compact, and Say What to Look After…";

export async function compact(parts: Parts, given: Given): Promise<void> {
  const { asker } = parts;
  const session = await sessionOf(parts, given);
  if (session === undefined) return;
  const plan = await asker.ask("compact", () => session.client.request("session/compactionPlan", { sessionId: session.id }));
  if (plan === undefined) return;
  if (plan.summarizer === null) {
    void vscode.window.showWarningMessage("Can't compact: there is nobody to write the summary.");
    return;
  }
  const question = `Compact ${number(plan.tokensBefore)} tokens to about ${number(plan.tokensKept)} and a summary?`;
  const detail = `The summary is written by: ${said(plan.summarizer)}. Nothing is deleted; the leaf can be moved back.`;
  const how = await vscode.window.showInformationMessage(question, { modal: true, detail }, COMPACT, WITH);
  if (how === undefined) return;
  const params: CompactParams = { sessionId: session.id };
  if (how === WITH) {
    const instructions = await vscode.window.showInputBox({ prompt: "What the summary is to look after" });
    if (instructions === undefined) return;
    if (instructions.trim() !== "") params.instructions = instructions;
  }
  const done = await asker.askLong("compact", "Compacting", ({ remedy, signal, progress }) =>
    session.client.request(
      "session/compact",
      { ...params, ...(remedy === "embedded" && { summarizer: "extractive" }) },
      { ...(signal && { signal }), ...(progress && { progress }) },
    ),
  );
  if (done === undefined) return;
  const title = titleOf({ ...session.state, firstMessage: session.nodes[0]?.preview ?? "" });
  await parts.documents.showMade("Compacted", compactedDocument(title, done));
  const { scoreAfter, missing, missingLeftOut } = done.retention;
  const lacks = missing.length + missingLeftOut;
  const lost = lacks === 0 ? "" : `; ${number(lacks)} it did not name by itself`;
  void vscode.window.showInformationMessage(
    `Compacted to about ${number(done.tokensAfter)} tokens. The summary has ${percent(scoreAfter)} of the facts${lost}.`,
  );
}
