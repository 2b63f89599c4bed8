"""A resolved model that runs: its initial states, its successors and the predicates of its `.cfg` file.

Invariant: initial states and successors come with TLC's multiplicity, so counting them gives TLC's counts. A program
raises SpecError (KMC023) for what no engine of kmc supports before anything runs, and EvaluationError at the author's
place for what fails while it runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from kmc.errors import Span
from kmc.tla.resolved.model import Assumption, ResolvedModel
from kmc.tla.resolved.nodes import ApplyExpr, ConjunctionExpr, Expression, OperatorDefinition
from kmc.tla.resolved.search_level import at_level
from kmc.tla.run.compiler import Compiler
from kmc.tla.run.decomposition import ModuleAction, actions_of, names_of
from kmc.tla.run.failed_conjuncts import FailedConjunct, Probe, Prober, assigning_frame
from kmc.tla.run.frames import NEXT, STATE, UNASSIGNED, Frame, PartialState, Test
from kmc.tla.run.lazy import stored_value
from kmc.tla.run.refusals import refuse_unsupported
from kmc.tla.run.scopes import FrameLayout, Mode, RunScope
from kmc.tla.run.symmetry import SymmetryGroup
from kmc.tla.values.failures import endless_recursion, incomplete_state, read_before_assigned
from kmc.tla.values.kinds import SymbolicSet, Value
from kmc.tla.values.order import number_names

State: TypeAlias = tuple[Value, ...]
"""One value per variable, in the order of `ResolvedModel.variables`; hashable."""

Poll: TypeAlias = Callable[[], None]
_RECURSION_LIMIT = 400_000
_LISTED_MAX = 10_000
Result = TypeVar("Result")


class _Enough(Exception):
    """The end of an enumeration that has found as many states as were wanted."""


@dataclass(frozen=True, slots=True)
class ModuleStep:
    """A successor, and the action that leads to it: `label` is its name as TLC shows it, with arguments."""

    label: str
    action: OperatorDefinition | None
    state: State


class ModuleProgram:
    """A model of a TLA+ module, compiled to closures. `warnings` are texts about what may differ from TLC."""

    action_names: tuple[str, ...]
    """The actions of the next-state relation as TLC lists them, each name once."""

    def __init__(self, model: ResolvedModel) -> None:
        refuse_unsupported(model)
        self.model = model
        self._size = len(model.variables)
        self._no_state: tuple[Any, ...] = (UNASSIGNED,) * self._size
        self._compiler = Compiler(model.variables)
        self.warnings = self._compiler.warnings
        self._tests: dict[int, tuple[Test, FrameLayout, object]] = {}
        self._codes: dict[int, tuple[Callable[[Frame], Any], FrameLayout, object]] = {}
        self.actions: tuple[ModuleAction, ...] = ()
        if model.behaviour is not None and model.behaviour.next is not None:
            self.actions = self._guarded(
                lambda: actions_of(self._compiler, next_of(model), self._size, model.in_every_action)
            )
        self.action_names = names_of(self.actions)
        self._group: SymmetryGroup | None = None
        self._action_probes = Prober(self._compiler, of_actions=True)
        self._formula_probes = Prober(self._compiler, of_actions=False)
        self._probes: dict[tuple[int, int], Probe] = {}
        self._formulas: dict[int, tuple[Probe, FrameLayout, Expression]] = {}

    # Behaviours

    def failed_assumption(self) -> Assumption | None:
        """Return the first assumption that does not hold."""
        for assumption in self.model.assumptions:
            if not self._holds(assumption.condition, self._no_state, self._no_state):
                return assumption
        return None

    def initial_states(self, poll: Poll | None = None, most: int | None = None) -> Iterator[State]:
        """Enumerate the initial states with TLC's multiplicity; `poll` is called now and then, and may raise.

        `most` ends the enumeration after so many.
        """
        behaviour = self.model.behaviour
        if behaviour is None or not behaviour.initial:
            return iter(())
        return iter(self._guarded(lambda: self._enumerated_initially(behaviour.initial, poll, most)))

    def _enumerated_initially(self, parts: tuple[Expression, ...], poll: Poll | None, most: int | None) -> list[State]:
        scope = RunScope(FrameLayout(), Mode(primed=True))
        node = parts[0] if len(parts) == 1 else ConjunctionExpr(place=parts[0].place, items=parts)
        run = self._compiler.act(node, scope)
        found: list[State] = []

        def emit(state: PartialState) -> None:
            found.append(self._complete(state, "the initial predicate", node.place))
            if len(found) == most:
                raise _Enough

        partial = PartialState(self._size, emit, poll=poll)
        frame: Frame = [self._no_state, partial]
        frame += [None] * (scope.layout.size - len(frame))
        with suppress(_Enough):
            run(frame, None)
        return found

    def _complete(self, partial: PartialState, where: str, place: Span) -> State:
        if partial.unassigned:
            names = zip(self.model.variables, partial, strict=True)
            missing = tuple(name for name, value in names if value is UNASSIGNED)
            raise incomplete_state(missing, where).at(place)
        return tuple(partial)

    def successors(self, state: State, poll: Poll | None = None) -> Iterator[ModuleStep]:
        """Enumerate the successors of a state with TLC's multiplicity; `poll` is called now and then, and may raise."""
        return iter(self._guarded(lambda: self._steps(self.actions, state, poll)))

    def steps_of(self, action: ModuleAction, state: State, poll: Poll | None = None) -> list[ModuleStep]:
        """Return the successors of a state by one action, as `successors`."""
        return self._guarded(lambda: self._steps((action,), state, poll))

    def _steps(self, actions: Iterable[ModuleAction], state: State, poll: Poll | None) -> list[ModuleStep]:
        found: list[ModuleStep] = []
        label, definition = "", None

        def emit(partial: PartialState) -> None:
            if partial.unassigned:
                self._complete(partial, f"the action {label}", place_of(definition, self.model))
            found.append(ModuleStep(label, definition, tuple(partial)))

        # Each action leaves the partial state as it found it.
        partial = PartialState(self._size, emit, poll=poll)
        for action in actions:
            partial.ticks -= 1
            if not partial.ticks:
                partial.poll_now()
            label, definition = action.label, action.definition
            frame = action.new_frame()
            frame[STATE] = state
            frame[NEXT] = partial
            action.act(frame, None)
        return found

    # Predicates

    def holds(self, predicate: OperatorDefinition, state: State) -> bool:
        """Return whether a predicate without parameters holds in a state."""
        return self._holds(applied(predicate), state, self._no_state, predicate)

    def holds_in_step(self, predicate: Expression, state: State, successor: State) -> bool:
        """Return whether a formula with primes is true of a step: evaluated, not enumerated."""
        return self._holds(predicate, state, successor)

    def is_in_model(self, state: State) -> bool:
        """Return whether all constraints hold in a state."""
        return all(self.holds(constraint, state) for constraint in self.model.constraints)

    def is_step_in_model(self, state: State, successor: State) -> bool:
        """Return whether all action constraints hold in a step."""
        constraints = self.model.action_constraints
        return all(self._holds(applied(one), state, successor, one) for one in constraints)

    def _holds(self, node: Expression, state: State, successor: State, key: object = None) -> bool:
        identity = id(key if key is not None else node)
        known = self._tests.get(identity)
        if known is None:
            scope = RunScope(FrameLayout())
            known = self._tests[identity] = (self._compiler.test(node, scope), scope.layout, key or node)
        test, layout, _ = known
        frame: Frame = [state, successor]
        frame += [None] * (layout.size - len(frame))
        return self._guarded(lambda: test(frame))

    # Explanations

    def obstacle(self, action: ModuleAction, state: State) -> FailedConjunct | None:
        """Return the conjunct at which an action ends that has no step in a state, on the way that comes furthest.

        None if that cannot be told. Explanations share counters: one is made at a time.
        """
        key = (id(action.node), id(action.scope))

        def explain() -> FailedConjunct | None:
            if key not in self._probes:
                self._probes[key] = self._action_probes.probe(action.node, action.scope)
            frame = assigning_frame(action.frame, action.scope, state)
            return self._action_probes.first_failed(self._probes[key], frame)

        return self._guarded(explain)

    def refutation(self, formula: Expression, state: State, successor: State | None = None) -> FailedConjunct | None:
        """Return the conjunct at which a formula that is false of a state, or of a step, ends; None as `obstacle`."""

        def explain() -> FailedConjunct | None:
            known = self._formulas.get(id(formula))
            if known is None:
                scope = RunScope(FrameLayout())
                known = self._formulas[id(formula)] = (
                    self._formula_probes.probe(formula, scope),
                    scope.layout,
                    formula,
                )
            probe, layout, _ = known
            frame: Frame = [state, successor or self._no_state]
            frame += [None] * (layout.size - len(frame))
            return self._formula_probes.first_failed(probe, frame)

        return self._guarded(explain)

    # Values

    def identity(self, state: State) -> Hashable:
        """Return what a fingerprint stands for: the value of the view, the least symmetric state, or the state."""
        view, symmetry = self.model.view, self.model.symmetry
        value: Value = state if view is None else self._evaluated(applied(view), state, self._no_state, view)
        if symmetry is None:
            return value
        if self._group is None:
            self._group = SymmetryGroup(self._evaluated(applied(symmetry), self._no_state, self._no_state, symmetry))
        return self._group.least(value)

    def evaluate(self, expression: Expression, state: State | None, successor: State | None = None) -> Value:
        """Evaluate an expression of any level below temporal; an infinite set is an error, KMC266."""
        before, after = state or self._no_state, successor or self._no_state
        if state is None and self._compiler.level(expression, RunScope(FrameLayout())) and self._size:
            raise read_before_assigned(self.model.variables[0]).at(expression.place)
        return self._evaluated(expression, before, after)

    def described(self, expression: Expression, state: State) -> Value:
        """Evaluate an expression over a state, without listing a set of more than 10,000 elements, such as `1..9^9`."""
        return self._evaluated(expression, state, self._no_state, finish=_with_small_sets_listed)

    def alias(self, state: State, successor: State, level: int) -> Value | None:
        """Return the value of ALIAS in a step from a state at a level, None if the model has none."""
        if self.model.alias is None:
            return None
        alias = at_level(self.model.alias, level)
        return self._evaluated(applied(alias), state, successor, alias)

    def _evaluated(
        self,
        node: Expression,
        state: State,
        successor: State,
        key: object = None,
        finish: Callable[[Any], Value] = stored_value,
    ) -> Value:
        identity = id(key if key is not None else node)
        known = self._codes.get(identity)
        if known is None:
            scope = RunScope(FrameLayout())
            compiled = self._guarded(lambda: self._compiler.value(node, scope))
            known = self._codes[identity] = (compiled, scope.layout, key or node)
        code, layout, _ = known
        frame: Frame = [state, successor]
        frame += [None] * (layout.size - len(frame))
        return self._guarded(lambda: finish(code(frame)))

    def _guarded(self, run: Callable[[], Result]) -> Result:
        """Run with the names in this module's order; turn the end of Python's recursion into the error of the module's.

        Closures call each other without the stack of C, so a recursion of the module ends by kmc's own limit first.
        """
        number_names(self.model.name_numbers)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(_RECURSION_LIMIT)
        try:
            return run()
        except RecursionError:
            raise endless_recursion(self.model.module) from None
        finally:
            sys.setrecursionlimit(limit)


def _with_small_sets_listed(value: Any) -> Value:
    is_large = isinstance(value, SymbolicSet) and value.is_finite and value.size() > _LISTED_MAX
    return value if is_large else stored_value(value)


def applied(definition: OperatorDefinition) -> ApplyExpr:
    """Return the application of a definition without parameters."""
    return ApplyExpr(place=definition.place, operator=definition, arguments=())


def next_of(model: ResolvedModel) -> Expression:
    """Return the next-state relation of a model that has one."""
    assert model.behaviour is not None
    assert model.behaviour.next is not None
    return model.behaviour.next


def place_of(definition: OperatorDefinition | None, model: ResolvedModel) -> Span:
    """Return the place of an action."""
    return definition.place if definition is not None else next_of(model).place
