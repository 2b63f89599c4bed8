"""A model of a spec in Python for the explorer: its interpreter, its stories, and compiled searches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kmc.actions.relation import NextStateRelation
from kmc.explorer.commands import one_of
from kmc.explorer.explored_model import ExpressionWords, FailureReason, Move, MovesOfState
from kmc.explorer.judging import JudgedProperty, is_inside, judged
from kmc.explorer.python_specs.conditions import action_enabled, expression_true, goal_reached, property_fails
from kmc.explorer.python_specs.moves import moves_of
from kmc.explorer.python_specs.seeking_natively import shortest_way
from kmc.explorer.search_terms import SeekLimits, SeekProgress, SeekResult, WaitedFor
from kmc.frontend.loader import Spec
from kmc.frontend.model import Model
from kmc.frontend.typed_expression import Expression
from kmc.invariants.kinds import Role
from kmc.lang.records import State
from kmc.lang.tla import Tla
from kmc.reference.states.initial import each_initial_state
from kmc.result import Trace
from kmc.spec.variables import encode_state
from kmc.story.explain.obstacles import Obstacle, disabled
from kmc.story.explain.why import why_fails
from kmc.story.parts.in_words import in_words
from kmc.story.parts.lanes import table_for_people
from kmc.story.tell import Teller
from kmc.story.watched import expressions_of
from kmc.trace.files import trace_file
from kmc.trace.untyped_trace import TraceFile

_CONDITIONS = {
    "property": property_fails,
    "goal": goal_reached,
    "action": action_enabled,
    "expression": expression_true,
}
_WORDS = ExpressionWords("an expression over the state st", "len(st.messages)", ("false", "true"))


@dataclass(frozen=True, slots=True)
class SpecExpression:
    """An expression of the spec language that a person watches."""

    spec: Spec
    expression: Expression

    @property
    def text(self) -> str:
        """The expression as it was typed."""
        return self.expression.text

    def shown_in(self, state: Any) -> Tla:
        """Return its value in a state; KmcError where it has none."""
        return self.expression.encoded(self.expression.value(state), table_for_people(self.spec).naming)


class ExploredSpec:
    """The `ExploredModel` of a spec in Python."""

    def __init__(self, model: Model) -> None:
        spec = model.spec
        self.model = model
        self.action_names: Sequence[str] = [action.title for action in spec.actions]
        self.expression_words = _WORDS
        self._relation = NextStateRelation(spec.actions, spec.state_class, spec.files)
        self._receives = any(action.message is not None for action in spec.actions)

    def initial_states(self) -> Iterator[State]:
        """Enumerate the initial states, as the spec yields them."""
        return each_initial_state(self.model)

    def values_of(self, state: State) -> Mapping[str, str]:
        """Return the variables of a state with their values in words."""
        variables = encode_state(state, table_for_people(self.model.spec))
        return {name: in_words(value) for name, value in variables.items()}

    def moves(self, state: State) -> MovesOfState:
        """Return the steps of a state; an action that receives a message may lack one, so some may be disabled."""
        found = moves_of(self._relation, state)
        return MovesOfState(
            tuple(Move(move.step, move.instance.message, move.ways) for move in found.enabled),
            bool(found.disabled) or self._receives,
            tuple((instance.action.label(instance.arguments), error) for instance, error in found.failing),
        )

    def obstacles(self, state: State) -> Sequence[Obstacle]:
        """Return the guard that stops each action that is not enabled."""
        return disabled(self.model, state)

    def judged(self, before: State | None, state: State) -> Iterator[JudgedProperty]:
        """Yield the verdict of each property."""
        return judged(self.model, before, state)

    def is_inside(self, before: State | None, state: State) -> bool:
        """Return whether all constraints are true."""
        return is_inside(self.model, before, state)

    def why_fails(self, name: str, before: State | None, state: State) -> FailureReason:
        """Explain why a property fails: the instance of it that fails, and the values that decide it."""
        model = self.model
        prop = next(p for p in model.predicates(Role.CHECKED) if p.name == name)
        states = (before, state) if prop in model.predicates(Role.CHECKED, 2) else (state,)
        why = why_fails(model, prop, *states)
        compared = ((value.expression, value.value) for value in why.compared)
        return FailureReason(why.sentence, (*why.instance, *compared))

    def teller(self, states: Sequence[State]) -> Teller:
        """Return a teller of a trace."""
        return Teller(self.model.spec, states)

    def expression(self, text: str) -> SpecExpression:
        """Read an expression over a state; CommandLineError as of `kmc eval`."""
        (read,) = expressions_of(self.model.spec, [text])
        return SpecExpression(self.model.spec, read)

    def wanted(self, what: str, name: str) -> WaitedFor:
        """Return a condition to wait for."""
        return one_of("what", what, _CONDITIONS)(self.model, name)

    def shortest_way(self, start: State, wanted: WaitedFor, limits: SeekLimits, progress: SeekProgress) -> SeekResult:
        """Return the shortest way to a condition, by compiled code where many states lie between."""
        return shortest_way(self, start, wanted, limits, progress)

    def trace_file(self, trace: Trace, status: str, violated: str | None, *, is_start_given: bool) -> TraceFile:
        """Return a trace in the form for files."""
        return trace_file(trace, self.model, status, violated=violated, is_start_given=is_start_given)
