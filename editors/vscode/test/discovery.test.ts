import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { complaint, discover, isOlder, type Ran, type World } from "../src/discovery";

const ANSWER: Ran = { code: 0, output: "nemo-resumable 0.4.1\n" };
const NOTHING: Ran = { code: null, output: "spawn ENOENT" };

/** A machine on which these programs answer, and nothing else is there; it writes down what was run. */
function machine(programs: Record<string, Ran>, more: Partial<World> = {}): World & { ran: string[] } {
  const ran: string[] = [];
  return {
    platform: "linux",
    isTrusted: true,
    folders: ["/work"],
    path: ["/usr/local/bin", "/usr/bin"],
    serverPath: "",
    uvx: "",
    interpreters: async () => [],
    isProgram: async (path) => path in programs,
    realPath: async (path) => path,
    run: async (command, args) => {
      const line = [command, ...args].join(" ");
      ran.push(line);
      return programs[line.replace(/ --version$/, "")] ?? programs[command] ?? NOTHING;
    },
    ran,
    ...more,
  };
}

describe("where the server is found", () => {
  const everywhere = {
    "/conda/bin/nemo-resumable": ANSWER,
    "/work/.venv/bin/nemo-resumable": ANSWER,
    "/usr/bin/nemo-resumable": ANSWER,
    "/usr/bin/uvx": ANSWER,
  };
  const interpreters = async () => ["/conda/bin/python"];

  it("takes the setting before everything else, and runs nothing beside it", async () => {
    const world = machine({ ...everywhere, "/opt/nemo-resumable": ANSWER }, { serverPath: "/opt/nemo-resumable", interpreters });
    const { found } = await discover(world);
    assert.deepEqual(found, { origin: "setting", command: "/opt/nemo-resumable", args: [], version: "0.4.1" });
    assert.deepEqual(world.ran, ["/opt/nemo-resumable --version"]);
  });

  it("takes a Python that the setting names by its module", async () => {
    const module = "/opt/bin/python3.12 -m nemo_resumable.hooks.cli";
    const { found } = await discover(machine({ [module]: ANSWER }, { serverPath: "/opt/bin/python3.12" }));
    assert.deepEqual([found?.command, ...(found?.args ?? [])].join(" "), module);
  });

  it("does not go behind the back of a setting that is wrong", async () => {
    const outcome = await discover(machine(everywhere, { serverPath: "/gone/nemo-resumable", interpreters }));
    assert.equal(outcome.found, undefined);
    assert.match(complaint(outcome), /`nemo-resumable.server.path` names \/gone\/nemo-resumable, which does not start/);
    assert.equal(outcome.uvx, undefined);
  });

  for (const [origin, command, gone] of [
    ["python extension", "/conda/bin/nemo-resumable", []],
    ["workspace environment", "/work/.venv/bin/nemo-resumable", ["/conda/bin/nemo-resumable"]],
    ["PATH", "/usr/bin/nemo-resumable", ["/conda/bin/nemo-resumable", "/work/.venv/bin/nemo-resumable"]],
  ] as const) {
    it(`looks at ${origin} where what comes before is missing`, async () => {
      const there = Object.fromEntries(Object.entries(everywhere).filter(([path]) => !(gone as readonly string[]).includes(path)));
      const { found } = await discover(machine(there, { interpreters }));
      assert.deepEqual([found?.origin, found?.command], [origin, command]);
    });
  }

  it("takes the selected interpreter where the package is installed without a program beside it", async () => {
    const { found } = await discover(machine({ "/conda/bin/python -m nemo_resumable.hooks.cli": ANSWER }, { interpreters }));
    assert.deepEqual(found?.args, ["-m", "nemo_resumable.hooks.cli"]);
  });

  it("looks into every folder of the workspace, and into venv as well", async () => {
    const world = machine({ "/second/venv/bin/nemo-resumable": ANSWER }, { folders: ["/first", "/second"] });
    assert.equal((await discover(world)).found?.command, "/second/venv/bin/nemo-resumable");
  });

  it("finds Windows' own places", async () => {
    const program = "C:\\work\\.venv\\Scripts\\nemo-resumable.exe";
    const world = machine({ [program]: ANSWER }, { platform: "win32", folders: ["C:\\work"], path: ["C:\\Python\\Scripts"] });
    assert.equal((await discover(world)).found?.command, program);
  });

  it("never runs a program of the current folder because PATH has a dot in it", async () => {
    const world = machine({ "bin/nemo-resumable": ANSWER, "./nemo-resumable": ANSWER }, { path: [".", "bin"] });
    assert.equal((await discover(world)).found, undefined);
    assert.deepEqual(world.ran, []);
  });
});

