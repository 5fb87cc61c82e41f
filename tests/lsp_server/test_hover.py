"""What a user reads over an option, a source type, a path and an interpolation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nemo_resumable.core.rules.page import FOLDER

from .conftest import BLEND, CONFIG
from .reading import ENCODINGS, WIDE, hover, speaking

Serve = Callable[..., Any]


def test_an_option(client: Any, project: Path) -> None:
    """What it is, what it comes to and why, what a resume needs, and the rule that has found something."""
    uri = client.open(project / "conf.yaml")
    text, word = hover(client, uri, CONFIG, "shard_seed")
    assert word == "shard_seed"
    assert text.startswith("**shard_seed** · integer or text · default `trng`\n\nThe seed of the sampler")
    assert "- Effective: `randomized`, set here\n- Resumable training needs: one whole number" in text
    page = (FOLDER / "NR110-unfixed-shard-seed.md").as_uri()
    assert f"**error** [NR110]({page}) unfixed-shard-seed" in text
    assert len(text) < 1200
    assert hover(client, uri, CONFIG, "randomized") == (text, '"randomized"')


def test_an_option_that_an_entry_sets_for_itself(client: Any, project: Path) -> None:
    (project / "blend.yaml").write_text(BLEND.replace("  weight: 2\n", "  shuffle: false\n"))
    client.open(project / "conf.yaml")
    blend = (project / "blend.yaml").read_text()
    text, _ = hover(client, client.open(project / "blend.yaml"), blend, "shuffle")
    assert "Effective: `false`, set here" in text


def test_a_base_config(client: Any, project: Path) -> None:
    """The value comes from another file, and the link leads to its line."""
    (project / "base.yaml").write_text("data:\n  train_ds:\n    num_workers: 4\ntrainer:\n  max_steps: 7\n")
    config = "defaults: [base, _self_]\n" + CONFIG.replace("    num_workers: 2\n", "").replace(
        "  max_steps: 1000\n", ""
    )
    config += "  validation_ds:\n    num_workers: ${data.train_ds.num_workers}\n    input_cfg: blend.yaml\n"
    uri = client.open(project / "conf.yaml", config)
    text, word = hover(client, uri, config, "${data")
    place = f"[base.yaml:3]({(project / 'base.yaml').as_uri()}#L3)"
    assert (text.split("\n")[0], word) == (
        f"`${{data.train_ds.num_workers}}` is `4`, {place}",
        "${data.train_ds.num_workers}",
    )
    assert hover(client, uri, config, "base,")[0] == f"The base config [base.yaml]({(project / 'base.yaml').as_uri()})"
    base = (project / "base.yaml").read_text()
    text, _ = hover(client, client.open(project / "base.yaml"), base, "num_workers")
    assert "- Effective: `4`, set here" in text


def test_an_inherited_option_of_an_entry(client: Any, project: Path) -> None:
    """An entry's own word for one dataset, and what another one makes of the same line."""
    blend = BLEND.replace("  weight: 2\n", "  fault_tolerant_audio_loading: true\n")
    (project / "blend.yaml").write_text(blend)
    config = CONFIG + "    fault_tolerant_audio_loading: false\n"
    client.open(project / "conf.yaml", config)
    text, _ = hover(client, client.open(project / "blend.yaml"), blend, "fault_tolerant")
    line = config[: config.index("fault_tolerant")].count("\n") + 1
    assert f"Effective: `false`, set for `data.train_ds` at [conf.yaml:{line}]" in text


def test_a_launcher_on_top(client: Any, project: Path) -> None:
    launcher = "#!/bin/bash\nsrun python salm_train.py --config-path=. --config-name=conf data.train_ds.shard_seed=7\n"
    (project / "launch.sh").write_text(launcher)
    uri = client.open(project / "conf.yaml")
    client.diagnostics(uri)
    text, _ = hover(client, uri, CONFIG, "shard_seed")
    assert "- In the files: `randomized`, set here" in text
    assert f"- Started by [launch.sh]({(project / 'launch.sh').as_uri()}#L2) it is `7`" in text
    text, word = hover(client, client.open(project / "launch.sh", language="shellscript"), launcher, "shard_seed=7")
    assert word == "data.train_ds.shard_seed=7"
    assert "- Without the override: `randomized`, [conf.yaml:" in text


