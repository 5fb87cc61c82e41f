/** What is asked of the server beyond what the editor asks by itself. */

import * as vscode from "vscode";
import {
  CodeActionRequest,
  CodeActionResolveRequest,
  ExecuteCommandRequest,
  type CodeAction,
  type Command,
  type LanguageClient,
} from "vscode-languageclient/node";
import type { ConfigStatus } from "./readiness";

/** The configs that a file is, or is read by. */
export async function configsOf(client: LanguageClient, uri: vscode.Uri): Promise<readonly ConfigStatus[]> {
  const answer: unknown = await client.sendRequest(ExecuteCommandRequest.type, {
    command: "nemo-resumable.status",
    arguments: [client.code2ProtocolConverter.asUri(uri)],
  });
  return (answer as { configs?: ConfigStatus[] } | null)?.configs ?? [];
}

/**
 * Apply the code action of a kind to the open file, as one step that can be undone. Where several are offered (a blend
 * that two configs read), the user picks one. Returns the files that were changed; undefined where nothing was.
 */
export async function apply(
  client: LanguageClient,
  document: vscode.TextDocument,
  kind: string,
): Promise<readonly vscode.Uri[] | undefined> {
  const offered = await client.sendRequest(CodeActionRequest.type, {
    textDocument: client.code2ProtocolConverter.asTextDocumentIdentifier(document),
    range: client.code2ProtocolConverter.asRange(document.validateRange(new vscode.Range(0, 0, Number.MAX_SAFE_INTEGER, 0))),
    context: { diagnostics: [], only: [kind] },
  });
  const actions = (offered ?? []).filter(isCodeAction);
  const [first] = actions;
  const chosen = actions.length > 1 ? await picked(actions) : first;
  if (!chosen) {
    if (!first) {
      void vscode.window.showInformationMessage("nemo-resumable: there is nothing here that can be fixed safely.");
    }
    return undefined;
  }
  try {
    const resolved = chosen.edit ? chosen : await client.sendRequest(CodeActionResolveRequest.type, chosen);
    const edit = await client.protocol2CodeConverter.asWorkspaceEdit(resolved.edit);
    if (!edit || !(await vscode.workspace.applyEdit(edit, { isRefactoring: true }))) {
      return undefined;
    }
    return edit.entries().map(([uri]) => uri);
  } catch (error) {
    void vscode.window.showWarningMessage(sentence(error));
    return undefined;
  }
}

async function picked(actions: readonly CodeAction[]): Promise<CodeAction | undefined> {
  const choice = await vscode.window.showQuickPick(
    actions.map((action) => ({ label: action.title, action })),
    { placeHolder: "Several configs read this blend" },
  );
  return choice?.action;
}

function isCodeAction(action: CodeAction | Command): action is CodeAction {
  return typeof (action as Command).command !== "string";
}

/** An error as a sentence. */
export function sentence(error: unknown): string {
  return `nemo-resumable: ${error instanceof Error ? error.message : String(error)}`;
}
