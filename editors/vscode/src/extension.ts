/** The extension's beginning and end. It is small on purpose: the client is loaded when a file of ours is open. */

import * as vscode from "vscode";
import { registerCommands, storedSchema } from "./commands";
import { Session } from "./session";
import { Status } from "./status";
import { Texts } from "./texts";

let session: Session | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("NeMo Resumable", { log: true });
  const texts = new Texts();
  session = new Session(context, log, texts);
  context.subscriptions.push(log, texts, session, new Status(session));
  registerCommands(context, session, log);
  void session.watch();
  // Where the user has taken the schema into use, it is kept as new as the extension.
  const stored = vscode.Uri.joinPath(context.globalStorageUri, "settings.schema.json");
  vscode.workspace.fs.stat(stored).then(() => storedSchema(context), () => undefined);
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
