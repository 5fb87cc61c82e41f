/** Finds the server: the setting, the Python extension's interpreter, `.venv` of the workspace, PATH, uvx. */

import * as nodePath from "node:path";

/** The oldest server that has every command this extension sends. */
export const MINIMUM = "0.1.0";

const PROGRAM = "nemo-resumable";

/** How a server was found. */
export type Origin = "setting" | "python extension" | "workspace environment" | "PATH" | "uvx";

/** A command that may be a server: `command ...args lsp` would start it. */
export interface Candidate {
  readonly origin: Origin;
  readonly command: string;
  readonly args: readonly string[];
}

export interface Found extends Candidate {
  readonly version: string;
}

export interface Rejected extends Candidate {
  /** Why, as the end of a sentence: "is too old", "does not start: …". */
  readonly reason: string;
}

export interface Outcome {
  readonly found?: Found;
  readonly rejected: readonly Rejected[];
  /** Where `uvx` is, if it is there and the user has not said that it may be used. */
  readonly uvx?: string;
  /** Whether something was left out because the workspace is not trusted. */
  readonly restricted: boolean;
}

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** Everything that is looked at; a test makes one up. */
export interface World {
  readonly platform: NodeJS.Platform;
  readonly isTrusted: boolean;
  /** The paths of the workspace's folders. */
  readonly folders: readonly string[];
  /** The directories of PATH. */
  readonly path: readonly string[];
  /** `nemo-resumable.server.path` with its variables resolved, empty where it is not set. */
  readonly serverPath: string;
  /** `nemo-resumable.server.uvx`: what uvx may install the server from, empty where it may not. */
  readonly uvx: string;
  /** The interpreters that the Python extension has selected for the workspace's folders. */
  interpreters(): Promise<readonly string[]>;
  isProgram(path: string): Promise<boolean>;
  /** The path without symbolic links; itself where there is nothing. */
  realPath(path: string): Promise<string>;
  run(command: string, args: readonly string[], milliseconds: number): Promise<Ran>;
}

const ANSWERS_WITHIN = 15_000;
const INSTALLS_WITHIN = 180_000;

/** The first of all candidates that answers and is new enough. A setting stands alone: nothing else is tried behind its back. */
export async function discover(world: World): Promise<Outcome> {
  const rejected: Rejected[] = [];
  const seen = new Set<string>();
  const state = { restricted: false };
  for await (const candidate of candidates(world, state)) {
    const key = JSON.stringify([candidate.command, candidate.args]);
    if (seen.has(key)) {
      continue;
    }
    seen.add(key);
    const judged = await probe(world, candidate);
    if ("version" in judged) {
      return { found: judged, rejected, restricted: state.restricted };
    }
    rejected.push(judged);
  }
  const uvx = world.serverPath || world.uvx ? undefined : await onPath(world, "uvx", state);
  return { rejected, restricted: state.restricted, ...(uvx ? { uvx } : {}) };
}

async function* candidates(world: World, state: { restricted: boolean }): AsyncGenerator<Candidate> {
  if (world.serverPath) {
    if (await isAllowed(world, world.serverPath, state)) {
      yield fromSetting(world, world.serverPath);
    }
    return;
  }
  if (world.isTrusted) {
    for (const interpreter of await world.interpreters()) {
      yield* besideInterpreter(world, interpreter);
    }
    for (const folder of world.folders) {
      for (const name of [".venv", "venv"]) {
        const program = join(world, folder, name, binFolder(world), executable(world, PROGRAM));
        if (await world.isProgram(program)) {
          yield { origin: "workspace environment", command: program, args: [] };
        }
      }
    }
  } else if (world.folders.length > 0) {
    state.restricted = true;
  }
  const program = await onPath(world, PROGRAM, state);
  if (program) {
    yield { origin: "PATH", command: program, args: [] };
  }
  if (world.uvx) {
    const uvx = await onPath(world, "uvx", state);
    if (uvx && (!isLocal(world, world.uvx) || (await isAllowed(world, world.uvx, state)))) {
      yield { origin: "uvx", command: uvx, args: ["--from", world.uvx, PROGRAM] };
    }
  }
}

/** The setting names the program, or a Python that has it installed. */
function fromSetting(world: World, path: string): Candidate {
  const name = pathOf(world).basename(path).toLowerCase();
  const args = /^(?:python|pypy)[\d.]*(?:\.exe)?$/.test(name) ? MODULE : [];
  return { origin: "setting", command: path, args };
}

const MODULE: readonly string[] = ["-m", "nemo_resumable.hooks.cli"];

