"""Closures of logic: junctions, quantifiers, IF and CASE, UNCHANGED, ENABLED."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, TypeVar

from kmc.budget import polled
from kmc.errors import Span
from kmc.tla.resolved.nodes import Argument, BoundRange, CaseExpr, EnabledExpr, QuantifiedExpr
from kmc.tla.resolved.own_variables import mentions_stand_ins, with_own_variables
from kmc.tla.run.closures import primed_mode
from kmc.tla.run.compiling import NodeCompiler
from kmc.tla.run.frames import NEXT, STATE, UNASSIGNED, Code, Frame, Listing, PartialState, Test
from kmc.tla.run.scopes import RunScope, Slot
from kmc.tla.values.failures import never_evaluated, no_arm_holds, read_before_assigned, wrong_kind
from kmc.tla.values.kinds import Value
from kmc.tla.values.order import equal

Result = TypeVar("Result")
Binder = Callable[[Frame, Any], None]
"""Puts an element, or the tuple of the elements of several ranges, into slots."""


def conjunction(tests: tuple[Test, ...]) -> Test:
    """Return the test of a conjunction, from the left."""
    if len(tests) == 2:
        first, second = tests
        return lambda frame: first(frame) and second(frame)

    def every(frame: Frame) -> bool:
        for test in tests:  # noqa: SIM110  # a generator would use the stack of C in recursions
            if not test(frame):
                return False
        return True

    return every


def disjunction(tests: tuple[Test, ...]) -> Test:
    """Return the test of a disjunction, from the left."""
    if len(tests) == 2:
        first, second = tests
        return lambda frame: first(frame) or second(frame)

    def some(frame: Frame) -> bool:
        for test in tests:  # noqa: SIM110  # as above
            if test(frame):
                return True
        return False

    return some


def conditional(
    condition: Test, then: Callable[[Frame], Result], otherwise: Callable[[Frame], Result]
) -> Callable[[Frame], Result]:
    """Return the closure of IF; a test if both branches are tests."""
    return lambda frame: then(frame) if condition(frame) else otherwise(frame)


def prepared(prepare: Callable[[Frame], None], body: Callable[[Frame], Result]) -> Callable[[Frame], Result]:
    """Return the closure of a body whose slots are filled first."""

    def run(frame: Frame) -> Result:
        prepare(frame)
        return body(frame)

    return run


def case(compiler: NodeCompiler, node: CaseExpr, scope: RunScope) -> Code:
    """Compile CASE: the first arm whose condition holds, as in TLC."""
    arms = tuple((compiler.test(test, scope, "CASE"), compiler.value(value, scope)) for test, value in node.arms)
    other = compiler.value(node.other, scope) if node.other is not None else None
    place = node.place

    def run(frame: Frame) -> Any:
        for test, value in arms:
            if test(frame):
                return value(frame)
        if other is None:
            raise no_arm_holds().at(place)
        return other(frame)

    return run


def binder(compiler: NodeCompiler, ranges: tuple[BoundRange, ...], scope: RunScope) -> tuple[RunScope, Listing, Binder]:
    """Compile ranges: the scope of what they bind, the listing of all choices, and what puts a choice into slots.

    As in TLC, the sets of all ranges are evaluated before the first choice.
    """
    listings = _listings(compiler, ranges, scope)
    names = tuple(name for bound in ranges for name in bound.bindings)
    inner, slots = scope.slots(names)
    if not any(bound.is_pattern for bound in ranges):
        if len(slots) == 1:
            return inner, listings[0], lambda frame, choice: frame.__setitem__(slots[0], choice)
        low, high = slots[0], slots[-1] + 1
        return inner, _together(listings), lambda frame, choice: frame.__setitem__(slice(low, high), choice)
    return inner, _together(listings), _unpacking(ranges, slots)


def _listings(compiler: NodeCompiler, ranges: tuple[BoundRange, ...], scope: RunScope) -> list[Listing]:
    """Compile the sets: `x, y \\in S` has one set for two bindings."""
    found = []
    for bound in ranges:
        listing = compiler.listing(bound.domain, scope)
        found += [listing] * (1 if bound.is_pattern else len(bound.bindings))
    return found


def _together(listings: list[Listing]) -> Listing:
    return lambda frame: polled(product(*[listing(frame) for listing in listings]))


def _unpacking(ranges: tuple[BoundRange, ...], slots: tuple[int, ...]) -> Binder:
    """Return the binder of ranges among which are patterns: each choice is flattened into the slots."""
    widths = [
        width
        for bound in ranges
        for width in ([len(bound.bindings)] if bound.is_pattern else [0] * len(bound.bindings))
    ]
    places = [bound.place for bound in ranges for _ in ([0] if bound.is_pattern else bound.bindings)]
    low, high = slots[0], slots[-1] + 1

    def bind(frame: Frame, choice: Any) -> None:
        flat: list[Value] = []
        for item, width, place in zip(choice, widths, places, strict=True):
            if width:
                flat.extend(unpacked(item, width, place))
            else:
                flat.append(item)
        frame[low:high] = flat

    return bind


def unpacked(item: Value, width: int, place: Span) -> tuple[Value, ...]:
    """Return the items of a tuple that a pattern takes apart."""
    if isinstance(item, tuple) and len(item) == width:
        return item
    raise wrong_kind("<<x, y>> \\in S", f"tuples of {width} elements in S", item).at(place)


def quantified(compiler: NodeCompiler, node: QuantifiedExpr, scope: RunScope) -> Test:
    r"""Compile `\A` and `\E`."""
    inner, choices, bind = binder(compiler, node.ranges, scope)
    body = compiler.test(node.body, inner, node.kind)
    wanted = node.kind == "\\E"
    if len(node.ranges) == 1 and len(node.ranges[0].bindings) == 1 and not node.ranges[0].is_pattern:
        return _over_one(choices, slot_of(inner, node.ranges[0]), body, wanted)

    def over_several(frame: Frame) -> bool:
        for choice in choices(frame):
            bind(frame, choice)
            if body(frame) is wanted:
                return wanted
        return not wanted

    return over_several


def slot_of(scope: RunScope, bound: BoundRange) -> int:
    """Return the slot of the only binding of a range."""
    meaning = scope.meanings[bound.bindings[0]]
    assert isinstance(meaning, Slot)
    return meaning.index


def _over_one(choices: Listing, slot: int, body: Test, wanted: bool) -> Test:
    def over_one(frame: Frame) -> bool:
        for choice in choices(frame):
            frame[slot] = choice
            if body(frame) is wanted:
                return wanted
        return not wanted

    return over_one


def unchanged(compiler: NodeCompiler, body: Argument, scope: RunScope) -> Test:
    """Compile the test that an expression has one value in both states."""
    before = compiler.stored(body, scope)
    after = compiler.stored(body, scope.in_mode(primed_mode(scope.mode, body.place)))
    return lambda frame: equal(before(frame), after(frame))


class _NextState(list[Any]):
    """The next state as the state of an ENABLED; EvaluationError KMC264 for a variable without a value yet."""

    __slots__ = ("_place", "_variables")

    def __init__(self, values: Iterable[Any], variables: tuple[str, ...], place: Span) -> None:
        super().__init__(values)
        self._variables = variables
        self._place = place

    def __getitem__(self, index: Any) -> Any:
        value = super().__getitem__(index)
        if value is UNASSIGNED:
            raise read_before_assigned(self._variables[index]).at(self._place)
        return value


class _Found(Exception):
    """The end of the enumeration below an ENABLED: there is a successor."""


def _found(_: PartialState) -> None:
    raise _Found


def enabled(compiler: NodeCompiler, node: EnabledExpr, scope: RunScope) -> Test:
    """Compile ENABLED: whether enumerating the action finds a successor."""
    if scope.mode.primed and scope.mode.is_below_enabled and mentions_stand_ins(node):
        # The next state of the outer ENABLED has variables of its own, and the inner one would read the model's.
        reason = "the variables of an instance have no value in the next state of another ENABLED"
        raise never_evaluated("ENABLED below a prime and ENABLED", reason).at(node.place)
    action, own = with_own_variables(node, len(compiler.variables))
    run = compiler.act(action, scope.in_mode(scope.mode.of_enabled()))
    size = len(compiler.variables) + len(own)
    primed, place = scope.mode.primed, node.place

    def test(frame: Frame) -> bool:
        inner = frame[:]
        inner[STATE] = _NextState(frame[NEXT], compiler.variables, place) if primed else frame[STATE]
        inner[NEXT] = PartialState(size, _found, for_enabled=True)
        try:
            run(inner, None)
        except _Found:
            return True
        return False

    return test
