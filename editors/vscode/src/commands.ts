/** The commands of the palette, the status bar and the walkthrough. */

import * as vscode from "vscode";
import type { ConfigStatus } from "./readiness";
import type { Connection, Session } from "./session";

const FIX_ALL = "source.fixAll.nemo-resumable";
const MIGRATE = "refactor.rewrite.nemo-resumable";
const SAVE = "Save All";
const REPORT = "Write Artifacts";

/** Register all of them. */
export function registerCommands(context: vscode.ExtensionContext, session: Session, log: vscode.LogOutputChannel): void {
  const commands: Record<string, (...args: unknown[]) => unknown> = {
    migrate: () => withFile(session, migrate),
    fixAll: () => withFile(session, fixAll),
    report: () => withFile(session, report),
    explain: () => withFile(session, explain),
    effective: () => withFile(session, effective),
    inspected: () => withFile(session, inspected),
    diagnose: () => diagnose(session),
    menu: () => menu(session),
    restartServer: () => session.restart(),
    showLog: () => log.show(),
    fixOnSave,
    chooseServer,
    useUvx,
    useSettingsSchema: () => useSettingsSchema(context),
    gettingStarted: () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", `${context.extension.id}#start`, false),
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(`nemo-resumable.${name}`, run));
  }
}

/** The editor that commands and the status bar are about: beside a preview that has the focus, the one that is seen. */
export function currentEditor(): vscode.TextEditor | undefined {
  return vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
}

async function withFile(
  session: Session,
  run: (connection: Connection, editor: vscode.TextEditor) => Promise<void>,
): Promise<void> {
  const editor = currentEditor();
  if (!editor) {
    void vscode.window.showInformationMessage("nemo-resumable: open a training config first.");
    return;
  }
  const connection = await session.connect();
  if (connection) {
    await run(connection, editor);
  } else if (session.trouble) {
    void vscode.window.showWarningMessage(session.trouble);
  }
}

async function migrate({ client, module }: Connection, editor: vscode.TextEditor): Promise<void> {
  const changed = await module.apply(client, editor.document, MIGRATE);
  if (!changed) {
    return;
  }
  const files = changed.length === 1 ? "1 file is" : `${changed.length} files are`;
  const choice = await vscode.window.showInformationMessage(
    `${files} migrated as far as that is safe; nothing is saved yet.`,
    SAVE,
    REPORT,
  );
  if (choice === SAVE) {
    await vscode.workspace.saveAll(false);
  } else if (choice === REPORT) {
    await vscode.commands.executeCommand("nemo-resumable.report");
  }
}

async function fixAll({ client, module }: Connection, editor: vscode.TextEditor): Promise<void> {
  await module.apply(client, editor.document, FIX_ALL);
}

async function report(connection: Connection, editor: vscode.TextEditor): Promise<void> {
  const config = await configOf(connection, editor);
  if (config) {
    await vscode.commands.executeCommand("nemo-resumable.writeArtifacts", config.uri); // the server has the report shown
  }
}

async function effective(connection: Connection, editor: vscode.TextEditor): Promise<void> {
  const config = await configOf(connection, editor);
  if (!config) {
    return;
  }
  const isOpen = config.uri === connection.client.code2ProtocolConverter.asUri(editor.document.uri);
  const position = connection.client.code2ProtocolConverter.asPosition(editor.selection.active);
  await vscode.commands.executeCommand("nemo-resumable.showEffectiveConfig", config.uri, ...(isOpen ? [{ position }] : []));
}

async function inspected(connection: Connection, editor: vscode.TextEditor): Promise<void> {
  const config = await configOf(connection, editor);
  if (config) {
    await vscode.commands.executeCommand("nemo-resumable.showInspected", config.uri);
  }
}

