"""What names mean while an expression is compiled: slots of frames, or expressions that are compiled where they occur.

An argument that cannot be evaluated before, since it has primes or is an operator, is substituted: it is compiled again
at each use, in the scope where it was written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NoReturn, TypeAlias

from kmc.errors import Span
from kmc.tla.resolved.nodes import Argument, NameBinding, OperatorDefinition
from kmc.tla.run.frames import FIRST_SLOT, Act, Code, Frame, Rest
from kmc.tla.values.failures import outside_domain
from kmc.tla.values.sets import member

_FIRST_OF_ENABLED = 2
_lineages = count(_FIRST_OF_ENABLED)


@dataclass(frozen=True, slots=True)
class Mode:
    """Where variables are read: `state` and `next` number the states of a frame, and `primed` reads the next one.

    An initial predicate is compiled as primed: its variables are those of the state that is being assigned.
    """

    state: int = 0
    next: int = 1
    primed: bool = False

    @property
    def read(self) -> int:
        """The number of the state that variables are read from."""
        return self.next if self.primed else self.state

    @property
    def is_below_enabled(self) -> bool:
        """True if the next state is that of an ENABLED."""
        return self.next >= _FIRST_OF_ENABLED

    def of_enabled(self) -> Mode:
        """Return the mode of the action below ENABLED: a state of its own is assigned."""
        return Mode(self.read, next(_lineages), False)


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of the frame: a value, or a `Deferred` one that was made in `mode`."""

    index: int
    level: int = 0
    mode: Mode = Mode()
    is_deferred: bool = False

    def is_valid_in(self, mode: Mode) -> bool:
        """Return whether a value that was made in the slot's mode is the value in another one."""
        if self.level == 0 or self.mode == mode:
            return True
        return self.level == 1 and self.mode.read == mode.read


@dataclass(frozen=True, slots=True, eq=False)
class Substitute:
    """An argument that is compiled where its parameter occurs."""

    argument: Argument
    scope: RunScope


@dataclass(frozen=True, slots=True, eq=False)
class LocalDefinition:
    """A definition of a LET: the scope of its body, and the slot of its value, if it has no parameters."""

    scope: RunScope
    slot: Slot | None = None


Meaning: TypeAlias = Slot | Substitute


@dataclass(slots=True, eq=False)
class FrameLayout:
    """The slots of a frame. Each binding has one of its own, since conjuncts run while earlier ones are still open."""

    size: int = FIRST_SLOT

    def fresh(self) -> int:
        """Return a slot that nothing uses."""
        self.size += 1
        return self.size - 1


def _not_yet(*_: object) -> NoReturn:
    """Fail: this is the code of a unit until it is compiled."""
    raise AssertionError("a unit runs before it is compiled")


@dataclass(slots=True, eq=False)
class Unit:
    """A definition that runs on frames of its own: `base` slots are copied from the frame that calls it.

    `given` are the arguments that it was opened with, of which the `substituted` ones are compiled into it.
    """

    definition: OperatorDefinition
    base: int
    layout: FrameLayout
    substituted: frozenset[NameBinding] = frozenset()
    given: dict[NameBinding, Argument] = field(default_factory=dict)
    code: Code = _not_yet
    act: Act = _not_yet
    _room: list[None] = field(default_factory=list)

    def room(self, used: int) -> list[None]:
        """Return empty slots for what a frame binds beside the `used` ones, which are as many in each call."""
        if len(self._room) != self.layout.size - used:
            self._room = [None] * (self.layout.size - used)
        return self._room


@dataclass(slots=True, eq=False)
class FunctionAct:
    """A function whose body is enumerated; `prepare` fills the slots that the body needs beside its arguments.

    Each application has a frame of its own, since those around it are still open.
    """

    name: str
    layout: FrameLayout
    domain: Code
    bind: Callable[[Frame, Any], None]
    is_pattern: bool
    prepare: Callable[[Frame, Frame], None]
    body: Act = _not_yet

    def run(self, frame: Frame, given: Any, rest: Rest, place: Span) -> None:
        """Enumerate the body for an argument; EvaluationError for one outside of the domain."""
        if not member(given, self.domain(frame)):
            raise outside_domain(self.name, given).at(place)
        own = frame[:]
        self.prepare(own, frame)
        self.bind(own, (given,) if self.is_pattern else given)
        self.body(own, rest)


@dataclass(frozen=True, slots=True, eq=False)
class RunScope:
    """The meanings of bindings at a place."""

    layout: FrameLayout
    mode: Mode = Mode()
    meanings: dict[NameBinding, Meaning] = field(default_factory=dict)
    locals: dict[OperatorDefinition, LocalDefinition] = field(default_factory=dict)
    units: dict[tuple[OperatorDefinition, Mode, bool], Unit] = field(default_factory=dict)

    def binding(self, meanings: dict[NameBinding, Meaning]) -> RunScope:
        """Return the scope with more bindings."""
        return replace(self, meanings={**self.meanings, **meanings}) if meanings else self

    def in_mode(self, mode: Mode) -> RunScope:
        """Return the scope with variables read elsewhere."""
        return self if mode == self.mode else replace(self, mode=mode)

    def on(self, other: RunScope) -> RunScope:
        """Return this scope for code that runs on another scope's frame, in its mode."""
        if self.layout is other.layout and self.mode == other.mode and self.units is other.units:
            return self
        return replace(self, layout=other.layout, mode=other.mode, units={**self.units, **other.units})

    def slots(self, names: tuple[NameBinding, ...]) -> tuple[RunScope, tuple[int, ...]]:
        """Return the scope with a slot for each name, and the slots."""
        indices = tuple(self.layout.fresh() for _ in names)
        return self.binding({name: Slot(index) for name, index in zip(names, indices, strict=True)}), indices


class Units:
    """The operators of modules, each compiled once for values and once for actions, in each mode."""

    def __init__(self) -> None:
        self.known: dict[tuple[OperatorDefinition, Mode, bool], Unit] = {}

    def of(self, definition: OperatorDefinition, mode: Mode, is_act: bool) -> tuple[Unit, bool]:
        """Return the unit of an operator, and whether it is new."""
        key = (definition, mode, is_act)
        unit = self.known.get(key)
        if unit is not None:
            return unit, False
        unit = self.known[key] = Unit(definition, FIRST_SLOT, FrameLayout())
        return unit, True
