r"""The actions of a next-state relation, divided and named as TLC does.

TLC descends from Next through disjunctions, `\E` over constant sets, LET and operators with constant arguments. What it
cannot descend is one action; it has the name of the definition that was entered last, and that definition's arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kmc.errors import EvaluationError
from kmc.tla.resolved.nodes import (
    ApplyExpr,
    ConjunctionExpr,
    DisjunctionExpr,
    Expression,
    LetExpr,
    OperatorDefinition,
    QuantifiedExpr,
)
from kmc.tla.run.applications import let
from kmc.tla.run.compiler import Compiler
from kmc.tla.run.frames import NEXT, STATE, UNASSIGNED, Act, Frame
from kmc.tla.run.lazy import stored_value
from kmc.tla.run.logic import binder
from kmc.tla.run.scopes import FrameLayout, RunScope, Slot
from kmc.tla.values.order import written

UNNAMED = "Action"
"""TLC's name of an action outside of all definitions, such as that of `[][x' = x + 1]_x`."""

_ACTIONS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class ModuleAction:
    """An action: its definition, its name with arguments, and what enumerates it on a copy of `frame`.

    That enumerates the formula `node` in `scope`.
    """

    definition: OperatorDefinition | None
    label: str
    act: Act
    frame: Frame
    node: Expression
    scope: RunScope

    def new_frame(self) -> Frame:
        """Return a frame to enumerate the action on."""
        missing = self.scope.layout.size - len(self.frame)
        return self.frame + [None] * missing if missing > 0 else self.frame[:]


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """A formula on the way down: its scope, its frame, and the definition that was entered last, with its label."""

    node: Expression
    scope: RunScope
    frame: Frame
    definition: OperatorDefinition | None
    label: str

    def at(self, node: Expression, scope: RunScope, frame: Frame) -> _Place:
        return _Place(node, scope, frame, self.definition, self.label)


class _Divider:
    """Division of a relation. Actions that differ in values only share their code."""

    def __init__(self, compiler: Compiler, in_every_action: Expression | None) -> None:
        self._compiler = compiler
        self._in_every_action = in_every_action
        self._acts: dict[tuple[int, int], tuple[Expression, Act]] = {}
        self._scopes: dict[tuple[int, int], RunScope] = {}
        self._count = 0
        self._kept: list[object] = []

    def divide(self, place: _Place) -> Iterator[ModuleAction]:
        match place.node:
            case DisjunctionExpr(items=items):
                for item in items:
                    yield from self.divide(place.at(item, place.scope, place.frame))
            case QuantifiedExpr(kind="\\E"):
                yield from self._exists(place, place.node)
            case LetExpr(body=body):
                yield from self._let(place, place.node, body)
            case ApplyExpr(operator=OperatorDefinition() as definition):
                yield from self._application(place, place.node, definition)
            case _:
                yield self._action(place)

    def _action(self, place: _Place) -> ModuleAction:
        key = (id(place.node), id(place.scope))
        if key not in self._acts:
            self._kept += [place.node, place.scope]
            node = self._whole(place.node)
            self._acts[key] = (node, self._compiler.act(node, place.scope))
        node, act = self._acts[key]
        return ModuleAction(place.definition, place.label, act, place.frame, node, place.scope)

    def _whole(self, node: Expression) -> Expression:
        more = self._in_every_action
        return node if more is None else ConjunctionExpr((more, node), place=node.place)

    def _let(self, place: _Place, node: LetExpr, body: Expression) -> Iterator[ModuleAction]:
        inner, fill = let(self._compiler, node, place.scope, in_action=True)
        frame = _grown(place.frame, inner)
        fill(frame)
        # A definition of the LET may read the state, which the frame does not have yet: such a LET is one action.
        if any(slot.slot is not None and slot.slot.level for slot in inner.locals.values()):
            yield self._action(place)
        else:
            yield from self.divide(place.at(body, inner, frame))

    def _exists(self, place: _Place, node: QuantifiedExpr) -> Iterator[ModuleAction]:
        if any(self._compiler.level(bound.domain, place.scope) for bound in node.ranges):
            yield self._action(place)
            return
        inner, choices, bind = binder(self._compiler, node.ranges, place.scope)
        found: list[ModuleAction] = []
        before = self._count
        try:
            for choice in choices(_grown(place.frame, inner)):
                frame = _grown(place.frame, inner)
                bind(frame, choice)
                found.extend(self.divide(place.at(node.body, inner, frame)))
                self._count += 1
                if self._count > _ACTIONS_MAX:
                    raise OverflowError
        except (EvaluationError, OverflowError):
            self._count = before
            found = []
        yield from found if found else [self._action(place)]

    def _application(self, place: _Place, node: ApplyExpr, definition: OperatorDefinition) -> Iterator[ModuleAction]:
        compiler, scope = self._compiler, place.scope
        own = _Place(node, scope, place.frame, definition, definition.name)
        has_levels = any(compiler.level(argument, scope) for argument in node.arguments)
        if has_levels or definition.recursive or any(parameter.arity for parameter in definition.parameters):
            yield self._action(own)
            return
        try:
            # As in TLC, constant arguments are values here, so a formula among them adds no branch.
            values = [
                stored_value(compiler.value(argument, scope)(_grown(place.frame, scope))) for argument in node.arguments
            ]
        except EvaluationError:
            yield self._action(own)
            return
        inner = self._body_scope(definition, scope)
        frame = _grown(place.frame, inner)
        for parameter, value in zip(definition.parameters, values, strict=True):
            meaning = inner.meanings[parameter]
            assert isinstance(meaning, Slot)
            frame[meaning.index] = value
        label = definition.name + (f"({', '.join(map(written, values))})" if values else "")
        assert definition.body is not None
        yield from self.divide(_Place(definition.body, inner, frame, definition, label))

    def _body_scope(self, definition: OperatorDefinition, scope: RunScope) -> RunScope:
        key = (id(definition), id(scope))
        found = self._scopes.get(key)
        if found is None:
            self._kept += [definition, scope]
            local = scope.locals.get(definition)
            home = local.scope if local is not None else RunScope(scope.layout, scope.mode)
            found = self._scopes[key] = home.slots(definition.parameters)[0]
        return found


def _grown(frame: Frame, scope: RunScope) -> Frame:
    """Return a copy of a frame with room for all slots of a scope."""
    new = frame[:]
    new += [None] * (scope.layout.size - len(new))
    return new


def actions_of(
    compiler: Compiler, node: Expression, variables: int, in_every_action: Expression | None = None
) -> tuple[ModuleAction, ...]:
    """Divide a next-state relation into its actions; each has the conjunct `in_every_action` too."""
    scope = RunScope(FrameLayout())
    frame: Frame = [None, None]
    frame[STATE] = frame[NEXT] = (UNASSIGNED,) * variables
    return tuple(_Divider(compiler, in_every_action).divide(_Place(node, scope, frame, None, UNNAMED)))


def names_of(actions: tuple[ModuleAction, ...]) -> tuple[str, ...]:
    """Return the names of actions, without arguments, each once."""
    named = [action.definition.name if action.definition is not None else UNNAMED for action in actions]
    return tuple(dict.fromkeys(named))