/** The config that a command is about: the open file, or the one that reads it. */
async function configOf({ client, module }: Connection, editor: vscode.TextEditor): Promise<ConfigStatus | undefined> {
  const configs = await module.configsOf(client, editor.document.uri);
  if (configs.length > 1) {
    const choice = await vscode.window.showQuickPick(
      configs.map((config) => ({ label: config.name, description: config.readiness, config })),
      { placeHolder: "Several configs read this file" },
    );
    return choice?.config;
  }
  if (!configs.length) {
    const name = vscode.workspace.asRelativePath(editor.document.uri);
    void vscode.window.showInformationMessage(
      `nemo-resumable: ${name} is no training config that Lhotse reads, and none that is known reads it.`,
    );
  }
  return configs[0];
}

/** Name the cause of a failed run from its logs; the open config, where there is one, is asked for the line behind it. */
async function diagnose(session: Session): Promise<void> {
  const logs = await vscode.window.showOpenDialog({
    title: "The logs of one run: all its ranks' files",
    openLabel: "Diagnose",
    canSelectMany: true,
  });
  const connection = logs?.length ? await session.connect() : undefined;
  if (!logs?.length || !connection) {
    if (logs?.length && session.trouble) {
      void vscode.window.showWarningMessage(session.trouble);
    }
    return;
  }
  const { client, module } = connection;
  const editor = currentEditor();
  const configs = editor ? await module.configsOf(client, editor.document.uri) : [];
  const uris = logs.map((log) => client.code2ProtocolConverter.asUri(log));
  await vscode.commands.executeCommand("nemo-resumable.diagnoseLogs", uris, ...(configs.length === 1 && configs[0] ? [configs[0].uri] : []));
}

interface Row {
  readonly label: string;
  readonly description: string;
  readonly code?: string;
}

/** The rules that speak up in the open file are offered, those at the cursor first; any other by its code or name. */
async function explain(_: Connection, editor: vscode.TextEditor): Promise<void> {
  const here = editor.selection.active.line;
  const found = vscode.languages
    .getDiagnostics(editor.document.uri)
    .filter((diagnostic) => diagnostic.source === "nemo-resumable" && diagnostic.code !== undefined)
    .sort((one, other) => Math.abs(one.range.start.line - here) - Math.abs(other.range.start.line - here));
  const items = new Map<string, Row>();
  for (const { code, message } of found) {
    const value = String(typeof code === "object" ? code.value : code);
    if (!items.has(value)) {
      items.set(value, { label: value, description: message, code: value });
    }
  }
  const other: Row = { label: "Another rule…", description: "" };
  const choice = items.size ? await vscode.window.showQuickPick([...items.values(), other], { matchOnDescription: true }) : other;
  if (!choice) {
    return;
  }
  const word =
    choice.code ?? (await vscode.window.showInputBox({ prompt: "Code or name of a rule", placeHolder: "NR110" }));
  if (word) {
    await vscode.commands.executeCommand("nemo-resumable.explainRule", word.trim());
  }
}

async function menu(session: Session): Promise<void> {
  const rows: { label: string; command: string }[] =
    session.state === "missing"
      ? [
          { label: "$(mortar-board) How to install the server", command: "gettingStarted" },
          { label: "$(folder-opened) Choose the program…", command: "chooseServer" },
          { label: "$(refresh) Look again", command: "restartServer" },
          { label: "$(output) Show the log", command: "showLog" },
        ]
      : [
          { label: "$(sparkle-filled) Migrate this config: all safe fixes, in its blends too", command: "migrate" },
          { label: "$(check-all) Fix everything in this file that is safe to fix", command: "fixAll" },
          { label: "$(file-text) Write the migration artifacts and open the report", command: "report" },
          { label: "$(book) Explain a rule…", command: "explain" },
          { label: "$(list-tree) Show the effective config of a dataset", command: "effective" },
          { label: "$(search) Show what the verdict rests on", command: "inspected" },
          { label: "$(bug) Diagnose a run log…", command: "diagnose" },
          { label: "$(refresh) Restart the server", command: "restartServer" },
          { label: "$(output) Show the log", command: "showLog" },
        ];
  const choice = await vscode.window.showQuickPick(rows, { placeHolder: session.trouble || "NeMo Resumable" });
  if (choice) {
    await vscode.commands.executeCommand(`nemo-resumable.${choice.command}`);
  }
}

