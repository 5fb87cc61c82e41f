/** The server's life in this window: when it is worth starting, which one, and what happens when there is none. */

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type * as ClientModule from "./client";
import { complaint, discover, type Outcome } from "./discovery";
import { contributedKeys } from "./settings";
import { kindOf, looksLikeOurs } from "./sniffing";
import type { Texts } from "./texts";
import { onInterpreterChange, world } from "./world";

export type State = "idle" | "starting" | "running" | "missing";

/** A started client, and the module that speaks to it: it is loaded only when there is something to do. */
export interface Connection {
  readonly client: LanguageClient;
  readonly module: typeof ClientModule;
}

const CHOOSE = "Choose Program…";
const UVX = "Run with uvx…";
const INSTALL = "How to Install";
const TRUST = "Manage Workspace Trust";

export class Session implements vscode.Disposable {
  state: State = "idle";
  /** What stands in the way, where the state is `missing`. */
  trouble = "";
  private readonly changed = new vscode.EventEmitter<void>();
  /** Fires when the state, or what is known of any file, may have changed. */
  readonly onDidChange = this.changed.event;
  private starting: Promise<Connection | undefined> | undefined;
  private client: LanguageClient | undefined;
  private hasComplained = false;
  private isWatchingInterpreter = false;
  private readonly subscriptions: vscode.Disposable[] = [this.changed];

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly log: vscode.LogOutputChannel,
    private readonly texts: Texts,
  ) {}

  /** Start the server as soon as a file of ours is open, or where the settings say that there will be one. */
  async watch(): Promise<void> {
    this.subscriptions.push(
      vscode.workspace.onDidOpenTextDocument((document) => this.consider(document)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.consider(document)),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.again("the workspace is trusted now")),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("nemo-resumable.server")) {
          this.again("the settings say another server");
        }
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        if (this.state === "missing") {
          this.again("the folders have changed");
        }
      }),
    );
    vscode.workspace.textDocuments.forEach((document) => this.consider(document));
    if (this.state === "idle" && (await vscode.workspace.findFiles("**/.nemo-resumable.toml", "**/node_modules/**", 1)).length) {
      void this.connect();
    }
  }

  /** Whether a file looks like one of ours. */
  isOurs(document: vscode.TextDocument): boolean {
    const kind = ["file", "untitled"].includes(document.uri.scheme) ? kindOf(document.languageId, document.fileName) : undefined;
    return kind !== undefined && looksLikeOurs(kind, document.getText());
  }

  private consider(document: vscode.TextDocument): void {
    if (this.state === "idle" && this.isOurs(document)) {
      void this.connect();
    }
  }

  /** The running server, started where it was not; undefined where there is none, which the user is told. */
  async connect(): Promise<Connection | undefined> {
    this.starting ??= this.start();
    return this.starting;
  }

  /** Begin anew if the server was wanted at all. */
  private again(why: string): void {
    if (this.starting) {
      this.log.info(`Starting anew: ${why}.`);
      void this.restart();
    }
  }

  async restart(): Promise<Connection | undefined> {
    await this.starting?.catch(() => undefined);
    await this.stop();
    this.hasComplained = false;
    return this.connect();
  }

  private async start(): Promise<Connection | undefined> {
    this.become("starting");
    const cwd = this.context.extensionPath;
    const outcome = await discover(world(cwd));
    for (const each of outcome.rejected) {
      this.log.warn(`${each.command} ${each.args.join(" ")} (${each.origin}) ${each.reason}`);
    }
    if (!outcome.found) {
      this.fail(complaint(outcome), outcome);
      return undefined;
    }
    const { command, args, version, origin } = outcome.found;
    this.log.info(`nemo-resumable ${version}: ${[command, ...args, "lsp"].join(" ")} (${origin})`);
    const module: typeof ClientModule = await import("./client.js");
    this.client = module.createClient(outcome.found, {
      cwd,
      keys: contributedKeys(this.context.extension.packageJSON),
      log: this.log,
      texts: this.texts,
      onChange: () => this.changed.fire(),
    });
    const client = this.client;
    try {
      await client.start();
    } catch (error) {
      this.fail(`The server does not start: ${error instanceof Error ? error.message : String(error)}`, outcome);
      return undefined;
    }
    void this.watchInterpreter();
    this.become("running");
    return { client, module };
  }

  /** Another interpreter may have another server. The Python extension is loaded only where it may be asked. */
  private async watchInterpreter(): Promise<void> {
    if (!this.isWatchingInterpreter && vscode.workspace.isTrusted) {
      this.isWatchingInterpreter = true;
      const watch = await onInterpreterChange(() => this.again("another interpreter is selected"));
      this.subscriptions.push(...(watch ? [watch] : []));
    }
  }

  private fail(sentence: string, outcome: Outcome): void {
    this.trouble = sentence;
    this.log.error(sentence);
    this.become("missing");
    void this.watchInterpreter();
    if (!this.hasComplained) {
      this.hasComplained = true;
      void this.complain(outcome);
    }
  }

  /** Say what is missing, with a button for each way out. */
  private async complain(outcome: Outcome): Promise<void> {
    const isWithheld = outcome.restricted && !vscode.workspace.isTrusted;
    const buttons = [...(isWithheld ? [TRUST] : []), INSTALL, CHOOSE, ...(outcome.uvx ? [UVX] : [])];
    switch (await vscode.window.showWarningMessage(this.trouble, ...buttons)) {
      case TRUST:
        await vscode.commands.executeCommand("workbench.trust.manage");
        break;
      case INSTALL:
        await vscode.commands.executeCommand("nemo-resumable.gettingStarted");
        break;
      case CHOOSE:
        await vscode.commands.executeCommand("nemo-resumable.chooseServer");
        break;
      case UVX:
        await vscode.commands.executeCommand("nemo-resumable.useUvx");
        break;
      default:
    }
  }

  private become(state: State): void {
    this.state = state;
    void vscode.commands.executeCommand("setContext", "nemo-resumable.running", state === "running");
    this.changed.fire();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.starting = undefined;
    await client?.dispose(2000).catch(() => undefined); // one that does not end in time is killed
    this.become("idle");
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
