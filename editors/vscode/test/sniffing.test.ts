import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { kindOf, looksLikeOurs } from "../src/sniffing";

describe("files that are worth a server", () => {
  it("are configs and blends", () => {
    for (const name of ["conf/salm_asr.yaml", "data_blends/train.yaml"]) {
      assert.ok(looksLikeOurs("yaml", readFileSync(`../../examples/${name}`, "utf8")), name);
    }
    assert.ok(looksLikeOurs("yaml", "model:\n  train_ds:\n"));
    assert.ok(looksLikeOurs("yaml", '{"train_ds": {"seed": 1}}'));
    assert.ok(looksLikeOurs("yaml", "- {type: lhotse, cuts_path: /x}\n"));
  });

  it("are no other YAML", () => {
    assert.ok(!looksLikeOurs("yaml", "version: 3\nservices:\n  web:\n    image: nginx\n"));
    assert.ok(!looksLikeOurs("yaml", "# how train_ds is set\non: push\njobs: {}\n"));
    assert.ok(!looksLikeOurs("yaml", "note: the train_ds: key is ours\n"));
    assert.ok(!looksLikeOurs("yaml", ""));
  });

  it("are scripts that start training", () => {
    assert.ok(looksLikeOurs("script", "srun python salm_train.py --config-path=conf --config-name=salm_asr\n"));
    assert.ok(looksLikeOurs("script", "torchrun train.py model.train_ds.batch_size=4\n"));
    assert.ok(!looksLikeOurs("script", "#!/bin/sh\nmake install\n"));
    assert.ok(!looksLikeOurs("script", "import json\nprint(json.dumps({}))\n"));
  });

  it("are told by language, or by the name where the editor knows none", () => {
    assert.equal(kindOf("yaml", "/x/conf.yml"), "yaml");
    assert.equal(kindOf("python", "/x/run.py"), "script");
    assert.equal(kindOf("plaintext", "/x/job.sbatch"), "script");
    assert.equal(kindOf("plaintext", "/x/notes.txt"), undefined);
    assert.equal(kindOf("dockercompose", "/x/docker-compose.yaml"), undefined);
  });
});
