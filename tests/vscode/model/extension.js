// A language model of the editor's that summarizes everything in the same words.

const vscode = require("vscode");

const model = {
  id: "parrot",
  name: "Parrot",
  family: "parrot",
  version: "1",
  maxInputTokens: 200_000,
  maxOutputTokens: 8_000,
  capabilities: {},
};

exports.activate = (context) => {
  const provider = {
    provideLanguageModelChatInformation: async () => [model],
    provideLanguageModelChatResponse: async (_model, messages, _options, progress) => {
      const text = JSON.stringify(messages);
      const heard = text.includes("It prints one.") ? "heard" : "not heard";
      progress.report(new vscode.LanguageModelTextPart(`## Goal\n\nThe parrot has ${heard} the conversation.`));
    },
    provideTokenCount: async (_model, text) => Math.ceil(JSON.stringify(text).length / 4),
  };
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("tests", provider));
};
