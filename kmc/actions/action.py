"""Declared actions: a named relation between a state and its successors.

An action is a generator function `(state, parameters...)`; each `yield` is one successor and counts once, as TLC
counts. Its parameters range over types; a receiving action also has a message as its parameter, once per deliverable
message of its type, and a parameter that is bound to a field of the message has the field's value. (action, arguments)
is the unit of fairness, coverage, conformance and trace labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any, TypeAlias

from kmc.actions.abstraction import Abstraction
from kmc.errors import Span
from kmc.lang.domains import members
from kmc.lang.records import State
from kmc.lang.symbols import Symbol
from kmc.lang.tla import encode, text
from kmc.lang.types import RecordMeta, Type

ActionFunction: TypeAlias = Callable[..., Iterator[State]]
Arguments: TypeAlias = tuple[Any, ...]


class Fairness(Enum):
    """The actions that a behaviour may not ignore for ever: none, a continuously enabled one, a repeatedly enabled
    one.
    """

    NONE = "none"
    WEAK = "weak"
    STRONG = "strong"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an action; `message_field` names the field that gives it in a receiving action."""

    name: str
    type: Type
    message_field: str | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """One declared action; `title` is its TLA+ name, `network` the field of the state that it receives from.

    An action that is not `in_next` is not part of the next-state relation; only formulas and fairness name it. One that
    is not `in_tla` belongs to a part that the TLA+ spec does not have, and takes no step where that part is off. Its
    successors are the images under `abstractions`, which a search chooses (`Model.searched`); a spec has none.
    """

    name: str
    title: str
    function: ActionFunction
    parameters: tuple[Parameter, ...]
    message: RecordMeta | None
    network: str | None
    fairness: Fairness
    span: Span
    doc: str
    in_next: bool = True
    in_tla: bool = True
    abstractions: tuple[Abstraction, ...] = ()

    def instances(self) -> tuple[Arguments, ...]:
        """All combinations of arguments, in the order of the parameters; SpecError for a type that is not listed."""
        return tuple(product(*(members(parameter.type) for parameter in self.parameters)))

    def arguments_with(self, message: Any) -> Iterator[Arguments]:
        """All arguments with which a receiving action receives `message`."""
        return product(
            *(
                members(parameter.type)
                if parameter.message_field is None
                else (getattr(message, parameter.message_field),)
                for parameter in self.parameters
            )
        )

    def receives_with(self, message: Any, arguments: Arguments) -> bool:
        """Return whether the parameters that are bound to fields of `message` have its values in `arguments`."""
        return all(
            parameter.message_field is None or getattr(message, parameter.message_field) == argument
            for parameter, argument in zip(self.parameters, arguments, strict=True)
        )

    def label(self, arguments: Arguments) -> str:
        """`BecomeLeader(n1)`, or `Restart` without parameters."""
        if not arguments:
            return self.title
        shown = ", ".join(str(value) if isinstance(value, Symbol | int) else text(encode(value)) for value in arguments)
        return f"{self.title}({shown})"


def instances_of(actions: Iterable[Action]) -> list[tuple[Action, Arguments]]:
    """All instances of all actions, by number."""
    return [(action, arguments) for action in actions for arguments in action.instances()]
