"""What closures run on: frames with slots, states that are being assigned, and values that are evaluated when needed.

A frame is a list: the state, the next state, then one slot per binding in scope. Frames of operators are new lists; a
definition that uses the bindings around it runs on a copy of their slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias, final

from kmc.tla.values.kinds import Value

Frame: TypeAlias = list[Any]
Code: TypeAlias = Callable[[Frame], Any]
"""Evaluates to a value."""

Test: TypeAlias = Callable[[Frame], bool]
"""Evaluates to a bool of Python, for what must be TRUE or FALSE."""

Listing: TypeAlias = Callable[[Frame], Iterable[Value]]
"""Evaluates to the elements of a set, in order."""

STATE: Final = 0
NEXT: Final = 1
FIRST_SLOT: Final = 2
_POLL_EVERY = 1024


@final
class Unassigned:
    """The mark of a variable without a value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "(no value)"


UNASSIGNED: Final = Unassigned()


@final
class PartialState(list[Any]):
    """A state whose variables are being assigned; `emit` receives it when an action is through.

    `poll` is called now and then while choices are enumerated, so that limits end an enumeration that takes long.
    """

    __slots__ = ("emit", "for_enabled", "poll", "ticks", "unassigned")

    def __init__(
        self,
        size: int,
        emit: Callable[[PartialState], None],
        for_enabled: bool = False,
        poll: Callable[[], None] | None = None,
    ) -> None:
        super().__init__([UNASSIGNED] * size)
        self.emit = emit
        self.for_enabled = for_enabled
        self.poll = poll
        self.unassigned = size
        self.ticks = _POLL_EVERY
        """The choices until the next poll; a loop over choices counts them down, and calls `poll_now` at 0."""

    def poll_now(self) -> None:
        """Poll, and begin to count again."""
        self.ticks = _POLL_EVERY
        if self.poll is not None:
            self.poll()


class ActionItem:
    """A conjunct that is still to be done: enumerated (`act`), or evaluated once all variables have values (`test`)."""

    __slots__ = ("act", "test")

    def __init__(self, act: Act, make_test: Callable[[], Test]) -> None:
        self.act = act
        self.test: Test

        def first_test(frame: Frame) -> bool:
            self.test = make_test()
            return self.test(frame)

        self.test = first_test


@final
class TestAct:
    """The enumeration of a formula that is only tested: one way if it holds, else none."""

    __slots__ = ("test",)

    def __init__(self, test: Test) -> None:
        self.test = test

    def __call__(self, frame: Frame, rest: Rest) -> None:
        if self.test(frame):
            proceed(frame[NEXT], rest)


@final
class ConjunctionAct:
    """The enumeration of a conjunction: `tests`, then `first`, then `others`, which are in reverse order."""

    __slots__ = ("first", "others", "tests")

    def __init__(self, tests: tuple[Test, ...], first: Act, others: tuple[ActionItem, ...]) -> None:
        self.tests = tests
        self.first = first
        self.others = others

    def __call__(self, frame: Frame, rest: Rest) -> None:
        for test in self.tests:
            if not test(frame):
                return
        self.after_tests(frame, rest)

    def after_tests(self, frame: Frame, rest: Rest) -> None:
        """Do what comes after the tests."""
        for item in self.others:
            rest = (item, frame, rest)
        self.first(frame, rest)


Rest: TypeAlias = "tuple[ActionItem, Frame, Rest] | None"
"""The conjuncts after the current one, each with its frame."""

Act: TypeAlias = Callable[[Frame, Rest], None]
"""Enumerates a formula: continues with the rest for every way in which it can be true."""


def proceed(partial: PartialState, rest: Rest) -> None:
    """Do the conjuncts that are left, as TLC does.

    When all variables have values, TLC only evaluates the conjuncts that are left, so a disjunction among them yields
    one successor however many of its disjuncts hold. ENABLED has no such shortcut, and needs none.
    """
    if rest is None:
        partial.emit(partial)
        return
    if partial.unassigned or partial.for_enabled:
        item, frame, rest = rest
        item.act(frame, rest)
        return
    while rest is not None:
        item, frame, rest = rest
        if not item.test(frame):
            return
    partial.emit(partial)


@final
class Deferred:
    """An argument or a LET definition: evaluated when it is needed first, then kept."""

    __slots__ = ("_code", "_frame", "value")

    def __init__(self, code: Code, frame: Frame) -> None:
        self._code = code
        self._frame = frame
        self.value: Any = None

    def force(self) -> Any:
        """Evaluate, and keep the value."""
        self.value = value = self._code(self._frame)
        return value