async function* besideInterpreter(world: World, interpreter: string): AsyncGenerator<Candidate> {
  const program = join(world, pathOf(world).dirname(interpreter), executable(world, PROGRAM));
  if (await world.isProgram(program)) {
    yield { origin: "python extension", command: program, args: [] };
  } else if ((await world.run(interpreter, [...MODULE, "--version"], ANSWERS_WITHIN)).code === 0) {
    yield { origin: "python extension", command: interpreter, args: MODULE }; // installed for the user, or beside scripts
  }
}

async function onPath(world: World, name: string, state: { restricted: boolean }): Promise<string | undefined> {
  for (const folder of world.path) {
    if (!pathOf(world).isAbsolute(folder)) {
      continue; // it would mean another program in every folder
    }
    const program = join(world, folder, executable(world, name));
    if ((await world.isProgram(program)) && (await isAllowed(world, program, state))) {
      return program;
    }
  }
  return undefined;
}

/** Whether a program may be run: as long as the workspace is not trusted, none that lies in it. */
async function isAllowed(world: World, path: string, state: { restricted: boolean }): Promise<boolean> {
  if (world.isTrusted) {
    return true;
  }
  const places = [path, await world.realPath(path)];
  for (const folder of world.folders) {
    for (const root of [folder, await world.realPath(folder)]) {
      if (!pathOf(world).isAbsolute(path) || places.some((place) => isInside(world, place, root))) {
        state.restricted = true;
        return false;
      }
    }
  }
  return true;
}

function isInside(world: World, path: string, folder: string): boolean {
  const relative = pathOf(world).relative(folder, path);
  return relative === "" || (!relative.startsWith("..") && !pathOf(world).isAbsolute(relative));
}

/** Whether uvx would install from a folder or file, not from an index or an address. */
function isLocal(world: World, source: string): boolean {
  return !/^(?:git\+)?(?:https?|ssh):\/\//.test(source) && (/^[.~]|[\\/]/.test(source) || pathOf(world).isAbsolute(source));
}

/** A server that answers with its version and is new enough, or why it is not one. */
export async function probe(world: World, candidate: Candidate): Promise<Found | Rejected> {
  const patience = candidate.origin === "uvx" ? INSTALLS_WITHIN : ANSWERS_WITHIN;
  const ran = await world.run(candidate.command, [...candidate.args, "--version"], patience);
  const version = /nemo-resumable\s+v?(\d+(?:\.\d+)*\S*)/.exec(ran.output)?.[1];
  if (ran.code !== 0 || version === undefined) {
    const line = ran.output.trim().split(/\r?\n/).pop() ?? "";
    const what = ran.code === null ? "does not start" : "does not answer as nemo-resumable";
    return { ...candidate, reason: line ? `${what}: ${line}` : what };
  }
  if (isOlder(version, MINIMUM)) {
    return { ...candidate, reason: `is version ${version}; ${MINIMUM} or newer is needed` };
  }
  return { ...candidate, version };
}

/** Whether a version comes before another, by their release numbers: `0.2.0rc1` is as good as 0.2.0. */
export function isOlder(version: string, than: string): boolean {
  const [ours, theirs] = [release(version), release(than)];
  for (let place = 0; place < Math.max(ours.length, theirs.length); place++) {
    const difference = (ours[place] ?? 0) - (theirs[place] ?? 0);
    if (difference !== 0) {
      return difference < 0;
    }
  }
  return false;
}

function release(version: string): number[] {
  return (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? "0").split(".").map(Number);
}

/** What is told when no server was found: one sentence, and what the user can do about it. */
export function complaint(outcome: Outcome): string {
  const setting = outcome.rejected.find((each) => each.origin === "setting");
  if (setting) {
    return `\`nemo-resumable.server.path\` names ${setting.command}, which ${setting.reason}.`;
  }
  const [first] = outcome.rejected;
  if (first) {
    return `The nemo-resumable that was found (${first.command}) ${first.reason}.`;
  }
  if (outcome.restricted) {
    return "nemo-resumable was found nowhere outside of this workspace, and of a workspace that is not trusted nothing is run.";
  }
  return "nemo-resumable is not installed: neither the selected Python, nor a .venv of the workspace, nor PATH has it.";
}

function pathOf(world: World): nodePath.PlatformPath {
  return world.platform === "win32" ? nodePath.win32 : nodePath.posix;
}

function join(world: World, ...parts: string[]): string {
  return pathOf(world).join(...parts);
}

function binFolder(world: World): string {
  return world.platform === "win32" ? "Scripts" : "bin";
}

function executable(world: World, name: string): string {
  return world.platform === "win32" ? `${name}.exe` : name;
}
