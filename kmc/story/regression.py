"""Regression tests: the steps of a counterexample, repeated by the spec as it is now.

A test holds actions and arguments, not states, so it survives changes of the state. `kmc replay TRACE --pytest FILE`
writes one. Several runs may fit the steps, since an action may lead to several states; the test is about all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, TypeAlias

from kmc.actions.action import Action, Arguments
from kmc.errors import TraceError
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root
from kmc.lang.tla import encode
from kmc.model_files.cfg import parse_cfg
from kmc.reference.recurrence import RecordedFailure, property_called, recurs
from kmc.reference.states.initial import initial_states
from kmc.reference.states.traces import trace_step
from kmc.result import TraceStep, Verdict
from kmc.story.explain.why import why
from kmc.story.parts.lanes import table_for_people
from kmc.story.recorded_violation import recorded_violation
from kmc.story.retaken import Retaken, known_actions, label_for_people, obstacles_to, steps_of
from kmc.story.tell import tell
from kmc.trace.files import arguments_of, resolved
from kmc.trace.tla_text import parse_value
from kmc.trace.trees import one_line
from kmc.trace.untyped_trace import UNNAMED, FileStep, TraceFile

RUNS_MAX = 10_000
"""The most runs that are followed at a time; steps that fit more are refused."""

StepText: TypeAlias = tuple[str, ...]
"""The title of an action, and its arguments as TLA+ values: `("BecomeLeader", "n1")`."""
_Run: TypeAlias = tuple[TraceStep, ...]


@dataclass(frozen=True, slots=True)
class RegressionTest:
    """The content of a test of a trace: `steps` after an initial state, and for a lasso the state to which it returns.

    `closing` is the step back; without one, a lasso stutters in its last state.
    """

    failure: RecordedFailure
    steps: tuple[StepText, ...]
    back_to: int | None = None
    closing: StepText | None = None


def regression_test(file: TraceFile, model: Model, failure: RecordedFailure, retaken: Retaken) -> RegressionTest | None:
    """The test of a recorded trace; None where a step does not name its action, and cannot be found by a replay.

    Steps that still hold come from the replay, so that the actions are those of the spec.
    """
    settled = resolved(file, model.spec)
    replayed = dict(enumerate(retaken.steps))
    steps = [
        _text_of(replayed[n], model) if n in replayed else _recorded_text(step) for n, step in enumerate(settled.steps)
    ]
    closing = None
    if file.loop is not None and file.loop < len(file.steps) - 1:
        closing = (
            _recorded_text(settled.closing or FileStep({}))
            if retaken.closing is None
            else _text_of(retaken.closing, model)
        )
        if closing is None:
            return None
    if None in steps[1:]:
        return None
    named = tuple(step for step in steps[1:] if step is not None)
    return RegressionTest(failure, named, None if file.loop is None else file.loop + 1, closing)


def _text_of(step: TraceStep, model: Model) -> StepText | None:
    naming = model.spec.variables.naming
    return None if step.action is None else (step.action, *(one_line(encode(v, naming)) for _, v in step.arguments))


def _recorded_text(step: FileStep) -> StepText | None:
    if step.action is None or step.action == UNNAMED:
        return None
    return step.action, *(one_line(value) for _, value in step.arguments)


class _SaysNothing(Exception):
    """The spec has changed so much that the steps mean nothing in it."""


class _Stopped(Exception):
    """The next step is enabled in no run."""


def assert_trace(
    spec: str | PathLike[str],
    model: str,
    steps: Sequence[StepText],
    *,
    fails: str | None,
    verdict: str = "violation",
    back_to: int | None = None,
    closing: StepText | None = None,
    expect: Literal["fixed", "violation"] = "fixed",
) -> None:
    """Raise AssertionError unless the steps of a counterexample no longer violate `fails`, or still do, as expected.

    `spec` is a shipped spec or a path, `model` the text of a `.cfg` file. Without `fails`, `verdict` says what failed:
    deadlock, assertion or error. A lasso goes from its last state `back_to` another by the step `closing`. An action or
    a property that the spec no longer has is an AssertionError too: such a test would pass whatever the spec does.
    Raises KmcError where the spec does not load.
    """
    __tracebackhide__ = True
    bound = bind(find_spec_root(str(spec)), parse_cfg(model, "the model of the test"))
    test = RegressionTest(RecordedFailure(Verdict(verdict), fails), tuple(map(tuple, steps)), back_to, closing)
    complaint = complaint_of(test, bound, expect == "fixed")
    if complaint is not None:
        raise AssertionError(complaint)


def complaint_of(test: RegressionTest, model: Model, is_fixed: bool) -> str | None:
    """The complaint of a failing test, for a person; None if the test passes."""
    if test.back_to is not None:
        model = model.searched  # the states of a lasso are images under the abstractions of its model
    try:
        _check_property(model, test.failure)
        shown = next((run for run in _runs(test, model) if recurs(model, test.failure, run.states, run.loop)), None)
    except _SaysNothing as reason:
        return f"This test says nothing any more: {reason} Write it again: kmc replay TRACE --pytest FILE."
    except _Stopped as reason:
        return None if is_fixed else f"This trace is not possible any more. {reason}"
    if shown is not None:
        return _failing_again(test, model, shown) if is_fixed else None
    if is_fixed:
        return None
    return f"Not as expected: {test.failure.absence} at the end of this trace. If that is right, write expect='fixed'."


def _check_property(model: Model, failure: RecordedFailure) -> None:
    """Raise _SaysNothing for a property that the spec does not have."""
    try:
        if failure.name is not None:
            property_called(model, failure.name)
    except TraceError as error:
        raise _SaysNothing(f"{error.message} ({error.help}).") from None


def _failing_again(test: RegressionTest, model: Model, run: Retaken) -> str:
    back_to = None if run.loop is None else run.loop + 1
    story = tell(model.spec, run.trace, back_to=back_to, closing=run.closing)
    sentence = test.failure.sentence
    lines = [f"{sentence[:1].upper()}{sentence[1:]} again, by these steps:"]
    lines += [f"  {step.number} {step.label}" for step in story.steps]
    if story.loop is not None:
        closing = f", by {story.loop.closing.label}" if story.loop.closing is not None else ""
        lines.append(f"  back to state {story.loop.back_to}{closing}")
    violation = recorded_violation(model, test.failure, Retaken(run.steps, None, run.loop, run.closing, shows=True))
    if violation is not None:
        explanation = why(model, violation)
        lines += [text for text in (explanation.sentence, explanation.doc) if text]
    return "\n".join(lines)


def _runs(test: RegressionTest, model: Model) -> Iterator[Retaken]:
    """All runs that fit the steps. Raises _Stopped or _SaysNothing."""
    runs: Iterable[_Run] = [(TraceStep(state),) for state in dict.fromkeys(initial_states(model))]
    # The states that may distinguish runs at their end: all states of a lasso, otherwise the last step.
    of_end: Callable[[_Run], Hashable] = _states if test.back_to is not None else lambda run: _states(run[-2:])
    for number, step in enumerate(test.steps, start=2):
        action, arguments = _instance(model, step, number)
        longer = {of_end(run): run for run in _longer(model, runs, action, arguments)}
        if not longer:
            raise _Stopped(_obstacle(model, next(iter(runs)), action, arguments, number))
        runs = longer.values()
    for run in runs:
        yield from _closed(test, model, run)


def _states(run: _Run) -> tuple[Any, ...]:
    return tuple(step.state for step in run)


def _longer(model: Model, runs: Iterable[_Run], action: Action, arguments: Arguments) -> Iterator[_Run]:
    count = 0
    for run in runs:
        for step in steps_of(model, run[-1].state, action):
            if step[1] == arguments:
                count += 1
                if count > RUNS_MAX:
                    raise TraceError(
                        "KMC438", f"more than {RUNS_MAX:,} runs fit the steps", help="write a test of a shorter trace"
                    )
                yield (*run, trace_step(step))


def _closed(test: RegressionTest, model: Model, run: _Run) -> Iterator[Retaken]:
    """The run, and for a lasso the steps that close its cycle."""
    if test.back_to is None or test.closing is None:
        yield Retaken(run, None, None if test.back_to is None else len(run) - 1)
        return
    action, arguments = _instance(model, test.closing, len(run) + 1)
    for step in steps_of(model, run[-1].state, action):
        if step[1] == arguments and step[2] == run[test.back_to - 1].state:
            yield Retaken(run, None, test.back_to - 1, trace_step(step))


def _instance(model: Model, step: StepText, number: int) -> tuple[Action, Arguments]:
    title, *given = step
    actions = {action.title: action for action in model.spec.actions}
    if title not in actions:
        raise _SaysNothing(f"Step {number}: the spec has no action {title}. {known_actions(title, actions)}")
    try:
        named = tuple((str(position), parse_value(text)) for position, text in enumerate(given))
        return actions[title], arguments_of(FileStep({}, title, named), actions[title], model.spec)
    except TraceError as error:
        raise _SaysNothing(f"Step {number}: {error.message}.") from None


def _obstacle(model: Model, run: _Run, action: Action, arguments: Arguments, number: int) -> str:
    label = label_for_people(action, arguments, table_for_people(model.spec))
    lines = obstacles_to(model, run[-1].state, action, arguments)
    return "\n  ".join([f"Step {number}: {label} is not enabled in state {number - 1} any more.", *lines])
