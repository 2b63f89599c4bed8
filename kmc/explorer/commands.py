"""The commands of a person to a session, read from JSON that may be anything.

A command is an object with the key `do`; the other keys are the fields of the class below with that name:

    {"do": "begin", "initial": 0}                          begin at an initial state, by its place in their list
    {"do": "take", "at": 7, "move": 3}                     take a move of state 7, by its place in the list of moves
    {"do": "go", "to": 4}                                  go to a visited state; without "to", to the initial states
    {"do": "bookmark", "of": 4, "name": "two leaders"}     name a visited state; an empty name removes the bookmark
    {"do": "show", "expression": "len(st.messages)"}       show its value in every state of the path
    {"do": "hide", "expression": "len(st.messages)"}       show it no longer
    {"do": "undo"}, {"do": "redo"}
    {"do": "walk", "steps": 20, "seed": 7}                 a random walk
    {"do": "until", "what": "property", "name": "", "how": "breadth", "states": 1000000, "seed": 7}
                                                           what: property, goal, action or expression; how: breadth or
                                                           random; name is of that thing, or the text of the expression
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import TypeAlias, TypeVar

from kmc.errors import CommandLineError

NUMBER_MAX = 2**53 - 1
TEXT_MAX = 2_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin at an initial state."""

    initial: int


@dataclass(frozen=True, slots=True)
class TakeMove:
    """Take a move of the state `at`, in which the person must be."""

    at: int
    move: int


@dataclass(frozen=True, slots=True)
class GoTo:
    """Go to a visited state, or back to the choice of an initial state."""

    to: int | None = None


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Name a visited state."""

    of: int
    name: str


@dataclass(frozen=True, slots=True)
class ShowExpression:
    """Show the value of an expression in every state of the path."""

    expression: str


@dataclass(frozen=True, slots=True)
class HideExpression:
    """Show an expression no longer."""

    expression: str


@dataclass(frozen=True, slots=True)
class Undo:
    """Undo the last command."""


@dataclass(frozen=True, slots=True)
class Redo:
    """Redo the command that was undone last."""


@dataclass(frozen=True, slots=True)
class WalkRandomly:
    """Take random steps."""

    steps: int
    seed: int


@dataclass(frozen=True, slots=True)
class RunUntil:
    """Search for a state in which something is so."""

    what: str
    name: str
    how: str = "breadth"
    states: int = 1_000_000
    seed: int = 0


QuickCommand: TypeAlias = Begin | TakeMove | GoTo | Bookmark | ShowExpression | HideExpression | Undo | Redo
LongCommand: TypeAlias = WalkRandomly | RunUntil
"""A command that may take long, and runs beside the other commands."""

_COMMANDS: dict[str, type[QuickCommand] | type[LongCommand]] = {
    "begin": Begin,
    "take": TakeMove,
    "go": GoTo,
    "bookmark": Bookmark,
    "show": ShowExpression,
    "hide": HideExpression,
    "undo": Undo,
    "redo": Redo,
    "walk": WalkRandomly,
    "until": RunUntil,
}


def command_of(given: object) -> QuickCommand | LongCommand:
    """The command that an object of JSON describes; CommandLineError KMC670 for anything else."""
    if not isinstance(given, dict) or not isinstance(given.get("do"), str) or given["do"] not in _COMMANDS:
        raise refused("this is not a command", f'the key "do" is one of {", ".join(_COMMANDS)}')
    chosen = _COMMANDS[given["do"]]
    wanted = {field.name: field for field in fields(chosen)}
    stray = sorted(key for key in given if key != "do" and key not in wanted)
    missing = [name for name, field in wanted.items() if field.default is MISSING and name not in given]
    if stray or missing:
        raise refused(f"{given['do']} has the keys {', '.join(wanted) or 'none'} besides do", "leave out the others")
    for name, field in wanted.items():
        if name in given:
            _check_value(given["do"], name, str(field.type), given[name])
    made: QuickCommand | LongCommand = chosen(**{name: given[name] for name in wanted if name in given})
    return made


def _check_value(command: str, name: str, declared: str, value: object) -> None:
    match declared, value:
        case "str", str() if len(value) <= TEXT_MAX:
            return
        case "int | None", None:
            return
        case (("int" | "int | None"), int()) if not isinstance(value, bool) and 0 <= value <= NUMBER_MAX:
            return
    wanted = f"a text of at most {TEXT_MAX} characters" if declared == "str" else f"a number from 0 to {NUMBER_MAX}"
    raise refused(f"'{name}' of {command} is not {wanted}", "see the list of commands in the explorer's documentation")


def refused(message: str, help: str) -> CommandLineError:
    """The error of a command that cannot be carried out."""
    return CommandLineError("KMC670", message, help=help)


def one_of(name: str, value: str, known: dict[str, Callable[..., T]]) -> Callable[..., T]:
    """The choice that `value` names; CommandLineError KMC670 where it names none."""
    if value not in known:
        raise refused(f"'{name}' is not '{value[:40]}'", f"write one of {', '.join(known)}")
    return known[value]
