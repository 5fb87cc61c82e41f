/** The machine and the window as discovery sees them. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter } from "node:path";
import * as vscode from "vscode";
import type { Ran, World } from "./discovery";
import { expand, type Places } from "./settings";

/** The part of the Python extension's API that is used. */
interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string } | undefined;
    resolveEnvironment(path: unknown): Promise<{ readonly executable: { readonly uri?: vscode.Uri } } | undefined>;
    readonly onDidChangeActiveEnvironmentPath?: vscode.Event<unknown>;
  };
}

/** `cwd`: where programs are run. Never the workspace, where Python and uv would read files that they should not. */
export function world(cwd: string): World {
  const configuration = vscode.workspace.getConfiguration("nemo-resumable");
  const given = folders();
  const places: Places = { home: homedir(), folders: given, environment: process.env };
  return {
    platform: process.platform,
    isTrusted: vscode.workspace.isTrusted,
    folders: given.map((folder) => folder.path),
    path: (process.env["PATH"] ?? process.env["Path"] ?? "").split(delimiter).filter(Boolean),
    serverPath: expand(configuration.get<string>("server.path") ?? "", places),
    uvx: expand(configuration.get<string>("server.uvx") ?? "", places),
    interpreters: () => interpreters(given),
    isProgram,
    realPath: (path) => realpath(path).catch(() => path),
    run: (command, args, milliseconds) => run(command, args, milliseconds, cwd),
  };
}

function folders(): { name: string; path: string; uri: vscode.Uri }[] {
  return (vscode.workspace.workspaceFolders ?? [])
    .filter((folder) => folder.uri.scheme === "file")
    .map((folder) => ({ name: folder.name, path: folder.uri.fsPath, uri: folder.uri }));
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

function run(command: string, args: readonly string[], milliseconds: number, cwd: string): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(command, [...args], { cwd, timeout: milliseconds, windowsHide: true }, (error, stdout, stderr) => {
      if (!error) {
        resolve({ code: 0, output: stdout });
      } else if (error.killed) {
        resolve({ code: null, output: `no answer within ${milliseconds / 1000} seconds` });
      } else if (typeof error.code === "number") {
        resolve({ code: error.code, output: stderr || stdout });
      } else {
        resolve({ code: null, output: error.message });
      }
    });
  });
}

async function python(): Promise<PythonApi["environments"]> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (!extension) {
    return undefined;
  }
  try {
    return (await extension.activate())?.environments;
  } catch {
    return undefined; // its trouble is not ours
  }
}

async function interpreters(given: readonly { uri: vscode.Uri }[]): Promise<string[]> {
  const environments = await python();
  const found: string[] = [];
  for (const resource of environments ? [...given.map((folder) => folder.uri), undefined] : []) {
    const active = environments?.getActiveEnvironmentPath(resource);
    const resolved = active && (await environments?.resolveEnvironment(active));
    const path = resolved?.executable.uri?.fsPath;
    if (path && !found.includes(path)) {
      found.push(path);
    }
  }
  return found;
}

/** Call back when another interpreter is selected. */
export async function onInterpreterChange(listener: () => void): Promise<vscode.Disposable | undefined> {
  return (await python())?.onDidChangeActiveEnvironmentPath?.(listener);
}
