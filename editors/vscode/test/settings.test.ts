import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { contributedKeys, expand, explicitSettings, type Configuration, type Inspected } from "../src/settings";

/** A configuration in which these were set, beside defaults. */
function configuration(set: Record<string, Inspected>, values: Record<string, unknown>): Configuration {
  return { get: (key) => values[key], inspect: (key) => set[key] };
}

describe("what the server is told", () => {
  it("is what was set, and never a default", () => {
    const given = configuration(
      { seed: { workspaceValue: 7 }, ignore: {}, "indexes-root": { globalValue: "/idx" } },
      { seed: 7, ignore: [], "indexes-root": "/idx", "pack-threshold": 1000 },
    );
    const keys = ["seed", "ignore", "indexes-root", "pack-threshold"];
    assert.deepEqual(explicitSettings(given, keys), { seed: 7, "indexes-root": "/idx" });
  });

  it("is the value in force, which may be put together from several places", () => {
    const given = configuration(
      { severity: { globalValue: { NR113: "error" }, workspaceFolderValue: { NR120: "note" } } },
      { severity: { NR113: "error", NR120: "note" } },
    );
    assert.deepEqual(explicitSettings(given, ["severity"]), { severity: { NR113: "error", NR120: "note" } });
  });

  it("is not what was emptied, nor what the workspace may not say", () => {
    const given = configuration(
      { profile: { workspaceValue: null }, nemo: { globalValue: "" }, lhotse: { workspaceValue: "/x" } },
      { profile: null, nemo: "", lhotse: undefined },
    );
    assert.deepEqual(explicitSettings(given, ["profile", "nemo", "lhotse"]), {});
  });

  it("is nothing of the extension's own", () => {
    const given = configuration({ "server.path": { globalValue: "/x" }, "trace.server": { globalValue: "verbose" } }, {
      "server.path": "/x",
      "trace.server": "verbose",
    });
    assert.deepEqual(explicitSettings(given, ["server.path", "trace.server"]), {});
  });

  it("knows every setting that package.json contributes", () => {
    const keys = contributedKeys(JSON.parse(readFileSync("package.json", "utf8")));
    for (const key of ["launch-dir", "seed", "per-file-ignores", "scan-workspace", "server.path"]) {
      assert.ok(keys.includes(key), key);
    }
    assert.ok(keys.every((key) => !key.startsWith("nemo-resumable")));
  });
});

describe("paths in settings", () => {
  const places = {
    home: "/home/ada",
    folders: [
      { name: "one", path: "/work/one" },
      { name: "two", path: "/work/two" },
    ],
    environment: { CONDA_PREFIX: "/conda" },
  };
  for (const [given, meant] of [
    ["~/bin/x", "/home/ada/bin/x"],
    ["~", "/home/ada"],
    ["~other/x", "~other/x"],
    ["${workspaceFolder}/x", "/work/one/x"],
    ["${workspaceFolder:two}/x", "/work/two/x"],
    ["${workspaceFolder:three}/x", "${workspaceFolder:three}/x"],
    ["${env:CONDA_PREFIX}/bin/x", "/conda/bin/x"],
    ["${env:GONE}/x", "/x"],
    ["${userHome}/x", "/home/ada/x"],
    ["${unknown}/x", "${unknown}/x"],
    ["  /x ", "/x"],
    ["", ""],
  ] as const) {
    it(`${given || "nothing"} means ${meant || "nothing"}`, () => assert.equal(expand(given, places), meant));
  }
});
