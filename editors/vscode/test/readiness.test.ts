import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { shown, type ConfigStatus } from "../src/readiness";

const config = (readiness: string, more: Partial<ConfigStatus> = {}): ConfigStatus => ({
  uri: "file:///x.yaml",
  name: "x.yaml",
  readiness,
  unverified: [],
  findings: { fatal: 0, error: 0, warning: 0, note: 0 },
  fixable: 0,
  ...more,
});

describe("the status bar", () => {
  it("says how much stands in the way", () => {
    const words = shown([config("not-launch-ready", { findings: { fatal: 1, error: 3, warning: 9, note: 9 }, fixable: 2 })]);
    assert.equal(words?.text, "$(error) not launch-ready (4)");
    assert.match(words?.tooltip ?? "", /1 fatal, 3 error, 9 warning, 9 note/);
    assert.match(words?.tooltip ?? "", /2 can be fixed safely/);
    assert.equal(words?.isBad, true);
  });

  it("does not make more of a verdict than it is", () => {
    assert.equal(shown([config("launch-ready")])?.text, "$(pass) launch-ready");
    assert.equal(shown([config("launch-ready-with-exceptions")])?.text, "$(pass) launch-ready with exceptions");
    const unverified = shown([config("unverified", { unverified: ["the launcher"] })]);
    assert.equal(unverified?.text, "$(question) unverified");
    assert.match(unverified?.tooltip ?? "", /Not looked at: the launcher/);
  });

  it("says of a blend what its worst config is", () => {
    const words = shown([config("launch-ready", { name: "good.yaml" }), config("not-launch-ready", { name: "bad.yaml" })]);
    assert.equal(words?.text, "$(error) not launch-ready");
    assert.match(words?.tooltip ?? "", /good\.yaml[\s\S]*bad\.yaml/);
  });

  it("is silent where the file is none of ours", () => assert.equal(shown([]), undefined));
});
