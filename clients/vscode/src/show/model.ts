// The editor's own language model, offered to the daemon to write summaries with: where there is one, and the user has
// allowed it. VS Code asks for consent by itself.

import * as vscode from "vscode";
import type { Summarizer } from "../../../typescript/src/connection.ts";
import type { SummarizeParams } from "../../../typescript/src/protocol.ts";
import { setting } from "../settings.ts";

export class Editor implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  /** Whether summaries can be made may be another matter now. */
  readonly onChanged = this.#changed.event;
  readonly #log: vscode.LogOutputChannel;
  readonly #parts: vscode.Disposable[] = [this.#changed];

  constructor(log: vscode.LogOutputChannel) {
    this.#log = log;
    const models = vscode.lm as typeof vscode.lm | undefined; // not in every editor that takes extensions
    if (models?.onDidChangeChatModels) this.#parts.push(models.onDidChangeChatModels(() => this.#changed.fire()));
    this.#parts.push(
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("pi-daemon.summarizer")) this.#changed.fire();
      }),
    );
  }

  /** undefined: not allowed, or there is no model. */
  async summarizer(): Promise<Summarizer | undefined> {
    if (!setting.summarizer() || (await this.#model()) === undefined) return undefined;
    return (wanted, signal) => this.#summarize(wanted, signal);
  }

  async #model(): Promise<vscode.LanguageModelChat | undefined> {
    const models = vscode.lm as typeof vscode.lm | undefined;
    if (!models?.selectChatModels) return undefined;
    try {
      const found = await models.selectChatModels();
      const wanted = setting.summarizerModel();
      return wanted === "" ? found[0] : found.find((one) => one.id === wanted || one.family === wanted);
    } catch (error) {
      this.#log.warn(`The editor's language models can't be listed: ${String(error)}`);
      return undefined;
    }
  }

  /** What it throws has the daemon ask somebody else. */
  async #summarize(wanted: SummarizeParams, signal: AbortSignal): Promise<{ summary: string; model: string }> {
    const model = await this.#model();
    if (model === undefined) throw new Error("the editor has no language model any more");
    const cancelling = new vscode.CancellationTokenSource();
    const cancel = () => cancelling.cancel();
    signal.addEventListener("abort", cancel);
    try {
      const asked = [wanted.systemPrompt, `<conversation>\n${wanted.conversation}\n</conversation>`];
      if (wanted.previousSummary !== undefined) asked.push(`<previous-summary>\n${wanted.previousSummary}\n</previous-summary>`);
      asked.push(wanted.prompt);
      const text = asked.join("\n\n");
      const size = await model.countTokens(text, cancelling.token);
      if (size + wanted.maxTokens > model.maxInputTokens) {
        throw new Error(`the conversation has ${size} tokens, ${model.name} takes ${model.maxInputTokens}`);
      }
      const justification = "pi-daemon summarizes the older part of a session.";
      const answer = await model.sendRequest([vscode.LanguageModelChatMessage.User(text)], { justification }, cancelling.token);
      let summary = "";
      for await (const part of answer.text) summary += part;
      if (summary.trim() === "") throw new Error(`${model.name} answered with nothing`);
      return { summary, model: `${model.vendor}/${model.family}` };
    } catch (error) {
      if (!signal.aborted) this.#log.warn(`No summary by the editor's language model: ${String(error)}`);
      throw error;
    } finally {
      signal.removeEventListener("abort", cancel);
      cancelling.dispose();
    }
  }

  dispose(): void {
    for (const part of this.#parts) part.dispose();
  }
}
