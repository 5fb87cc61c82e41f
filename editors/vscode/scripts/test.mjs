// Bundles the unit tests, each with what it tests, and runs them with node's own test runner.
import { spawnSync } from "node:child_process";
import { readdir, rm } from "node:fs/promises";
import { build } from "esbuild";

const tests = (await readdir("test")).filter((name) => name.endsWith(".test.ts"));
await rm("out", { recursive: true, force: true });
await build({
  entryPoints: tests.map((name) => `test/${name}`),
  outdir: "out",
  outExtension: { ".js": ".cjs" },
  bundle: true,
  format: "cjs",
  platform: "node",
  target: "node18",
  sourcemap: "inline",
});
const files = tests.map((name) => `out/${name.replace(/\.ts$/, ".cjs")}`);
process.exit(spawnSync(process.execPath, ["--enable-source-maps", "--test", ...files], { stdio: "inherit" }).status ?? 1);
