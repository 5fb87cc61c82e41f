/** What the status bar says of a file, from what the server says of the configs that it is or is read by. */

export interface ConfigStatus {
  readonly uri: string;
  readonly name: string;
  readonly readiness: string;
  readonly unverified: readonly string[];
  readonly findings: Readonly<Record<string, number>>;
  readonly fixable: number;
}

export interface Shown {
  readonly text: string;
  readonly tooltip: string;
  /** Whether something is wrong, as opposed to not known. */
  readonly isBad: boolean;
}

const ICONS: Readonly<Record<string, string>> = {
  "launch-ready": "$(pass)",
  "launch-ready-with-exceptions": "$(pass)",
  unverified: "$(question)",
  "not-launch-ready": "$(error)",
};
/** From bad to good. */
const ORDER = ["not-launch-ready", "unverified", "launch-ready-with-exceptions", "launch-ready"];

/** The words of the status bar; undefined where the file is none of ours. */
export function shown(configs: readonly ConfigStatus[]): Shown | undefined {
  const worst = [...configs].sort((one, other) => rank(one) - rank(other))[0];
  if (worst === undefined) {
    return undefined;
  }
  const count = (worst.findings["fatal"] ?? 0) + (worst.findings["error"] ?? 0);
  const isBad = worst.readiness === "not-launch-ready";
  const words = worst.readiness.replace("not-", "not ").replace("-with-", " with ");
  const text = `${ICONS[worst.readiness] ?? "$(info)"} ${words}${isBad && count ? ` (${count})` : ""}`;
  return { text, tooltip: configs.map(described).join("\n\n---\n\n"), isBad };
}

function rank(config: ConfigStatus): number {
  const place = ORDER.indexOf(config.readiness);
  return place < 0 ? ORDER.length : place;
}

function described(config: ConfigStatus): string {
  const levels = ["fatal", "error", "warning", "note"].map((level) => `${config.findings[level] ?? 0} ${level}`).join(", ");
  const lines = [`**${config.name}**: ${config.readiness}`, `Open: ${levels}`];
  if (config.fixable) {
    lines.push(`${config.fixable} can be fixed safely`);
  }
  if (config.unverified.length) {
    lines.push(`Not looked at: ${config.unverified.join("; ")}`);
  }
  return lines.join("  \n");
}
