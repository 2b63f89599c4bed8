"""Single states in Python: the initial states, the steps from a state, the value of an expression."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kmc.actions.relation import NextStateRelation
from kmc.api.arguments import own_state, unsuitable
from kmc.api.error_notes import explained
from kmc.api.loaded_spec import LoadedSpec, as_loaded
from kmc.api.trace_states import StepTaken
from kmc.errors import CommandLineError
from kmc.frontend.typed_expression import expression
from kmc.lang.maps import MapValue
from kmc.lang.order import ordered
from kmc.lang.records import State
from kmc.lang.seqs import seq_literal
from kmc.reference.states.initial import initial_states as states_of_init


@explained
def initial_states(spec: LoadedSpec | str | Path) -> list[State]:
    """The initial states, in display order."""
    return ordered(dict.fromkeys(states_of_init(as_loaded(spec).model)))


@explained
def successors(spec: LoadedSpec | str | Path, state: State) -> list[StepTaken]:
    """The steps from a state, in display order: as many as TLC generates, so a step of two ways is there twice.

    Constraints are not applied. Raises EvaluationError at the author's line where an action fails.
    """
    model = as_loaded(spec).model
    own_state(model, state)
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    steps = []
    for action, arguments, successor in sorted(relation.steps(state), key=relation.display_key):
        names = [parameter.name for parameter in action.parameters]
        given = MappingProxyType(dict(zip(names, arguments, strict=True)))
        steps.append(StepTaken(action.title, given, action.label(arguments), successor))
    return steps


@explained
def evaluate(spec: LoadedSpec | str | Path, text: str, state: State, successor: State | None = None) -> Any:
    """The value of an expression of the spec language in a state, or in the step to `successor`.

    The name of an invariant, a constraint or a goal says whether that is true of the state; that of an action property,
    of the step. An expression calls the state `st` and the successor `nxt`, as in `kmc eval`.
    """
    model = as_loaded(spec).model
    if not isinstance(text, str):
        raise unsuitable("text", text, "an expression as text", 'kmc.evaluate(spec, "len(st.messages)", state)')
    asked = expression(model.spec, text)
    states = [own_state(model, given) for given in (state, successor) if given is not None]
    wanted = 2 if asked.needs_successor else 1
    if len(states) != wanted:
        message = f"{asked.text} is evaluated in {'a state' if wanted == 1 else 'a state and its successor'}"
        example = f"kmc.evaluate(spec, {asked.text!r}, {'state' if wanted == 1 else 'state, successor'})"
        raise CommandLineError("KMC695", message, help=f"write {example}")
    value = asked.value(*states)
    asked.encoded(value)  # refuses a function or a type, as kmc eval does
    return value


def literal(value: Any) -> Any:
    """Python's sets, lists and dicts as a spec's literals mean them: `spec.State(votes=kmc.literal({n1: {n2}}))`."""
    match value:
        case set() | frozenset():
            return frozenset(map(literal, value))
        case list():
            return seq_literal(map(literal, value))
        case Mapping():
            return MapValue({literal(key): literal(item) for key, item in value.items()})
        case _:
            return value