def test_a_source_type(client: Any, project: Path) -> None:
    client.open(project / "conf.yaml")
    text, word = hover(client, client.open(project / "blend.yaml"), BLEND, "nemo_tarred")
    assert word == "nemo_tarred"
    assert "NeMo manifests with their audio in tars" in text
    assert "Index: `.idx` for `manifest_filepath`; `.idx` for `tarred_audio_filepaths` unless" in text
    assert "Index pack: one path or a flat list of paths" in text


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("type: txt", "Index: none; it only streams"),
        ("type: parquet", "Index: by row group, without sidecars"),
        ("type: share_gpt", "never built at start-up"),
        ("type: lhotse", "Index pack: none; a declared one is refused"),
        ("type: group", "Gathers other entries"),
    ],
)
def test_a_source_type_in_a_blend_that_no_config_reads(client: Any, project: Path, written: str, said: str) -> None:
    text = f"- type: nemo\n  manifest_filepath: /d/a.json\n- {written}\n  paths: /d/b\n"
    uri = client.open(project / "lone.yaml", text)
    assert said in hover(client, uri, text, written, len("type: ") + 1)[0]


def test_a_path(client: Any, project: Path) -> None:
    client.open(project / "conf.yaml")
    uri = client.open(project / "blend.yaml")
    text, word = hover(client, uri, BLEND, "/data/en/manifest", 8)
    assert word == "/data/en/manifest__OP_0..15_CL_.json"
    assert text == (
        "**16 shards** on the local file system\n\n- first `/data/en/manifest_0.json`\n- last `/data/en/manifest_15.json`"
    )


def test_a_path_of_a_million_shards_in_an_object_store(client: Any, project: Path) -> None:
    config = CONFIG.replace("input_cfg: blend.yaml", "shar_path: s3://b/{0000000..9999999}")
    text, _ = hover(client, client.open(project / "conf.yaml", config), config, "s3://")
    assert text.startswith("**10,000,000 shards** on `s3://`")
    assert "- last `s3://b/9999999`" in text


def test_a_share_of_the_blend(client: Any, project: Path) -> None:
    blend = BLEND + "  weight: 6\n"
    (project / "blend.yaml").write_text(blend)
    client.open(project / "conf.yaml")
    text, _ = hover(client, client.open(project / "blend.yaml"), blend, "weight: 2")
    assert "Drawn 25 % of the time in its list of 2." in text


def test_a_blend_file(client: Any, project: Path) -> None:
    text, word = hover(client, client.open(project / "conf.yaml"), CONFIG, "blend.yaml")
    assert word == "blend.yaml"
    assert text == f"[blend.yaml]({(project / 'blend.yaml').as_uri()}) · 2 sources, found in the launch directory"


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("${trainer.devices}", "`${trainer.devices}` is `2`, [conf.yaml:6]"),
        ("${nowhere}", "Not known here: `${nowhere}` is not set in the config"),
        ("${oc.env:SEED}", "Not known here: `${oc.env:SEED}` is read from the environment"),
        ("${.shard_seed}", "`${.shard_seed}` is `randomized`, [conf.yaml:"),
        ("${model}", "`${model}` is a section of 2 keys, [conf.yaml:2]"),
    ],
)
def test_an_interpolation(client: Any, project: Path, written: str, said: str) -> None:
    config = CONFIG.replace("seed: 42", f"seed: {written}")
    text, word = hover(client, client.open(project / "conf.yaml", config), config, written)
    assert word == written
    assert text.startswith(said)


def test_an_interpolation_within_another(client: Any, project: Path) -> None:
    config = CONFIG.replace("seed: 42", 'seed: "${oc.env:SEED,${trainer.devices}}"')
    uri = client.open(project / "conf.yaml", config)
    assert hover(client, uri, config, "${trainer", 4)[1] == "${trainer.devices}"
    assert hover(client, uri, config, "oc.env")[1] == "${oc.env:SEED,${trainer.devices}}"


def test_an_interpolation_in_a_blend(client: Any, project: Path) -> None:
    blend = BLEND.replace("/data/en/manifest", "${model.prompt_format}/manifest")
    (project / "blend.yaml").write_text(blend)
    client.open(project / "conf.yaml")
    text, _ = hover(client, client.open(project / "blend.yaml"), blend, "${model")
    assert "has no value here: the keys of a config do not exist in a blend file" in text


