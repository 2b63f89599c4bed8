r"""Why a formula is not true, or an action not enabled: the conjunct that fails on the way that comes furthest.

A probe goes through a formula as the enumeration of actions does, from the left and on every way, and counts the
conjuncts that it passes. What cannot be divided is compiled as everywhere else, so a probe has no meaning of its own
for it. Probes of one prober share a count: one runs at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from kmc.errors import KmcError, Span
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    Argument,
    BooleanExpr,
    BoundExpr,
    BoxActionExpr,
    BuiltinExpr,
    CaseExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    IfExpr,
    LetExpr,
    ModelValueExpr,
    NumberExpr,
    OperatorDefinition,
    QuantifiedExpr,
    StringExpr,
)
from kmc.tla.run import applications
from kmc.tla.run.compiler import Compiler
from kmc.tla.run.formulas import resolved_operator
from kmc.tla.run.frames import NEXT, STATE, ActionItem, Code, Frame, PartialState, Rest, Test
from kmc.tla.run.lazy import stored_value
from kmc.tla.run.logic import binder
from kmc.tla.run.scopes import RunScope, Substitute
from kmc.tla.values.kinds import SymbolicSet, Value

Probe = Callable[[Frame, Callable[[], None]], None]
"""Goes through a formula on a frame, calls the function on each way that passes, and notes where the others end."""

_TRIES_MAX = 50_000
_PARTS_MAX = 8
_LITERALS = (NumberExpr, StringExpr, BooleanExpr, ModelValueExpr)
_COMPARISONS = frozenset(("=", "#", "<", "<=", ">", ">=", "\\in", "\\notin", "\\subseteq"))
_CONNECTIVES = frozenset(("~", "=>", "<=>"))


@dataclass(frozen=True, slots=True)
class FailedConjunct:
    """A formula that stops others at `place`, whose value is `holds`; the set, if it is a choice from an empty one.

    `names` are the names that are bound around it and occur in it, `parts` the places of the expressions that it
    compares, each with its value.
    """

    place: Span
    holds: bool
    is_choice: bool
    names: tuple[tuple[str, Value], ...]
    parts: tuple[tuple[Span, Value], ...]


class _Enough(Exception):
    """The end of a probe that would take too long: what was found until then is told."""


@dataclass(slots=True, eq=False)
class _Stop:
    """A place at which ways end, and the code of what is told of it, which is made when it is needed."""

    node: Argument
    scope: RunScope
    is_choice: bool = False
    codes: tuple[list[tuple[str, Code]], list[tuple[Span, Code]]] | None = field(default=None)


class Prober:
    """Probes of the formulas of one model: of actions, which assign variables, or of predicates, which do not."""

    def __init__(self, compiler: Compiler, *, of_actions: bool) -> None:
        self._compiler = compiler
        self._of_actions = of_actions
        self._passed = 0
        self._tries = 0
        self._furthest = -1
        self._found: FailedConjunct | None = None

    def probe(self, node: Argument, scope: RunScope) -> Probe:
        """Compile the probe of a formula."""
        match node:
            case ConjunctionExpr(items=items):
                return _in_turn(tuple(self.probe(item, scope) for item in items))
            case DisjunctionExpr(items=items) if self._assigns(node, scope):
                return _each(tuple(self.probe(item, scope) for item in items))
            case QuantifiedExpr(kind="\\E"):
                return self._choice(node, scope)
            case QuantifiedExpr(kind="\\A"):
                return self._every(node, scope)
            case IfExpr():
                return self._conditional(node, scope)
            case CaseExpr():
                return self._case(node, scope)
            case LetExpr():
                inner, fill = applications.let(self._compiler, node, scope, in_action=self._of_actions)
                return _prepared(fill, self.probe(node.body, inner))
            case BuiltinExpr(operator="=>", arguments=(premise, conclusion)):
                return _if_true(self._compiler.test(premise, scope, "=>"), self.probe(conclusion, scope))
            case BoxActionExpr(action=action) if not self._of_actions:
                return self.probe(action, scope)
            case BoundExpr(binding=binding) if isinstance(meaning := scope.meanings.get(binding), Substitute):
                return self.probe(meaning.argument, meaning.scope.on(scope))
            case ApplyExpr():
                return self._applied(node, scope)
        return self._leaf(node, scope)

    def first_failed(self, probe: Probe, frame: Frame) -> FailedConjunct | None:
        """Return where the way that comes furthest ends; None if one passes, or if none could be told."""
        self._passed, self._tries, self._furthest, self._found = 0, 0, -1, None
        passes: list[bool] = []
        with suppress(_Enough):
            probe(frame, lambda: passes.append(True))
        return None if passes else self._found

    def _assigns(self, node: Argument, scope: RunScope) -> bool:
        """Return whether ways through a formula are followed: it is one of an action, and not only a guard."""
        return self._of_actions and self._compiler.level(node, scope) > 1

    def _choice(self, node: QuantifiedExpr, scope: RunScope) -> Probe:
        inner, choices, bind = binder(self._compiler, node.ranges, scope)
        body = self.probe(node.body, inner)
        stop = _Stop(node.ranges[0].domain, scope, is_choice=True)

        def run(frame: Frame, then: Callable[[], None]) -> None:
            is_empty = True
            for choice in choices(frame):
                is_empty = False
                bind(frame, choice)
                body(frame, then)
            if is_empty:
                self._end(stop, frame, holds=False)

        return run

    def _every(self, node: QuantifiedExpr, scope: RunScope) -> Probe:
        inner, choices, bind = binder(self._compiler, node.ranges, scope)
        body = self.probe(node.body, inner)

        def run(frame: Frame, then: Callable[[], None]) -> None:
            frames = []
            for choice in choices(frame):
                own = frame[:]
                bind(own, choice)
                frames.append(own)
            _on_frames(body, frames, 0, then)

        return run

    def _conditional(self, node: IfExpr, scope: RunScope) -> Probe:
        test = self._compiler.test(node.condition, scope, "IF")
        branches = {True: self.probe(node.then, scope), False: self.probe(node.otherwise, scope)}
        nodes = {True: node.then, False: node.otherwise}
        stop = _Stop(node.condition, scope)

        def run(frame: Frame, then: Callable[[], None]) -> None:
            holds = test(frame)
            branch = nodes[holds]
            if isinstance(branch, BooleanExpr) and not branch.value:
                self._end(stop, frame, holds=holds)
            else:
                branches[holds](frame, then)

        return run

    def _case(self, node: CaseExpr, scope: RunScope) -> Probe:
        arms = tuple((self._compiler.test(test, scope, "CASE"), self.probe(arm, scope)) for test, arm in node.arms)
        other = None if node.other is None else self.probe(node.other, scope)

        def run(frame: Frame, then: Callable[[], None]) -> None:
            chosen = next((arm for test, arm in arms if test(frame)), other)
            if chosen is not None:
                chosen(frame, then)

        return run

    def _applied(self, node: ApplyExpr, scope: RunScope) -> Probe:
        """Compile the probe of the body of a definition, with its parameters bound in the frame."""
        compiler = self._compiler
        operator, arguments, where = resolved_operator(node.operator, node.arguments, scope)
        if not isinstance(operator, OperatorDefinition) or operator.body is None or operator.recursive:
            return self._leaf(node, scope)
        local = where.locals.get(operator)
        home = local.scope.on(where) if local is not None else RunScope(where.layout, where.mode, {}, {}, where.units)
        substituted = applications.substituted_parameters(compiler, operator, arguments, where, is_act=self._of_actions)
        inner, fill = applications.in_place(compiler, operator.parameters, arguments, home, where, substituted)
        body = self.probe(operator.body, inner)

        def bind(frame: Frame) -> None:
            for index, make in fill:
                frame[index] = make(frame)

        return _prepared(bind, body) if fill else body

    def _leaf(self, node: Argument, scope: RunScope) -> Probe:
        """Compile the probe of a formula that is not divided."""
        stop = _Stop(node, scope)
        if not self._assigns(node, scope):
            test = self._compiler.test(node, scope)

            def run_test(frame: Frame, then: Callable[[], None]) -> None:
                self._count()
                if test(frame):
                    self._pass(then)
                else:
                    self._end(stop, frame, holds=False)

            return run_test
        act = self._compiler.act(node, scope)

        def run_act(frame: Frame, then: Callable[[], None]) -> None:
            self._count()
            passes: list[bool] = []

            def go_on(_: Frame, rest: Rest) -> None:
                passes.append(True)
                self._pass(then)

            act(frame, (ActionItem(go_on, lambda: lambda _: True), frame, None))
            if not passes:
                self._end(stop, frame, holds=False)

        return run_act

    def _count(self) -> None:
        self._tries += 1
        if self._tries > _TRIES_MAX:
            raise _Enough

    def _pass(self, then: Callable[[], None]) -> None:
        self._passed += 1
        then()
        self._passed -= 1

    def _end(self, stop: _Stop, frame: Frame, *, holds: bool) -> None:
        """Note the end of a way, if no other one came further."""
        if self._passed <= self._furthest:
            return
        self._furthest = self._passed
        if stop.codes is None:
            stop.codes = list(self._names(stop)), list(self._parts(stop))
        names, parts = stop.codes
        own = grown(frame, stop.scope)
        self._found = FailedConjunct(
            stop.node.place,
            holds,
            stop.is_choice,
            tuple((name, value) for name, code in names if (value := _value(code, own)) is not None),
            tuple((place, value) for place, code in parts if (value := _value(code, own)) is not None),
        )

    def _names(self, stop: _Stop) -> Iterator[tuple[str, Code]]:
        # What an operator that is passed on binds itself counts as free, and means nothing here.
        known = stop.scope.meanings
        facts = self._compiler.analysis.facts(stop.node)
        free = [binding for binding in facts.free if not binding.arity and binding in known]
        for binding in sorted(free, key=lambda one: (one.place.line, one.place.column)):
            bound = BoundExpr(place=binding.place, binding=binding)
            yield binding.name, self._compiler.value(bound, stop.scope)

    def _parts(self, stop: _Stop) -> Iterator[tuple[Span, Code]]:
        parts = [stop.node] if stop.is_choice else list(_compared(stop.node))
        for part in parts[:_PARTS_MAX]:
            if not isinstance(part, (*_LITERALS, BoundExpr)):
                yield part.place, self._compiler.value(part, stop.scope)


def grown(frame: Frame, scope: RunScope) -> Frame:
    """Return a copy of a frame with room for all slots of a scope."""
    return frame + [None] * (scope.layout.size - len(frame))


def assigning_frame(frame: Frame, scope: RunScope, state: tuple[Value, ...]) -> Frame:
    """Return a frame on which a probe of an action runs in a state."""
    own = grown(frame, scope)
    own[STATE] = state
    # As below ENABLED, conjuncts after the last assignment are enumerated too, so each of them is seen.
    own[NEXT] = PartialState(len(state), lambda _: None, for_enabled=True)
    return own


def _compared(node: Argument) -> Iterator[Argument]:
    """Yield the expressions that decide a formula, as far as they can be evaluated where it stands."""
    match node:
        case BuiltinExpr(operator=operator, arguments=arguments) if operator in _COMPARISONS:
            yield from arguments
        case BuiltinExpr(operator=operator, arguments=arguments) if operator in _CONNECTIVES:
            for argument in arguments:
                yield from _compared(argument)
        case ConjunctionExpr(items=items) | DisjunctionExpr(items=items):
            for item in items:
                yield from _compared(item)
        case QuantifiedExpr(ranges=ranges):
            yield from dict.fromkeys(bound.domain for bound in ranges)


def _value(code: Code, frame: Frame) -> Value | None:
    """Return a value, None where it cannot be evaluated."""
    try:
        value = code(frame)
        return value if isinstance(value, SymbolicSet) else stored_value(value)
    except KmcError:
        return None


def _in_turn(probes: tuple[Probe, ...]) -> Probe:
    def run(frame: Frame, then: Callable[[], None], index: int = 0) -> None:
        if index == len(probes):
            then()
        else:
            probes[index](frame, lambda: run(frame, then, index + 1))

    return run


def _each(probes: tuple[Probe, ...]) -> Probe:
    def run(frame: Frame, then: Callable[[], None]) -> None:
        for probe in probes:
            probe(frame, then)

    return run


def _on_frames(body: Probe, frames: list[Frame], index: int, then: Callable[[], None]) -> None:
    if index == len(frames):
        then()
    else:
        body(frames[index], lambda: _on_frames(body, frames, index + 1, then))


def _if_true(test: Test, probe: Probe) -> Probe:
    return lambda frame, then: probe(frame, then) if test(frame) else then()


def _prepared(fill: Callable[[Frame], None], probe: Probe) -> Probe:
    def run(frame: Frame, then: Callable[[], None]) -> None:
        fill(frame)
        probe(frame, then)

    return run
