"""A TLA+ module for the explorer: its interpreter, and the values of its states.

The closures of a module keep values between evaluations, so all evaluation is under one lock: sessions and searches,
which run in threads of their own, take turns.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from threading import RLock

from kmc import __version__
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.module_reasons import obstacle, refutation_in_words
from kmc.checking.modules.module_trace import action_of, trace_step_of
from kmc.checking.modules.module_trace_file import file_step, variables_of
from kmc.checking.modules.value_order import value_key
from kmc.errors import EvaluationError, KmcError
from kmc.explorer.commands import one_of
from kmc.explorer.explored_model import ExpressionWords, FailureReason, Move, MovesOfState
from kmc.explorer.judging import JudgedProperty, is_inside, judged
from kmc.explorer.modules.module_conditions import (
    ModuleExpression,
    action_enabled,
    expression_true,
    goal_reached,
    property_fails,
    read_expression,
)
from kmc.explorer.modules.module_teller import ModuleTeller
from kmc.explorer.search_terms import SeekLimits, SeekProgress, SeekResult, WaitedFor
from kmc.explorer.seeking import INTERPRETED_STATES_MAX, Seeker
from kmc.invariants.kinds import Role
from kmc.result import Trace
from kmc.story.explain.obstacles import Obstacle
from kmc.tla.resolved.property_parts import PartKind, property_parts
from kmc.tla.run.decomposition import ModuleAction
from kmc.tla.run.program import ModuleStep, Poll, State
from kmc.tla.values.kinds import TRUE
from kmc.tla.values.texts import text_of
from kmc.trace.untyped_trace import GIVEN, TLA, TraceFile

INITIAL_STATES_MAX = 20_000
"""The greatest number of initial states that are made, each as often as the initial predicate yields it."""
_CONDITIONS = {
    "property": property_fails,
    "goal": goal_reached,
    "action": action_enabled,
    "expression": expression_true,
}


STEPS_SECONDS_MAX = 60.0
"""The most seconds for the steps of one action in a state."""
INITIAL_SECONDS_MAX = 300.0


def _limit(seconds: float, what: str) -> Poll:
    """Return a poll that raises EvaluationError KMC278 once the enumeration of `what` has taken so many seconds."""
    until = time.monotonic() + seconds

    def poll() -> None:
        if time.monotonic() > until:
            message = f"the enumeration of {what} has not ended after {seconds:g} seconds"
            raise EvaluationError("KMC278", message, help="give the constants smaller values")

    return poll


class ExploredModule:
    """The `ExploredModel` of a module."""

    def __init__(self, module: CheckedModule) -> None:
        self.module = module
        self.model = module.model
        self.action_names: Sequence[str] = module.program.action_names
        example = module.program.model.variables[0]
        self.expression_words = ExpressionWords("an expression of TLA+", example, ("FALSE", "TRUE"))
        self.lock = RLock()
        parts = property_parts(module.program.model)
        self._formulas = {part.title: part.formula for part in parts}
        self._initial_only = {part.title for part in parts if part.kind is PartKind.INITIAL}

    def initial_states(self) -> Iterator[State]:
        """Enumerate the different initial states, the least one first, as `kmc eval` takes it.

        A module that has very many gives the first that are found.
        """
        poll = _limit(INITIAL_SECONDS_MAX, "the initial predicate")
        with self.lock:
            states = sorted(set(self.module.initial_states(poll, INITIAL_STATES_MAX)), key=value_key)
        yield from states

    def is_initial(self, state: State) -> bool:
        """Return whether a state satisfies the initial predicate; KmcError where that has no value."""
        behaviour = self.module.program.model.behaviour
        assert behaviour is not None, "an explored module has a behaviour"
        with self.lock:
            return all(self.module.program.evaluate(part, state) is TRUE for part in behaviour.initial)

    def values_of(self, state: State) -> Mapping[str, str]:
        """Return the variables of a state with their values, as TLC prints them."""
        return dict(zip(self.module.program.model.variables, map(text_of, state), strict=True))

    def moves(self, state: State) -> MovesOfState:
        """Return the steps of a state by the order of the actions in the next-state relation, then by their values."""
        enabled: list[Move] = []
        failing: list[tuple[str, KmcError]] = []
        has_disabled = False
        with self.lock:
            for actions in self._by_label().values():
                steps: list[ModuleStep] = []
                for action in actions:
                    try:
                        found = self.module.program.steps_of(action, state, _limit(STEPS_SECONDS_MAX, action.label))
                    except KmcError as error:
                        failing.append((action.label, error))
                        continue
                    has_disabled |= not found
                    steps += found
                ways = Counter(step.state for step in steps)
                known = {step.state: step for step in reversed(steps)}
                for successor in sorted(known, key=value_key):
                    enabled.append(Move(trace_step_of(known[successor]), None, ways[successor]))
        return MovesOfState(tuple(enabled), has_disabled, tuple(failing))

    def _by_label(self) -> Mapping[str, Sequence[ModuleAction]]:
        """Return the actions by their labels: those of one name stand together, where the first of them is."""
        found: dict[str, dict[str, list[ModuleAction]]] = {}
        for action in self.module.program.actions:
            found.setdefault(action_of(action.label), {}).setdefault(action.label, []).append(action)
        return {label: actions for of_name in found.values() for label, actions in of_name.items()}

    def obstacles(self, state: State) -> Sequence[Obstacle]:
        """Return the conjunct that stops each action that has no step."""
        found: list[Obstacle] = []
        with self.lock:
            for actions in self._by_label().values():
                found.extend(one for action in actions if (one := self._obstacle(action, state)) is not None)
        return found

    def _obstacle(self, action: ModuleAction, state: State) -> Obstacle | None:
        program = self.module.program
        try:
            if program.steps_of(action, state, _limit(STEPS_SECONDS_MAX, action.label)):
                return None
            failed = program.obstacle(action, state)
        except KmcError:  # nothing stops it; the page shows the error
            return None
        return obstacle(action, failed)

    def judged(self, before: State | None, state: State) -> Iterator[JudgedProperty]:
        """Yield the verdict of each property; parts about initial states are judged in these alone."""
        with self.lock:
            verdicts = list(judged(self.model, before, state))
        for verdict in verdicts:
            if before is None or verdict.name not in self._initial_only:
                yield verdict

    def is_inside(self, before: State | None, state: State) -> bool:
        """Return whether all constraints are true."""
        with self.lock:
            return is_inside(self.model, before, state)

    def why_fails(self, name: str, before: State | None, state: State) -> FailureReason:
        """Explain why a property fails: the conjunct that is false, and the values that it compares."""
        body = self._formulas[name].body
        assert body is not None, "the model is resolved"
        with self.lock:
            if before is not None and any(prop.name == name for prop in self.model.predicates(Role.CHECKED, 2)):
                return FailureReason(*refutation_in_words(self.module.program.refutation(body, before, state)))
            return FailureReason(*refutation_in_words(self.module.program.refutation(body, state)))

    def teller(self, states: Sequence[State]) -> ModuleTeller:
        """Return a teller of a trace."""
        return ModuleTeller(self.module.program, states)

    def expression(self, text: str) -> ModuleExpression:
        """Read an expression over a state; KmcError as of `kmc eval`, KMC649 for one with primes."""
        return read_expression(self.module.program, self.lock, text)

    def wanted(self, what: str, name: str) -> WaitedFor:
        """Return a condition to wait for."""
        return one_of("what", what, _CONDITIONS)(self.module, self.lock, name)

    def shortest_way(self, start: State, wanted: WaitedFor, limits: SeekLimits, progress: SeekProgress) -> SeekResult:
        """Return the shortest way to a condition, by the interpreter."""
        interpreted = replace(limits, states=min(limits.states, INTERPRETED_STATES_MAX))
        return Seeker(self).breadth_first(start, wanted, interpreted, progress)

    def trace_file(self, trace: Trace, status: str, violated: str | None, *, is_start_given: bool) -> TraceFile:
        """Return a trace of the variables in the form for files; a part of a property has the property's name."""
        program, model = self.module.program, self.model
        about = {
            "spec": model.spec.name,
            "model": model.name,
            "language": TLA,
            "status": status,
            "property": (violated or "").partition(" (")[0],
            "digest": model.digest,
            "start": GIVEN if is_start_given else "",
            "kmc_version": __version__,
        }
        definitions = program.model.definitions
        steps = tuple(
            file_step(step, variables_of(program, step.state), definitions.get(step.action or ""))
            for step in trace.steps
        )
        return TraceFile(program.model.variables, steps, None, {key: text for key, text in about.items() if text})