def test_an_alias(client: Any, project: Path) -> None:
    config = CONFIG.replace("audio_locator_tag: ", "audio_locator_tag: &tag ") + "    audio_locator_tag: *tag\n"
    text, word = hover(client, client.open(project / "conf.yaml", config), config, "*tag")
    assert word == "*tag"
    assert "`*tag` stands for `<|audio|>`, anchored in line 4" in text


def test_the_trainer(client: Any, project: Path) -> None:
    config = CONFIG + "exp_manager:\n  checkpoint_callback_params:\n    save_last: false\n"
    uri = client.open(project / "conf.yaml", config)
    text, _ = hover(client, uri, config, "save_last")
    assert text.startswith("**exp_manager.checkpoint_callback_params.save_last** · default `true`")
    assert "- Effective: `false`, set here\n- A chain of runs needs: `true`" in text
    assert "NR405" in text
    assert hover(client, uri, config, "checkpoint_callback")[0].startswith("**exp_manager.checkpoint_callback_params**")


def test_a_dataset(client: Any, project: Path) -> None:
    """The key of a section sums it up, and names what has been found without a wall of text."""
    text, word = hover(client, client.open(project / "conf.yaml"), CONFIG, "train_ds")
    assert word == "train_ds"
    assert "- 2 sources, 32 shards\n- Storage: local file system\n- The config is **not-launch-ready**" in text
    assert "\n- error [NR101](" in text
    assert len(text.splitlines()) < 25


@pytest.mark.parametrize("part", ["# A small", "prompt_format", "qwen", "\n", "model"])
def test_nothing_is_said_of_what_is_none_of_ours(client: Any, project: Path, part: str) -> None:
    assert hover(client, client.open(project / "conf.yaml"), CONFIG, part, 0) == ("", "")


def test_nothing_is_said_of_other_files(client: Any, project: Path) -> None:
    text = "services:\n  web:\n    type: nemo\n    shuffle: true\ndefaults: [x]\n"
    uri = client.open(project / "compose.yaml", text)
    assert [hover(client, uri, text, part)[0] for part in ("nemo", "shuffle", "services")] == ["", "", ""]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_wide_characters_before_the_place(serve: Serve, project: Path, encoding: str) -> None:
    client = serve(speaking(encoding))
    client.initialize(project)
    assert client.encoding == encoding
    entry = f'{{name: "{WIDE}", type: nemo, manifest_filepath: "{WIDE}_OP_0..7_CL_"}}'
    config = CONFIG.replace("input_cfg: blend.yaml", f"input_cfg: [{entry}]")
    uri = client.open(project / "conf.yaml", config)
    assert hover(client, uri, config, "nemo, m")[1] == "nemo"
    text, word = hover(client, uri, config, "_OP_0")
    assert word == f'"{WIDE}_OP_0..7_CL_"'
    assert text.startswith("**8 shards**")


def test_half_typed_text(client: Any, project: Path) -> None:
    """What could be read of the rest is explained all the same."""
    config = CONFIG.replace("    shuffle: true\n", "    shuffle: true\n    sha\n")
    uri = client.open(project / "conf.yaml", config)
    text, word = hover(client, uri, config, "shard_seed")
    assert word == "shard_seed"
    assert "- Effective: `randomized`, set here" in text


def test_the_text_in_the_editor_counts(client: Any, project: Path) -> None:
    uri = client.open(project / "conf.yaml")
    config = CONFIG.replace('"randomized"', "7")
    client.change(uri, 2, config)
    text, _ = hover(client, uri, config, "shard_seed")
    assert "- Effective: `7`, set here" in text
    assert "NR110" not in text


def test_a_client_that_shows_no_markdown(serve: Serve, project: Path) -> None:
    client = serve(speaking("utf-16", hover={"contentFormat": ["plaintext"]}))
    client.initialize(project)
    uri = client.open(project / "conf.yaml")
    params = {"textDocument": {"uri": uri}, "position": client.place(CONFIG, CONFIG.index("shard_seed"))}
    contents = client.request("textDocument/hover", params)["contents"]
    assert contents["kind"] == "plaintext"
    assert "default trng" in contents["value"]
    assert "error NR110 unfixed-shard-seed" in contents["value"]
    assert not {"`", "*"} & set(contents["value"].split("\n")[0])
