/** Texts that the server makes up (a rule's page, an effective config) as documents that cannot be edited. */

import * as vscode from "vscode";

export interface Text {
  readonly title: string;
  readonly language: string;
  readonly text: string;
}

const SCHEME = "nemo-resumable";
const SUFFIXES: Readonly<Record<string, string>> = { markdown: ".md", yaml: ".yaml" };

/** Shows one text for each title; a newer one takes the place of the one before. */
export class Texts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly known = new Map<string, string>();
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.changed.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.known.get(uri.toString()) ?? "";
  }

  /** Markdown is shown as it is meant to look, everything else as text beside the editor. */
  async show(text: Text): Promise<void> {
    const suffix = SUFFIXES[text.language] ?? ".txt";
    const name = text.title.replace(/[\\/:*?"<>|]+/g, "-").replace(new RegExp(`\\${suffix}$`), "") + suffix;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}` });
    this.known.set(uri.toString(), text.text);
    this.changed.fire(uri);
    if (text.language === "markdown") {
      await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
      return;
    }
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }

  dispose(): void {
    this.registration.dispose();
    this.changed.dispose();
  }
}
