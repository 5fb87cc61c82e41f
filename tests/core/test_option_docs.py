"""Every option and every key of the trainer is described, and what is said of them agrees with the tables they are in."""

from __future__ import annotations

import re

import pytest
from nemo_resumable.core.model.option_docs import CHOICES, EVALUATION_NEEDS, OPTION_DOCS, RESUMING_NEEDS
from nemo_resumable.core.model.schema import OPTIONS
from nemo_resumable.core.model.sources import KEY_DOCS
from nemo_resumable.core.model.trainer import FIELDS
from nemo_resumable.core.model.trainer_docs import FIELD_DOCS, FIELD_NEEDS, SECTION_DOCS

EVERY = {**OPTION_DOCS, **FIELD_DOCS, **SECTION_DOCS}


def test_every_option_is_described_and_nothing_else() -> None:
    assert set(OPTION_DOCS) == set(OPTIONS)


def test_every_key_of_the_trainer_is_described_and_nothing_else() -> None:
    assert set(FIELD_DOCS) == set(FIELDS)
    assert set(SECTION_DOCS) == {path.rpartition(".")[0] for path in FIELDS}


@pytest.mark.parametrize("name", EVERY)
def test_a_description_is_one_short_line(name: str) -> None:
    text = EVERY[name]
    assert 5 <= len(text) <= 120
    assert text[0].isupper()
    assert not text.endswith(".")
    assert "\n" not in text


def test_what_a_resume_needs_speaks_of_options_that_exist() -> None:
    assert set(RESUMING_NEEDS) | set(EVALUATION_NEEDS) <= set(OPTIONS)
    assert set(FIELD_NEEDS) <= set(FIELDS)


def test_what_stands_in_backticks_is_known() -> None:
    """A description that names another option names one that is there."""
    known = {
        *OPTIONS,
        *KEY_DOCS,
        *(part for path in FIELDS for part in path.split(".")),
        *(path for path in FIELDS),
        *(word for words in CHOICES.values() for word in words),
        *("true", "false", "null", '"start"', ".idx", ".idxpack", "*-last", "DD:HH:MM:SS", "min", "max"),
        *("indexed: true", "every_n_epochs: null"),
    }
    needs = {**RESUMING_NEEDS, **EVALUATION_NEEDS, **FIELD_NEEDS}
    named = {word for text in (*EVERY.values(), *needs.values()) for word in re.findall(r"`([^`]+)`", text)}
    assert named <= known


def test_choices_belong_to_options_or_keys_and_hold_the_default() -> None:
    for key, words in CHOICES.items():
        assert key in OPTIONS or key in KEY_DOCS
        if key in OPTIONS:
            assert OPTIONS[key].default in words
