"""Our decorator beside the standard one: the same classes, told apart by nothing but the time they take to make."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from nemo_resumable.core import records


def _made(dataclass: Callable[..., Any], **options: bool) -> type[Any]:
    @dataclass(frozen=True, **options)
    class Made:
        """A class with every kind of field that is used."""

        first: int
        second: str = "two"
        listed: list[int] = dataclasses.field(default_factory=list)
        hidden: dict[str, int] = dataclasses.field(default_factory=dict, init=False, repr=False)
        fixed: tuple[int, ...] = dataclasses.field(default=(1, 2), init=False)
        derived: str = dataclasses.field(init=False, default="")

        def __post_init__(self) -> None:
            object.__setattr__(self, "derived", self.second.upper())

        @property
        def double(self) -> int:
            """Twice the first."""
            return 2 * self.first

    return Made


OPTIONS: tuple[dict[str, bool], ...] = (
    {},
    {"slots": True},
    {"slots": True, "eq": False},
    {"eq": False},
    {"slots": True, "order": True},
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_objects_are_the_same(options: dict[str, bool]) -> None:
    ours, theirs = _made(records.dataclass, **options), _made(dataclasses.dataclass, **options)
    for arguments, named in (((1,), {}), ((1, "x"), {}), ((1,), {"listed": [3]}), ((), {"second": "b", "first": 2})):
        one, other = ours(*arguments, **named), theirs(*arguments, **named)
        assert repr(one) == repr(other)
        assert dataclasses.asdict(one) == dataclasses.asdict(other)
        assert one.double == other.double
        assert repr(dataclasses.replace(one, first=7)) == repr(dataclasses.replace(other, first=7))
        assert repr(copy.copy(one)) == repr(other)
        assert (one == ours(*arguments, **named)) is (other == theirs(*arguments, **named))
        assert one != other
    assert ours(1).listed is not ours(1).listed
    assert [field.name for field in dataclasses.fields(ours)] == [field.name for field in dataclasses.fields(theirs)]
    assert ours.__match_args__ == theirs.__match_args__
    assert hasattr(ours(1), "__dict__") is hasattr(theirs(1), "__dict__")
    assert (ours.__name__, ours.__qualname__, ours.__doc__) == (theirs.__name__, theirs.__qualname__, theirs.__doc__)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_objects_do_not_change(options: dict[str, bool]) -> None:
    made = _made(records.dataclass, **options)(1)
    for name in ("first", "listed", "new"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, name, 2)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(made, name)


@pytest.mark.parametrize("arguments", [(), (1, 2, 3, 4)])
def test_arguments_are_counted(arguments: tuple[int, ...]) -> None:
    for dataclass in (records.dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError):
            _made(dataclass, slots=True)(*arguments)
    with pytest.raises(TypeError, match="unexpected keyword argument 'hidden'"):
        _made(records.dataclass, slots=True)(1, hidden={})


@records.dataclass(frozen=True, slots=True, order=True)
class Point:
    """A place."""

    row: int
    column: int = 0


@records.dataclass(frozen=True, slots=True)
class Nothing:
    """No field at all."""


def test_values_compare_and_hash() -> None:
    assert {Point(1, 2): "a"}[Point(1, 2)] == "a"
    assert Point(1) != (1, 0)
    assert sorted([Point(2), Point(1, 5), Point(1)]) == [Point(1), Point(1, 5), Point(2)]
    assert Point(1) <= Point(1)
    assert Point(2) >= Point(1, 9)
    assert Point(2) > Point(1)
    with pytest.raises(TypeError):
        _ = Point(1) < (1, 0)
    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(_made(records.dataclass, slots=True)(1))  # it holds a list


def test_values_travel() -> None:
    assert pickle.loads(pickle.dumps(Point(3, 4))) == Point(3, 4)
    assert copy.deepcopy(Point(3, 4)) == Point(3, 4)


def test_patterns_match() -> None:
    match Point(3, 4):
        case Point(row, column):
            assert (row, column) == (3, 4)
        case _:
            pytest.fail("no match")


def test_classes_that_change_are_refused() -> None:
    with pytest.raises(TypeError, match="standard"):
        records.dataclass(frozen=False)
