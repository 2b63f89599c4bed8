"""The Informal Trace Format (`.itf.json`; Apalache's ADR-015), written for its drivers and read from any checker.

Besides the spec's variables, two state variables make a trace usable by drivers of model-based tests. They have Quint's
names: `mbt::actionTaken`, the action that led to the state ("init" for the first), and `mbt::nondetPicks`, a record of
its arguments, and of the message that it received as `message`. All are plain values: Quint wraps each in a variant
`Some(value)`, which itf-py cannot read around an integer or a set. Both forms are read; other variants are refused,
since TLA+ has none. A record whose only fields are `tag` and `value` would read as a variant, but no spec has one,
because a field cannot be named `tag`.

A trace of a TLA+ module may have model values beside strings; `kmc-names` in its meta object lists the strings that
stand for names (`kmc.trace.written_names`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, assert_never

from kmc.lang.showing import digits
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.trace.strict_json import JsonPlace, checked_integer, first_repeated, parse_json
from kmc.trace.trees import identity
from kmc.trace.untyped_trace import FileStep, TraceFile
from kmc.trace.written_names import with_read_names, with_written_names, written_names

FORMAT_DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"
ACTION = "mbt::actionTaken"
PICKS = "mbt::nondetPicks"
MESSAGE = "message"
INIT = "init"
_NAMES = "kmc-names"

_SHAPE = f"the format is described at {FORMAT_DESCRIPTION}"
_VALUES = "a value is a boolean, string, list, record, or an object with #bigint, #set, #map or #tup"


def itf_text(file: TraceFile) -> str:
    """The trace in ITF, one state a line."""
    names = written_names(file)
    if names is not None:
        file = with_written_names(file, names)
    states = [
        {"#meta": {"index": index}, **_variables(step.variables), **_picks_of(step, index == 0)}
        for index, step in enumerate(file.steps)
    ]
    members = [
        f'"#meta": {json.dumps(_meta(file, names))}',
        f'"vars": {json.dumps([*file.variables, ACTION, PICKS])}',
        '"states": [\n  ' + ",\n  ".join(map(json.dumps, states)) + "\n ]",
    ]
    if file.loop is not None:
        members.append(f'"loop": {file.loop}')
    return "{\n " + ",\n ".join(members) + "\n}\n"


def _meta(file: TraceFile, names: Mapping[str, str] | None) -> dict[str, Any]:
    meta: dict[str, Any] = {"format": "ITF", "format-description": FORMAT_DESCRIPTION}
    for name, key in (("source", "spec"), ("status", "status")):
        if key in file.about:
            meta[name] = file.about[key]
    meta["kmc"] = dict(file.about)
    if file.closing is not None:
        meta["kmc-closing"] = _picks_of(file.closing, False)
    if names is not None:
        meta[_NAMES] = dict(names)
    return meta


def _variables(variables: Mapping[str, Tla]) -> dict[str, Any]:
    return {name: itf_value(value) for name, value in variables.items()}


def _picks_of(step: FileStep, first: bool) -> dict[str, Any]:
    picks = {} if first else {name: itf_value(value) for name, value in step.arguments}
    if step.message is not None and not first:
        picks.setdefault(MESSAGE, itf_value(step.message))
    return {ACTION: INIT if first else step.action or "", PICKS: picks}


def itf_value(tree: Tla) -> Any:
    """A value in ITF, ready for `json.dumps`."""
    match tree:
        case bool() | str():
            return tree
        case int():
            return {"#bigint": digits(tree)}
        case TlaSet(elements):
            return {"#set": [itf_value(element) for element in elements]}
        case TlaSeq(elements):
            return [itf_value(element) for element in elements]
        case TlaMap(pairs):
            return {"#map": [[itf_value(key), itf_value(value)] for key, value in pairs]}
        case TlaRecord(fields):
            return {name: itf_value(value) for name, value in fields}
        case _:
            assert_never(tree)


def parse_itf(text: str) -> TraceFile:
    """The trace that an ITF document holds, written by any checker; TraceError KMC421 to KMC423 for anything else."""
    return itf_trace(parse_json(text))


def itf_trace(top: JsonPlace) -> TraceFile:
    """The trace in a parsed ITF document."""
    members = top.members("an object", _SHAPE)
    listed = top.member("vars", _SHAPE).items("an array of names", _SHAPE)
    names = tuple(dict.fromkeys(place.string("a name", _SHAPE) for place in listed))
    parameters = {
        place.string("a name", _SHAPE)
        for place in (members["params"].items("an array of names", _SHAPE) if "params" in members else [])
    }
    states = top.member("states", _SHAPE)
    state_places = states.items("an array of states", _SHAPE)
    if not state_places:
        states.refuse("there is no state", "a trace has at least one state")
    variables = tuple(name for name in names if name not in (ACTION, PICKS))
    steps = tuple(_step(place, variables, names, parameters, first=place is state_places[0]) for place in state_places)
    about, closing = _read_meta(members.get("#meta"))
    loop = _loop(members.get("loop"), len(steps))
    if closing is not None and loop is not None:
        closing = replace(closing, variables=steps[loop].variables)
    file = TraceFile(variables, steps, loop, about, closing if loop is not None else None)
    model_values = _read_names(members.get("#meta"))
    return file if model_values is None else with_read_names(file, model_values)


def _loop(place: JsonPlace | None, length: int) -> int | None:
    if place is None or place.value is None:
        return None
    loop = place.integer("the index of a state", _SHAPE)
    if not 0 <= loop < length:
        place.refuse(f"there is no state with index {loop}", f"the last state has index {length - 1}")
    return loop


def _read_meta(place: JsonPlace | None) -> tuple[dict[str, str], FileStep | None]:
    if place is None:
        return {}, None
    meta = place.members("an object", _SHAPE)
    named = {"spec": meta.get("source"), "status": meta.get("status")}
    about = {
        key: text_place.text("", "")
        for key, text_place in named.items()
        if text_place and isinstance(text_place.value, str)
    }
    if "kmc" in meta:
        help = "kmc writes strings here; save the trace again"
        about |= {
            key: text_place.text("a string", help) for key, text_place in meta["kmc"].members("an object", help).items()
        }
    if "kmc-closing" not in meta:
        return about, None
    closing = meta["kmc-closing"].members("an object", _SHAPE)
    return about, _taken_step({}, closing, first=False)


def _read_names(place: JsonPlace | None) -> dict[str, str] | None:
    meta = place.members("an object", _SHAPE) if place is not None else {}
    if _NAMES not in meta:
        return None
    help = "kmc writes strings here; save the trace again"
    return {string: name.text("a string", help) for string, name in meta[_NAMES].members("an object", help).items()}


def _step(
    place: JsonPlace, variables: tuple[str, ...], names: tuple[str, ...], parameters: set[str], first: bool
) -> FileStep:
    members = place.members("a state, which is an object", _SHAPE)
    for name in members:
        if name not in names and name not in parameters and name != "#meta":
            members[name].refuse(f"'{name}' is not a variable of this trace", 'the array "vars" names them all')
    for name in names:
        if name not in members:
            place.refuse(f"variable '{name}' is missing", "every state gives every variable")
    return _taken_step({name: read_value(members[name]) for name in variables}, members, first)


def _taken_step(variables: Mapping[str, Tla], members: Mapping[str, JsonPlace], first: bool) -> FileStep:
    """The step with its action and picks. A record that is picked as the `message` is the one that was received."""
    action = members[ACTION].string("the name of an action", _SHAPE) if ACTION in members else ""
    picks = dict(_picks(members[PICKS])) if PICKS in members else {}
    if first or not action:
        return FileStep(variables)
    received = picks.pop(MESSAGE) if isinstance(picks.get(MESSAGE), TlaRecord) else None
    return FileStep(variables, action, tuple(picks.items()), message=received)


def _picks(place: JsonPlace) -> Iterator[tuple[str, Tla]]:
    for name, pick in place.members("a record of the values picked", _SHAPE).items():
        members = pick.members("a pick", _SHAPE) if _is_variant(pick.value) else {}
        if not members:
            yield name, read_value(pick)
        elif members["tag"].value == "Some":
            yield name, read_value(members["value"])
        elif members["tag"].value != "None":
            members["tag"].refuse("a pick is the variant Some or None", _SHAPE, "KMC423")


def _is_variant(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"tag", "value"} and isinstance(value["tag"], str)


def read_value(place: JsonPlace) -> Tla:
    """The ITF value at `place`; integers may be plain JSON numbers."""
    match place.value:
        case bool() | int():
            scalar: bool | int = place.value
            return scalar
        case str():
            return place.string("a string", _VALUES)
        case list():
            return TlaSeq(tuple(read_value(item) for item in place.items("a list", _VALUES)))
        case dict():
            return _object(place)
        case _:
            place.refuse(f"{json.dumps(place.value)} is not a value", _VALUES, "KMC423")


def _object(place: JsonPlace) -> Tla:
    members = place.members("an object", _VALUES)
    special = [name for name in members if name.startswith("#")]
    if not special:
        if _is_variant(place.value):
            help = "TLA+ has no variants: write the trace from a spec without them"
            place.refuse(f"this is the variant {place.value['tag']}", help, "KMC423")
        return TlaRecord(tuple((name, read_value(member)) for name, member in members.items()))
    inner = members[special[0]]
    match special:
        case ["#bigint"] if len(members) == 1:
            return _integer(inner)
        case ["#tup"] if len(members) == 1:
            return TlaSeq(tuple(read_value(item) for item in inner.items("the elements of a tuple", _VALUES)))
        case ["#set"] if len(members) == 1:
            return _set(inner)
        case ["#map"] if len(members) == 1:
            return _map(inner)
        case ["#unserializable"]:
            help = "the checker that wrote the trace could not write this value: make it finite there"
            place.refuse("this value was not serializable", help, "KMC423")
        case _:
            place.refuse(f"an object with {', '.join(members)} is not a value", _VALUES, "KMC423")


def _integer(place: JsonPlace) -> int:
    digits = place.string('a string "-?digits"', _VALUES)
    if not re.fullmatch(r"-?[0-9]+", digits):
        place.refuse(f"{json.dumps(digits)} is not an integer", 'write {"#bigint": "-?digits"}', "KMC423")
    return checked_integer(digits)


def _set(place: JsonPlace) -> TlaSet:
    elements = [read_value(item) for item in place.items("the elements of a set", _VALUES)]
    return TlaSet(tuple({identity(element): element for element in elements}.values()))


def _map(place: JsonPlace) -> TlaMap:
    items = place.items("the pairs of a function", _VALUES)
    pairs = [item.items("a pair [key, value]", _VALUES, length=2) for item in items]
    read = [(read_value(key), read_value(value)) for key, value in pairs]
    repeated = first_repeated(identity(key) for key, _ in read)
    if repeated is not None:
        items[repeated].refuse("this key occurs twice in the function", "a function has one value per key", "KMC423")
    return TlaMap(tuple(read))
