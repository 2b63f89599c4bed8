"""The next-state relation: all steps of a state, counted as TLC counts them.

Invariant: one yielded step per way in which TLC would generate it; duplicates and stuttering steps included. The
relation does not apply constraints. Errors in an action carry the author's place and the action's label. A state in
which an action fails has no steps, so the result does not depend on the order of the actions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeAlias

from kmc.actions.abstraction import image_of
from kmc.actions.action import Action, Arguments
from kmc.errors import EvaluationError, KmcError
from kmc.lang.errors.blame import blamed, yield_span
from kmc.lang.kinds import kind_in_words
from kmc.lang.order import SortKey, sort_key
from kmc.lang.records import State
from kmc.lang.types import RecordMeta

Step: TypeAlias = tuple[Action, Arguments, Any]
"""(action, arguments, successor)."""


class AssertionFailure(EvaluationError):
    """An `assert` in an action does not hold: a violation, not a mistake of the spec (exit status 14)."""


@dataclass(frozen=True, slots=True)
class ActionInstance:
    """An action with its arguments, and the message if it receives one."""

    action: Action
    arguments: Arguments
    message: Any = None

    @property
    def inputs(self) -> tuple[Any, ...]:
        """The arguments of the action's function after the state."""
        return self.arguments if self.action.message is None else (self.message, *self.arguments)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The plan to run one action: its argument tuples, or the function that lists its messages, and how a message
    gives argument tuples: by its bound fields alone, if these are all parameters.
    """

    action: Action
    instances: tuple[Arguments, ...]
    receive: Callable[[State], list[Any]] | None
    bound: tuple[str, ...] | None

    def arguments(self, message: Any) -> Iterable[Arguments]:
        """The arguments with which the action receives `message`."""
        if self.bound is None:
            return self.action.arguments_with(message)
        return (tuple([getattr(message, field) for field in self.bound]),)


class NextStateRelation:
    """The disjunction of `actions` over states of class `state_class`; `files` are the spec's source files."""

    def __init__(self, actions: Sequence[Action], state_class: RecordMeta, files: Collection[str]) -> None:
        self._plans = tuple(_plan(action) for action in actions)
        self._positions = {action.title: position for position, action in enumerate(actions)}
        self._state_class = state_class
        self._files = files

    def display_key(self, step: Step) -> SortKey:
        """A key that puts steps in display order: by successor, then action as declared, then arguments."""
        action, arguments, successor = step
        return sort_key(successor), self._positions[action.title], tuple(sort_key(argument) for argument in arguments)

    def steps(self, state: State) -> Iterator[Step]:
        """Every step from `state`; EvaluationError at the author's place, AssertionFailure for a failed assert."""
        expected: type = self._state_class
        for plan in self._plans:
            action = plan.action
            function = action.function
            arguments: Arguments = ()
            try:
                if plan.receive is None:
                    for arguments in plan.instances:
                        successors: Iterator[State] = function(state, *arguments)
                        for successor in successors:
                            if type(successor) is not expected:
                                raise self._not_a_state(action, successors, successor)
                            if action.abstractions:
                                successor = image_of(action.abstractions, successor, self._files)
                            yield action, arguments, successor
                    continue
                for message in plan.receive(state):
                    for arguments in plan.arguments(message):
                        successors = function(state, message, *arguments)
                        for successor in successors:
                            if type(successor) is not expected:
                                raise self._not_a_state(action, successors, successor)
                            if action.abstractions:
                                successor = image_of(action.abstractions, successor, self._files)
                            yield action, arguments, successor
            except Exception as error:
                raise self._blamed(error, action, arguments) from error

    def errors(self, state: State) -> list[KmcError]:
        """The error of each action instance that fails in `state`; empty when `steps` gives all.

        If several errors are possible, the one that `steps` raises depends on the order of messages in memory. The set
        of errors returned here does not, only their order does.
        """
        errors: list[KmcError] = []
        for instance in self.instances(state):
            try:
                self.successors(instance, state)
            except KmcError as error:
                errors.append(error)
        return errors

    def instances(self, state: State) -> Iterator[ActionInstance]:
        """All instances that `steps` tries in `state`, enabled or not; a receiving action has some for each message."""
        for plan in self._plans:
            if plan.receive is None:
                yield from (ActionInstance(plan.action, arguments) for arguments in plan.instances)
            else:
                for message in plan.receive(state):
                    for arguments in plan.arguments(message):
                        yield ActionInstance(plan.action, arguments, message)

    def successors(self, instance: ActionInstance, state: State, at_most: int | None = None) -> list[State]:
        """The successors of `state` by one instance, one for each way and `at_most` of them; errors as of `steps`."""
        expected: type = self._state_class
        action = instance.action
        states: list[State] = []
        try:
            successors = action.function(state, *instance.inputs)
            for successor in successors:
                if type(successor) is not expected:
                    raise self._not_a_state(action, successors, successor)
                states.append(image_of(action.abstractions, successor, self._files))
                if len(states) == at_most:
                    break
        except Exception as error:
            raise self._blamed(error, action, instance.arguments) from error
        return states

    def _not_a_state(self, action: Action, successors: Iterator[State], successor: object) -> EvaluationError:
        """The error at the `yield` where `successors` is suspended."""
        state = action.function.__code__.co_varnames[0]
        return EvaluationError(
            "KMC251",
            f"{action.title} yields {kind_in_words(successor)}, not a {self._state_class.__name__}",
            yield_span(successors, self._files) or action.span,
            help=f"yield the whole next state: yield {state}.set(...)",
        )

    def _blamed(self, error: Exception, action: Action, arguments: Arguments) -> KmcError:
        mistake = blamed(error, self._files).at(action.span)
        note = f"while evaluating {action.label(arguments)}"
        if isinstance(error, AssertionError):
            return AssertionFailure(mistake.code, mistake.message, mistake.span, mistake.help, (note,))
        return mistake.noting(note)


def _plan(action: Action) -> _Plan:
    if action.message is None or action.network is None:
        return _Plan(action, action.instances(), None, ())
    network = attrgetter(action.network)
    message_class = action.message

    def receive(state: State) -> list[Any]:
        messages: list[Any] = network(state).deliverable(message_class)
        return messages

    bound = tuple(p.message_field for p in action.parameters if p.message_field is not None)
    return _Plan(action, (), receive, bound if len(bound) == len(action.parameters) else None)
