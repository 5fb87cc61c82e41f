/** What the user has set, as the server wants it: by the names of the settings file, and nothing that was not set. */

/** The part of `vscode.WorkspaceConfiguration` that is looked at. */
export interface Configuration {
  get(key: string): unknown;
  inspect(key: string): Inspected | undefined;
}

export interface Inspected {
  globalValue?: unknown;
  workspaceValue?: unknown;
  workspaceFolderValue?: unknown;
  globalLanguageValue?: unknown;
  workspaceLanguageValue?: unknown;
  workspaceFolderLanguageValue?: unknown;
}

/** Keys of ours that the server knows nothing of. */
export function isOfTheClient(key: string): boolean {
  return key === "server" || key.startsWith("server.") || key.startsWith("trace.") || key === "trace";
}

/**
 * The settings among `keys` that were set by anybody. A default must not be sent: what an editor says lies on top of the
 * settings file, so that our default of `seed` would undo the seed of the project.
 */
export function explicitSettings(configuration: Configuration, keys: Iterable<string>): Record<string, unknown> {
  const table: Record<string, unknown> = {};
  for (const key of keys) {
    if (isOfTheClient(key)) {
      continue;
    }
    const found = configuration.inspect(key);
    const isSet =
      found !== undefined &&
      [
        found.globalValue,
        found.workspaceValue,
        found.workspaceFolderValue,
        found.globalLanguageValue,
        found.workspaceLanguageValue,
        found.workspaceFolderLanguageValue,
      ].some((value) => value !== undefined && value !== null);
    const value = isSet ? configuration.get(key) : undefined;
    if (value !== undefined && value !== null && value !== "") {
      table[key] = value;
    }
  }
  return table;
}

/** The names below `nemo-resumable.` that a package.json contributes. */
export function contributedKeys(packageJson: unknown): string[] {
  const contributes = (packageJson as { contributes?: { configuration?: unknown } }).contributes;
  const sections = contributes?.configuration;
  const keys: string[] = [];
  for (const section of Array.isArray(sections) ? sections : [sections]) {
    const properties = (section as { properties?: Record<string, unknown> } | undefined)?.properties ?? {};
    keys.push(...Object.keys(properties).map((key) => key.replace(/^nemo-resumable\./, "")));
  }
  return keys;
}

/** What `~`, `${workspaceFolder}`, `${workspaceFolder:name}`, `${userHome}` and `${env:NAME}` stand for in a path. */
export interface Places {
  home: string;
  folders: readonly { name: string; path: string }[];
  environment: Readonly<Record<string, string | undefined>>;
}

/** A path as a user writes it in settings, with its variables resolved; an unknown one stays as it is. */
export function expand(path: string, places: Places): string {
  const resolved = path.trim().replace(/\$\{([^}:]+)(?::([^}]*))?\}/g, (whole, name: string, argument?: string) => {
    if (name === "userHome") {
      return places.home;
    }
    if (name === "env" && argument) {
      return places.environment[argument] ?? "";
    }
    if (name === "workspaceFolder") {
      const folder = argument ? places.folders.find((each) => each.name === argument) : places.folders[0];
      return folder?.path ?? whole;
    }
    return whole;
  });
  return resolved === "~" || resolved.startsWith("~/") || resolved.startsWith("~\\") ? places.home + resolved.slice(1) : resolved;
}
