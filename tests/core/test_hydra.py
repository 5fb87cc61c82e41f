"""Hydra's override grammar, as Hydra 1.3 itself reads it."""

from __future__ import annotations

import pytest
from nemo_resumable.core.model.launcher.hydra import OverrideText, Unparsed, hydra_value, override_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("1_000", 1000),
        ("+4", 4),
        ("01", "01"),
        ("0x10", "0x10"),
        ("2e-4", 0.0002),
        ("1.", 1.0),
        (".5", 0.5),
        ("-inf", float("-inf")),
        ("True", True),
        ("yes", "yes"),
        ("NULL", None),
        ("None", "None"),
        ("", ""),
        ("00:03:55:00", "00:03:55:00"),
        ("bf16-true", "bf16-true"),
        ("a b  c", "a b  c"),
        ("'it\\'s'", "it's"),
        ('"a,b"', "a,b"),
        ("x\\,y", "x,y"),
        ("${a}/${b}", "${a}/${b}"),
        ("${oc.env:X,1}", "${oc.env:X,1}"),
        ("[q_proj, v_proj]", ["q_proj", "v_proj"]),
        ("[[a,1],[b,2]]", [["a", 1], ["b", 2]]),
        ("{a: 1, b: [1, {c: null}]}", {"a": 1, "b": [1, {"c": None}]}),
        ("[]", []),
        ("{}", {}),
        ('"manifest_{0..3}.json"', "manifest_{0..3}.json"),
    ],
)
def test_value(text: str, value: object) -> None:
    found = hydra_value(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        *("1,2", "choice(1,2)", "[", "[1", "{a}", "{a:}", "[,]", '"abc', "a=b", "a#b", "a;b", "~x", "a!", "é"),
        *("manifest_{0..3}.json", "[" * 1000),
    ],
)
def test_what_is_no_single_value(text: str) -> None:
    assert isinstance(hydra_value(text), Unparsed)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("data.train_ds.seed=1", OverrideText("", "data.train_ds.seed", "1", 19)),
        ("+a.b=", OverrideText("+", "a.b", "", 5)),
        ("++a.b=c=d", OverrideText("++", "a.b", "c=d", 6)),
        ("~a.b", OverrideText("~", "a.b", None, 4)),
        ("~a.b=1", OverrideText("~", "a.b", "1", 5)),
        ("model/optim=adam", OverrideText("", "model/optim", "adam", 12)),
        ("input_cfg.0.weight=2", OverrideText("", "input_cfg.0.weight", "2", 19)),
        ("--config-name", None),
        ("--config-name=x", None),
        ("examples/x.py", None),
        ("train", None),
        ("", None),
    ],
)
def test_override(word: str, found: OverrideText | None) -> None:
    assert override_text(word) == found
