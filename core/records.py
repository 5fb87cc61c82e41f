"""The standard `dataclass` for frozen classes, made several times faster: classes are made anew at every start.

The standard decorator compiles up to eight functions for each class, on Python 3.11 the better part of a millisecond, and
a check needs some eighty classes: a third of its time. Here one is compiled, the constructor; the rest is shared. What the
standard library knows of a dataclass (`fields`, `replace`, `match`) is left to it. Types are checked as for the standard one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from operator import attrgetter

    def dataclass(*, frozen, slots=False, eq=True, order=False):
        """Decorate a frozen class; the arguments are those of the standard decorator."""
        if not frozen:
            raise TypeError("a class that changes takes the standard decorator")

        def decorate(cls):
            cls = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
            fields = dataclasses.fields(cls)
            names = tuple(field.name for field in fields)
            if slots:
                cls = _slotted(cls, names)
            cls.__init__ = _constructor(cls, fields, slots)
            cls.__repr__ = _representation(tuple(field.name for field in fields if field.repr))
            cls.__setattr__, cls.__delattr__ = _refuse_to_set, _refuse_to_delete
            if eq:
                key = attrgetter(*names) if names else lambda self: ()
                cls.__eq__ = lambda self, other: (
                    key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented
                )
                cls.__hash__ = lambda self: hash(key(self))
                if order:
                    cls.__lt__ = lambda self, other: (
                        key(self) < key(other) if other.__class__ is self.__class__ else NotImplemented
                    )
                    cls.__le__ = lambda self, other: (
                        key(self) <= key(other) if other.__class__ is self.__class__ else NotImplemented
                    )
                    cls.__gt__ = lambda self, other: (
                        key(self) > key(other) if other.__class__ is self.__class__ else NotImplemented
                    )
                    cls.__ge__ = lambda self, other: (
                        key(self) >= key(other) if other.__class__ is self.__class__ else NotImplemented
                    )
            return cls

        return decorate

    def _slotted(cls, names):
        """The class once more, with its fields as slots."""
        body = {name: value for name, value in vars(cls).items() if name not in (*names, "__dict__", "__weakref__")}
        made = type(cls)(cls.__name__, cls.__bases__, body | {"__slots__": names})
        made.__qualname__ = cls.__qualname__
        made.__getstate__, made.__setstate__ = _state, _restore
        return made

    def _constructor(cls, fields, slots):
        """`__init__`, which writes past the guard: into the slots themselves, or into the object's own dictionary."""
        given, body, space = [], [], {"_missing": dataclasses.MISSING}
        for field in fields:
            name, value = field.name, field.name
            if field.default is not dataclasses.MISSING:
                space[f"_default_{name}"] = field.default
                given += [f"{name}=_default_{name}"] if field.init else []
                value = name if field.init else f"_default_{name}"
            elif field.default_factory is not dataclasses.MISSING:
                space[f"_make_{name}"] = field.default_factory
                given += [f"{name}=_missing"] if field.init else []
                value = f"_make_{name}() if {name} is _missing else {name}" if field.init else f"_make_{name}()"
            elif field.init:
                given.append(name)
            else:
                continue
            if slots:
                space[f"_set_{name}"] = vars(cls)[name].__set__
                body.append(f" _set_{name}(self, {value})")
            else:
                body.append(f" own[{name!r}] = {value}")
        if body and not slots:
            body.insert(0, " own = self.__dict__")
        if hasattr(cls, "__post_init__"):
            body.append(" self.__post_init__()")
        exec(f"def __init__({', '.join(['self', *given])}):\n" + "\n".join(body or [" pass"]), space)
        made = space["__init__"]
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        made.__module__ = cls.__module__
        return made

    def _representation(names):
        def __repr__(self):
            values = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
            return f"{self.__class__.__qualname__}({values})"

        return __repr__

    def _refuse_to_set(self, name, value):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self):
        return [getattr(self, name) for name in self.__slots__]

    def _restore(self, state):
        for name, value in zip(self.__slots__, state):
            object.__setattr__(self, name, value)
