"""`functools.cached_property` without the lock that it takes on Python 3.11 and older: models are made of such properties."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from functools import cached_property as cached_property
else:

    class cached_property:
        """Computed at the first look, and found in the object's own dictionary from then on."""

        def __init__(self, function):
            self._function = function
            self._name = function.__name__
            self.__doc__ = function.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._function(instance)
            return value
