"""TLC's JSON traces (`-dumpTrace json`): one object with the states and, per step, the action between two of them.

The format does not distinguish sets from sequences, records from functions, or names from strings. So a trace that was
read is ambiguous (arrays are sequences, objects with names for keys are records) until a spec's types resolve it. A
lasso is an action from the last state to an earlier one. An action from the last state to itself means that the trace
stutters; TLC then repeats the previous action.
"""

from __future__ import annotations

import json
from typing import Any, assert_never

from kmc.errors import Span, TraceError
from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet
from kmc.trace.strict_json import JsonPlace, first_repeated, parse_json
from kmc.trace.tla_text import NAME, parse_value
from kmc.trace.trees import as_sequence, identity, one_line
from kmc.trace.untyped_trace import UNNAMED, FileStep, TraceFile

_SHAPE = 'TLC writes {"counterexample": {"action": [...], "state": [[1, {...}], ...]}}'
_VALUES = "TLC writes booleans, integers, strings, arrays and objects"


def tlc_json_text(file: TraceFile) -> str:
    """The trace as TLC writes it, in one line."""
    states = [
        [number, {name: _json(value) for name, value in step.variables.items()}]
        for number, step in enumerate(file.steps, start=1)
    ]
    actions = [[states[index - 1], _action(step), states[index]] for index, step in enumerate(file.steps) if index > 0]
    if file.loop is not None:
        actions.append([states[-1], _action(file.closing or file.steps[-1]), states[file.loop]])
    document = {"counterexample": {"action": actions, "state": states}, "vars": list(file.variables)}
    return json.dumps(document, separators=(",", ":"))


def _action(step: FileStep) -> dict[str, Any]:
    action: dict[str, Any] = {"name": step.action or UNNAMED}
    place = step.location
    if place is not None:
        action["location"] = {
            "beginLine": place.line,
            "beginColumn": place.column,
            "endLine": place.end_line or place.line,
            "endColumn": (place.end_column or place.column + 1) - 1,
            "module": place.path,
        }
    if step.arguments:
        action["context"] = {name: _json(value) for name, value in step.arguments}
        action["parameters"] = [name for name, _ in step.arguments]
    return action


def _json(tree: Tla) -> Any:
    match tree:
        case bool() | int() | str():
            return tree
        case TlaSet(elements) | TlaSeq(elements):
            return [_json(element) for element in elements]
        case TlaRecord(fields):
            return {name: _json(value) for name, value in fields}
        case TlaMap(pairs):
            listed = as_sequence(pairs)
            if listed is not None:
                return [_json(element) for element in listed]
            return {one_line(key): _json(value) for key, value in pairs}
        case _:
            assert_never(tree)


def parse_tlc_json(text: str) -> TraceFile:
    """The trace, with ambiguous values, that a document of TLC holds; TraceError KMC421 to KMC423 for anything else."""
    return tlc_json_trace(parse_json(text))


def tlc_json_trace(top: JsonPlace) -> TraceFile:
    """The trace in a parsed document of TLC."""
    counterexample = top.member("counterexample", _SHAPE)
    states = counterexample.member("state", _SHAPE)
    state_places = states.items("an array of states", _SHAPE)
    if not state_places:
        states.refuse("there is no state", "a trace has at least one state")
    variables = [_state(place, number) for number, place in enumerate(state_places, start=1)]
    for place, given in zip(state_places, variables, strict=True):
        if given.keys() != variables[0].keys():
            other = sorted(given.keys() ^ variables[0].keys())[0]
            place.refuse(f"variable '{other}' occurs in some states only", "every state gives every variable")
    taken: dict[int, FileStep] = {}
    loop = closing = None
    for place in counterexample.member("action", _SHAPE).items("an array of steps", _SHAPE):
        source, step, target = _edge(place, len(state_places))
        if target == source + 1 and source not in taken:
            taken[source] = step
        elif source == len(state_places) and target <= source and loop is None:
            loop, closing = target - 1, step
        else:
            place.refuse(f"a step from state {source} to state {target} does not fit in", _SHAPE)
    steps = tuple(_file_step(given, taken.get(index)) for index, given in enumerate(variables))
    if loop is not None and closing is not None:
        closing = None if loop == len(steps) - 1 else _file_step(steps[loop].variables, closing)
    return TraceFile(tuple(variables[0]), steps, loop, {}, closing, ambiguous=True)


