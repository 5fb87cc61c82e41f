/** Whether a file looks like one of ours. The server is the judge; this only decides whether it is worth starting. */

/** Words of a training config, of a blend, and of a base config of either. */
const YAML = /(?:^|[{,])[\s{-]*["']?(?:train_ds|validation_ds|test_ds|exp_manager|input_cfg|manifest_filepath|tarred_audio_filepaths|cuts_path|shar_path)["']?\s*:/m;

/** A script that hands a config to a training program, or overrides options of one. */
const SCRIPT = /--config[-_](?:name|path|dir)\b|\bconfig_name\s*=|\btrain_ds\b|\bexp_manager\b|\bnemo_run\b/;

/** As much of a text as is looked at: a config says what it is within its first pages. */
export const LOOKED_AT = 200_000;

export type Kind = "yaml" | "script";

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["yaml", "yaml"],
  ["shellscript", "script"],
  ["python", "script"],
]);

/** What kind of file it is by the language that the editor takes it for, or by its name; undefined for all others. */
export function kindOf(languageId: string, fileName: string): Kind | undefined {
  return KINDS.get(languageId) ?? (/\.(?:sbatch|slurm)$/.test(fileName) ? "script" : undefined);
}

/** Whether a text of that kind may concern us. */
export function looksLikeOurs(kind: Kind, text: string): boolean {
  return (kind === "yaml" ? YAML : SCRIPT).test(text.slice(0, LOOKED_AT));
}