describe("versions", () => {
  it("goes on where a server is too old", async () => {
    const old = { code: 0, output: "nemo-resumable 0.0.9\n" };
    const world = machine({ "/work/.venv/bin/nemo-resumable": old, "/usr/bin/nemo-resumable": ANSWER });
    const { found, rejected } = await discover(world);
    assert.equal(found?.origin, "PATH");
    assert.match(rejected[0]?.reason ?? "", /is version 0\.0\.9; 0\.1\.0 or newer is needed/);
  });

  it("says which one is too old where there is no other", async () => {
    const outcome = await discover(machine({ "/usr/bin/nemo-resumable": { code: 0, output: "nemo-resumable 0.0.9" } }));
    assert.equal(complaint(outcome), "The nemo-resumable that was found (/usr/bin/nemo-resumable) is version 0.0.9; 0.1.0 or newer is needed.");
  });

  it("does not take another program of the name for it", async () => {
    const outcome = await discover(machine({ "/usr/bin/nemo-resumable": { code: 0, output: "usage: something else" } }));
    assert.match(complaint(outcome), /does not answer as nemo-resumable: usage: something else/);
  });

  it("compares release numbers", () => {
    assert.ok(isOlder("0.9.9", "0.10.0"));
    assert.ok(isOlder("0.1", "0.1.1"));
    assert.ok(!isOlder("0.1.0", "0.1"));
    assert.ok(!isOlder("1.0.0rc1", "1.0.0"));
    assert.ok(!isOlder("0.2.0.dev3+g1234", "0.1.0"));
  });
});

describe("uvx", () => {
  it("is offered, and not run, until the user has said from where", async () => {
    const world = machine({ "/usr/bin/uvx": ANSWER });
    const outcome = await discover(world);
    assert.equal(outcome.found, undefined);
    assert.equal(outcome.uvx, "/usr/bin/uvx");
    assert.deepEqual(world.ran, []);
    assert.match(complaint(outcome), /is not installed/);
  });

  it("comes last", async () => {
    const source = "git+https://example.org/nemo-resumable";
    const world = machine({ "/usr/bin/uvx": ANSWER }, { uvx: source });
    const { found } = await discover(world);
    assert.deepEqual([found?.origin, found?.command, found?.args], ["uvx", "/usr/bin/uvx", ["--from", source, "nemo-resumable"]]);
    const both = machine({ "/usr/bin/uvx": ANSWER, "/usr/bin/nemo-resumable": ANSWER }, { uvx: source });
    assert.equal((await discover(both)).found?.origin, "PATH");
  });
});

describe("a workspace that is not trusted", () => {
  const untrusted = { isTrusted: false, interpreters: async () => ["/work/.venv/bin/python"] };
  const inWorkspace = { "/work/.venv/bin/nemo-resumable": ANSWER, "/work/.venv/bin/python": ANSWER };

  it("has nothing of it run", async () => {
    const world = machine(inWorkspace, { ...untrusted, path: ["/work/.venv/bin"] });
    const outcome = await discover(world);
    assert.equal(outcome.found, undefined);
    assert.ok(outcome.restricted);
    assert.deepEqual(world.ran, []);
    assert.match(complaint(outcome), /not trusted/);
  });

  it("gets the server of the machine", async () => {
    const world = machine({ ...inWorkspace, "/usr/bin/nemo-resumable": ANSWER }, untrusted);
    assert.equal((await discover(world)).found?.command, "/usr/bin/nemo-resumable");
    assert.deepEqual(world.ran, ["/usr/bin/nemo-resumable --version"]);
  });

  it("is not entered by links", async () => {
    const link = machine(
      { "/usr/bin/nemo-resumable": ANSWER },
      { ...untrusted, realPath: async (path) => (path === "/usr/bin/nemo-resumable" ? "/work/evil" : path) },
    );
    assert.equal((await discover(link)).found, undefined);
    assert.deepEqual(link.ran, []);
  });

  it("is not entered by settings", async () => {
    for (const serverPath of ["/work/bin/nemo-resumable", "bin/nemo-resumable"]) {
      const world = machine({ [serverPath]: ANSWER }, { ...untrusted, serverPath });
      assert.equal((await discover(world)).found, undefined);
      assert.deepEqual(world.ran, []);
    }
    for (const uvx of ["/work", ".", "./sub"]) {
      const world = machine({ "/usr/bin/uvx": ANSWER }, { ...untrusted, uvx });
      assert.equal((await discover(world)).found, undefined);
      assert.deepEqual(world.ran, []);
    }
  });
});