def _file_step(variables: Any, step: FileStep | None) -> FileStep:
    return FileStep(variables, step.action, step.arguments, step.location) if step else FileStep(variables)


def _numbered(place: JsonPlace) -> tuple[JsonPlace, JsonPlace]:
    number, state = place.items("a pair [number, state]", _SHAPE, length=2)
    return number, state


def _state(place: JsonPlace, number: int) -> dict[str, Tla]:
    given, state = _numbered(place)
    if given.integer("the number of a state", _SHAPE) != number:
        given.refuse(f"state {given.value} stands where state {number} belongs", "states are numbered 1, 2, 3, ...")
    members = state.members("a state, which is an object", _SHAPE)
    return {name: read_value(member) for name, member in members.items()}


def _edge(place: JsonPlace, length: int) -> tuple[int, FileStep, int]:
    members = place.items("a step [[number, state], action, [number, state]]", _SHAPE, length=3)
    source, target = [_numbered(member)[0] for member in (members[0], members[2])]
    for end in (source, target):
        if not 1 <= end.integer("the number of a state", _SHAPE) <= length:
            end.refuse(f"there is no state {end.value}", f"the trace has {length} states")
    return source.value, _read_action(members[1]), target.value


def _read_action(place: JsonPlace) -> FileStep:
    members = place.members("an action, which is an object", _SHAPE)
    name = place.member("name", _SHAPE).string("the name of an action", _SHAPE)
    context = members["context"].members("an object", _SHAPE) if "context" in members else {}
    listed = members["parameters"].items("an array of names", _SHAPE) if "parameters" in members else []
    arguments = []
    for item in listed:
        parameter = item.string("the name of a parameter", _SHAPE)
        if parameter not in context:
            item.refuse(f"the context gives no '{parameter}'", _SHAPE)
        arguments.append((parameter, read_value(context[parameter])))
    return FileStep({}, name, tuple(arguments), _location(members.get("location")))


def _location(place: JsonPlace | None) -> Span | None:
    if place is None:
        return None
    line, column, end_line, end_column = (
        place.member(name, _SHAPE).integer("a line or column", _SHAPE)
        for name in ("beginLine", "beginColumn", "endLine", "endColumn")
    )
    module = place.member("module", _SHAPE).string("the name of a module", _SHAPE)
    return Span(module, line, column, end_line, end_column + 1)


def read_value(place: JsonPlace) -> Tla:
    """The value at `place`, perhaps ambiguous: see the module docstring."""
    match place.value:
        case bool() | int():
            scalar: bool | int = place.value
            return scalar
        case str():
            return place.string("a string", _VALUES)
        case list():
            return TlaSeq(tuple(read_value(item) for item in place.items("an array", _VALUES)))
        case dict():
            members = place.members("an object", _VALUES)
            if all(NAME.fullmatch(name) for name in members):
                return TlaRecord(tuple((name, read_value(member)) for name, member in members.items()))
            return _function(members)
        case _:
            place.refuse(f"{json.dumps(place.value)} is not a value", _VALUES, "KMC423")


def _function(members: dict[str, JsonPlace]) -> TlaMap:
    pairs = [(_key(name), read_value(member)) for name, member in members.items()]
    repeated = first_repeated(identity(key) for key, _ in pairs)
    if repeated is not None:
        list(members.values())[repeated].refuse(
            "this key occurs twice in the function", "a function has one value per key", "KMC423"
        )
    return TlaMap(tuple(pairs))


def _key(text: str) -> Tla:
    """The key of a function; TLC writes strings there without quotes."""
    try:
        return parse_value(text)
    except TraceError:
        return text
