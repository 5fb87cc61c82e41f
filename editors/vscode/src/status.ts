/** The item in the status bar: the readiness of the config that is open, or what the server is at. */

import * as vscode from "vscode";
import { currentEditor } from "./commands";
import { shown } from "./readiness";
import type { Session } from "./session";

const SETTLED_AFTER = 150;

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("nemo-resumable.status", vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private turn = 0;

  constructor(private readonly session: Session) {
    this.item.name = "NeMo Resumable";
    this.item.command = "nemo-resumable.menu";
    this.subscriptions = [
      this.item,
      session.onDidChange(() => this.soon()),
      vscode.window.onDidChangeActiveTextEditor(() => this.soon()),
    ];
    this.soon();
  }

  /** Look again, once what is happening has settled. */
  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.update(), SETTLED_AFTER);
  }

  private async update(): Promise<void> {
    const turn = ++this.turn;
    const document = currentEditor()?.document;
    if (!document) {
      this.item.hide();
      return;
    }
    if (this.session.state !== "running") {
      this.tellState(document);
      return;
    }
    const connection = await this.session.connect();
    const configs = connection ? await connection.module.configsOf(connection.client, document.uri).catch(() => []) : [];
    if (turn !== this.turn) {
      return; // another file is open by now
    }
    const words = shown(configs);
    void vscode.commands.executeCommand("setContext", "nemo-resumable.ours", words !== undefined);
    if (!words) {
      this.item.hide();
      return;
    }
    this.tell(words.text, new vscode.MarkdownString(words.tooltip));
  }

  private tellState(document: vscode.TextDocument): void {
    const { state, trouble } = this.session;
    if (state === "idle" || !this.session.isOurs(document)) {
      this.item.hide();
    } else if (state === "starting") {
      this.tell("$(loading~spin) nemo-resumable", "The server is being started");
    } else {
      this.tell("$(warning) nemo-resumable", trouble);
      this.item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
    }
  }

  private tell(text: string, tooltip: string | vscode.MarkdownString): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.backgroundColor = undefined;
    this.item.show();
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
