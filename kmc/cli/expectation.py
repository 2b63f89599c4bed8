"""The comparison of a check's result with the manifest: every figure that it names, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def differences(expect: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """One line for each expected figure (except `origin`) that differs in the result, the object of `--json`."""
    return [line for key, wanted in expect.items() if key != "origin" for line in _difference(key, wanted, found[key])]


def _difference(key: str, wanted: Any, found: Any) -> Iterator[str]:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        for name in wanted:
            if found.get(name) != wanted[name]:
                yield f"{key}, {name}: expected {_shown(wanted[name])}, found {_shown(found.get(name))}"
    elif found != wanted:
        yield f"{key}: expected {_shown(wanted)}, found {_shown(found)}"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "none"
        case int():
            return f"{value:,}"
        case list():
            return "[" + ", ".join(map(_shown, value)) + "]"
        case _:
            return str(value)
