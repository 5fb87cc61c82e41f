/** The language client: which files it speaks of, which settings it tells, and how the server's texts are shown. */

import * as vscode from "vscode";
import {
  DidChangeConfigurationNotification,
  LanguageClient,
  RevealOutputChannelOn,
  type LanguageClientOptions,
} from "vscode-languageclient/node";
import type { Found } from "./discovery";
import { explicitSettings } from "./settings";
import { sentence } from "./requests";
import type { Text, Texts } from "./texts";

export { apply, configsOf } from "./requests";

/** The server's commands that answer with a text to be shown. */
const SHOWING = new Set(["nemo-resumable.explainRule", "nemo-resumable.diagnoseLogs", "nemo-resumable.showEffectiveConfig", "nemo-resumable.showInspected"]);
const REPORT = "/migration-report.md";
const NEVER = new vscode.CancellationTokenSource().token;

export const SELECTOR = [
  ...["yaml", "shellscript", "python"].flatMap((language) => [
    { scheme: "file", language },
    { scheme: "untitled", language },
  ]),
  { scheme: "file", pattern: "**/*.{sbatch,slurm}" },
];

export interface Surroundings {
  /** Where the server is run; see `world`. */
  readonly cwd: string;
  /** The names of the contributed settings. */
  readonly keys: readonly string[];
  readonly log: vscode.LogOutputChannel;
  readonly texts: Texts;
  /** Called when what is known of any file may have changed. */
  readonly onChange: () => void;
}

/** A client that has not been started. */
export function createClient(found: Found, around: Surroundings): LanguageClient {
  const options: LanguageClientOptions = {
    documentSelector: SELECTOR,
    outputChannel: around.log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    progressOnInitialization: false,
    middleware: {
      workspace: {
        configuration: (params) =>
          params.items.map((item) => {
            const scope = item.scopeUri ? vscode.Uri.parse(item.scopeUri) : undefined;
            return explicitSettings(vscode.workspace.getConfiguration("nemo-resumable", scope), around.keys);
          }),
        // No values: the server asks for those that were set, folder by folder.
        didChangeConfiguration: () =>
          client.sendNotification(DidChangeConfigurationNotification.type, { settings: null }),
      },
      window: {
        showDocument: async (params, next) => {
          if (params.uri.endsWith(REPORT)) {
            await vscode.commands.executeCommand("markdown.showPreviewToSide", vscode.Uri.parse(params.uri));
            return { success: true };
          }
          return (await next(params, NEVER)) as { success: boolean };
        },
      },
      executeCommand: async (command, args, next) => {
        try {
          const answer: unknown = await next(command, args);
          if (SHOWING.has(command) && isText(answer)) {
            await around.texts.show(answer);
          }
          return answer;
        } catch (error) {
          void vscode.window.showWarningMessage(sentence(error)); // what the server refuses it says in a sentence
          return undefined;
        }
      },
      handleDiagnostics: (uri, diagnostics, next) => {
        next(uri, diagnostics);
        around.onChange();
      },
      provideDiagnostics: async (document, previous, token, next) => {
        const report = await next(document, previous, token);
        around.onChange();
        return report;
      },
    },
  };
  const executable = { command: found.command, args: [...found.args, "lsp"], options: { cwd: around.cwd } };
  const client = new LanguageClient("nemo-resumable", "NeMo Resumable", executable, options);
  return client;
}

function isText(answer: unknown): answer is Text {
  const text = answer as Partial<Text> | null | undefined;
  return typeof text?.text === "string" && typeof text.title === "string" && typeof text.language === "string";
}