/** Have YAML files fixed when they are saved: in this workspace, or everywhere where none is open. */
async function fixOnSave(): Promise<void> {
  const isWorkspace = (vscode.workspace.workspaceFolders ?? []).length > 0;
  const target = isWorkspace ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
  const editor = vscode.workspace.getConfiguration("editor", { languageId: "yaml" });
  const known = editor.inspect<Record<string, string>>("codeActionsOnSave");
  const own = (isWorkspace ? known?.workspaceLanguageValue : known?.globalLanguageValue) ?? {};
  await editor.update("codeActionsOnSave", { ...own, [FIX_ALL]: "explicit" }, target, true);
  void vscode.window.showInformationMessage(
    `nemo-resumable: safe fixes are made when a YAML file is saved, ${isWorkspace ? "in this workspace" : "everywhere"}.`,
  );
}

/** The setting is made for the user, never in the workspace: which program runs is not a repository's to say. */
async function chooseServer(): Promise<void> {
  const chosen = await vscode.window.showOpenDialog({
    title: "The nemo-resumable program, or a Python that has it",
    openLabel: "Use This Program",
    canSelectMany: false,
  });
  if (chosen?.[0]) {
    await vscode.workspace
      .getConfiguration("nemo-resumable")
      .update("server.path", chosen[0].fsPath, vscode.ConfigurationTarget.Global);
  }
}

/** uvx fetches and runs what it is given; that is for the user to say once. */
async function useUvx(): Promise<void> {
  const source = await vscode.window.showInputBox({
    title: "Run the server with uvx",
    prompt: "What uvx installs it from: a name on your package index, `git+https://…`, or a folder",
    placeHolder: "git+https://…",
    ignoreFocusOut: true,
  });
  if (source?.trim()) {
    await vscode.workspace
      .getConfiguration("nemo-resumable")
      .update("server.uvx", source.trim(), vscode.ConfigurationTarget.Global);
  }
}

const TOML_ASSOCIATIONS = "evenBetterToml.schema.associations";
const SETTINGS_FILE = ".*[/\\\\]\\.nemo-resumable\\.toml$";

/** Have the settings file completed and checked by the schema, which Even Better TOML does. */
async function useSettingsSchema(context: vscode.ExtensionContext): Promise<void> {
  if (!vscode.extensions.getExtension("tamasfe.even-better-toml")) {
    const choice = await vscode.window.showInformationMessage(
      "nemo-resumable: TOML files are completed and checked by the extension Even Better TOML, which is not installed.",
      "Show It",
    );
    if (choice) {
      await vscode.commands.executeCommand("workbench.extensions.search", "tamasfe.even-better-toml");
    }
    return;
  }
  const schema = await storedSchema(context);
  const settings = vscode.workspace.getConfiguration();
  const known = settings.inspect<Record<string, string>>(TOML_ASSOCIATIONS)?.globalValue ?? {};
  await settings.update(TOML_ASSOCIATIONS, { ...known, [SETTINGS_FILE]: schema.toString() }, vscode.ConfigurationTarget.Global);
}

/** The schema where it keeps its address when this extension is updated. */
export async function storedSchema(context: vscode.ExtensionContext): Promise<vscode.Uri> {
  const stored = vscode.Uri.joinPath(context.globalStorageUri, "settings.schema.json");
  const shipped = vscode.Uri.joinPath(context.extensionUri, "dist", "settings.schema.json");
  await vscode.workspace.fs.createDirectory(context.globalStorageUri);
  await vscode.workspace.fs.copy(shipped, stored, { overwrite: true });
  return stored;
}
