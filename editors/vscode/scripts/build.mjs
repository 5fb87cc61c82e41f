// Bundles the extension into dist/: its beginning, and the language client that is loaded when it is needed.
import { copyFile, rm } from "node:fs/promises";
import { build } from "esbuild";

const isForDebugging = process.argv.includes("--dev");
await rm("dist", { recursive: true, force: true });
await build({
  entryPoints: ["src/extension.ts", "src/client.ts"],
  outdir: "dist",
  bundle: true,
  external: ["vscode", "./client.js"],
  format: "cjs",
  platform: "node",
  target: "node18",
  minify: !isForDebugging,
  sourcemap: isForDebugging,
  legalComments: "linked",
});
await copyFile("../../core/settings.schema.json", "dist/settings.schema.json");
