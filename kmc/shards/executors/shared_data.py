"""A value that many tasks share on their way to other processes: it is pickled once, and unpickled once a process."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")

_last: list[tuple[bytes, Any]] = []
"""The bytes of the last value that came to this process, and the value."""


@dataclass(frozen=True)
class SharedData(Generic[Value]):
    """A value, and its bytes, which are what travels."""

    value: Value
    data: bytes

    @classmethod
    def of(cls, value: Value) -> SharedData[Value]:
        """The data of a value."""
        return cls(value, pickle.dumps(value))

    def __reduce__(self) -> tuple[Callable[[bytes], SharedData[Value]], tuple[bytes]]:
        return _received, (self.data,)


def _received(data: bytes) -> SharedData[Any]:
    """The value in these bytes: one object for tasks that come one after another."""
    if not _last or _last[0][0] != data:
        _last[:] = [(data, pickle.loads(data))]
    return SharedData(_last[0][1], _last[0][0])
