"""The states of a saved trace (`trace.itf.json`) as plain values, read by the types of a drawn spec."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attack.drawn_spec import DrawnSpec, Type
from attack.values import Fun, Rec, Value

NIL = "Nil"


@dataclass(frozen=True)
class SavedTrace:
    """The states of a trace, the action that led to each, and the index to which the last one leads back."""

    states: tuple[Rec, ...]
    actions: tuple[str, ...]
    loop: int | None


def read_trace(spec: DrawnSpec, path: Path) -> SavedTrace:
    """Read a trace. Raises KeyError, ValueError or StopIteration for anything but a trace of the spec."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    states = tuple(
        Rec("State", tuple((name, _value(spec, of, state[name])) for name, of in spec.fields))
        for state in saved["states"]
    )
    return SavedTrace(states, tuple(state["mbt::actionTaken"] for state in saved["states"]), saved.get("loop"))


def _value(spec: DrawnSpec, of: Type, found: Any) -> Value:
    match of:
        case ("int", *_):
            return int(found["#bigint"])
        case ("bool",) | ("enum", _) | ("id", _):
            return found
        case ("pair", _):
            return frozenset(found["#set"])
        case ("opt", inner):
            return None if found == NIL else _value(spec, inner, found)
        case ("set", inner):
            return frozenset(_value(spec, inner, item) for item in found["#set"])
        case ("seq", inner, _):
            return tuple(_value(spec, inner, item) for item in found)
        case ("map" | "pmap", key, inner):
            return Fun({_value(spec, key, k): _value(spec, inner, v) for k, v in found["#map"]})
        case ("rec", name):
            return Rec(name, tuple((field, _value(spec, t, found[field])) for field, t in spec.record(name).fields))
        case ("union", *parts):
            if isinstance(found, dict):
                return _value(spec, next(part for part in parts if part is not None and part[0] == "rec"), found)
            return None if found == NIL else found
        case ("mset", *_):
            return frozenset(_value(spec, ("rec", message["type"]), message) for message in found["#set"])
        case ("mbag", *_):
            return Fun({_value(spec, ("rec", m["type"]), m): int(n["#bigint"]) for m, n in found["#map"]})
    raise AssertionError(of)
