"""The outcome of a check: its result, the comparison with the manifest, the exit status, the JSON object.

Invariant: a result that differs from the manifest's expected one never exits 0, and a violation does so only if the
request accepts expected results.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from kmc.amounts import bytes_in_words
from kmc.checking.counterexample import Counterexample
from kmc.checking.expectation import differences, idle_actions, stale, unexpected, unreached, vacuous
from kmc.checking.explained_trace import ExplainedTrace
from kmc.checking.memory_need import MemoryNeed
from kmc.checking.model_choice import ChosenModel
from kmc.checking.request import CheckRequest
from kmc.checking.result_json import UNEXPLAINED, result_json
from kmc.errors import CommandLineError, ExitStatus
from kmc.frontend.model import Model
from kmc.result import Bound, Result, Vacuity, Verdict

_CUT_SHORT = (Bound.STATES, Bound.TIME, Bound.MEMORY, Bound.START)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A result with its comparison and exit status.

    `differences` from the expected result are empty if there are none or if nothing was compared; `not_compared` gives
    the reason, and is None if the comparison was made. `unexpected` gives the reason why the result is not the expected
    one by the rule of `kmc.checking.expectation`, and is empty if it is. `example` is the counterexample; `told` is its
    story for people, and is None until the story has been made, which happens after everything else is saved.
    `memory_need` is set if the memory limit ended the search, and `cache_warning` if compiled code could not be cached.
    """

    request: CheckRequest
    result: Result
    differences: tuple[str, ...]
    not_compared: str | None
    unexpected: tuple[str, ...]
    status: ExitStatus
    example: Counterexample | None = None
    explained: ExplainedTrace | None = None
    memory_need: MemoryNeed | None = None
    cache_warning: str | None = None

    @property
    def chosen(self) -> ChosenModel:
        """The model, and its name in the manifest."""
        return self.request.chosen

    @property
    def model(self) -> Model:
        """The model that was checked."""
        return self.request.model

    @property
    def _is_own(self) -> bool:
        """Whether the model was checked exactly as its manifest describes it; else its `expect` does not apply."""
        return not self.request.changes

    @property
    def idle_actions(self) -> tuple[str, ...]:
        """The actions that never fired and should have; all that never fired where another model was checked."""
        return idle_actions(self.chosen, self.result) if self._is_own else self.result.never_fired

    @property
    def unreached(self) -> tuple[str, ...]:
        """The reachable properties that were not reached and should have been."""
        return unreached(self.chosen, self.result) if self._is_own else self.result.unreached

    @property
    def vacuous(self) -> tuple[Vacuity, ...]:
        """The properties that hold vacuously and should not."""
        return vacuous(self.chosen, self.result) if self._is_own else self.result.vacuous

    @property
    def is_missed(self) -> bool:
        """Whether there is something that a strict check fails for: a part of the check says nothing."""
        return bool(self.idle_actions or self.unreached or self.vacuous)

    @property
    def explanation_warnings(self) -> tuple[str, ...]:
        """The warning that the counterexample is shown plain, if it could not be explained."""
        return (self.explained.warning,) if self.explained is not None and self.explained.warning is not None else ()

    def as_json(self, trace_file: str | None = None, resume: str | None = None) -> dict[str, Any]:
        """The object of `kmc check --json`; `resume` is the command that goes on with a run that was cut short."""
        explanation = self.explained.explanation if self.explained is not None else UNEXPLAINED
        cache = () if self.cache_warning is None else (self.cache_warning,)
        return {
            **result_json(self.result, self.model, trace_file, explanation),
            "warnings": [*self.result.warnings, *cache, *self.explanation_warnings],
            "resume": resume,
            "growing": [asdict(variable) for variable in self.result.counters.growing],
            "memory_needed_bytes": self.memory_need.bytes if self.memory_need is not None else None,
            "differences": list(self.differences),
            "expected": not self.unexpected,
            "unexpected": list(self.unexpected),
            "exit_status": int(self.status),
        }


def judge(request: CheckRequest, result: Result) -> Outcome:
    """Compare a result with the manifest, and decide the exit status."""
    chosen, changes = request.chosen, request.changes
    expect = chosen.model.file.expect
    reason = _why_not_compared(request, result) if expect else "the manifest expects nothing of it"
    different = differences(expect, result_json(result, chosen.model, None)) if expect and reason is None else []
    different += stale(chosen, result) if not changes else []
    off = unexpected(chosen, result, different, reason)
    outcome = Outcome(request, result, tuple(different), reason, tuple(off), ExitStatus.OK)
    return replace(outcome, status=_status(outcome))


def with_differences(outcome: Outcome, found: tuple[str, ...]) -> Outcome:
    """Add differences from what was expected, each a sentence without a dot; the status follows."""
    if not found:
        return outcome
    different = (*outcome.differences, *found)
    changed = replace(outcome, differences=different, unexpected=(*outcome.unexpected, *found))
    return replace(changed, status=_status(changed))


def refuse_changes(request: CheckRequest) -> None:
    """Raise CommandLineError KMC624 where another check than the manifest's is to have the result that it expects."""
    if request.acceptance.expect and request.changes:
        changes = " and ".join(request.changes)
        message = f"{changes} would make this another check than the one whose result is expected"
        advice = f"leave out {request.naming('expect')}, or put a model of its own in models.toml"
        raise CommandLineError("KMC624", message, help=advice)


def _status(outcome: Outcome) -> ExitStatus:
    accepted, result = outcome.request.acceptance, outcome.result
    is_missed = accepted.strict and outcome.is_missed
    if accepted.expect and result.verdict is not Verdict.INTERRUPTED:
        is_missed = is_missed and result.violation is None
        return ExitStatus.ASSUMPTION if outcome.unexpected or is_missed else ExitStatus.OK
    status = result.exit_status(bounded_ok=accepted.bounded_ok, strict=is_missed)
    if outcome.differences and status in (ExitStatus.OK, ExitStatus.BOUND_REACHED):
        return ExitStatus.ASSUMPTION
    return status


def _why_not_compared(request: CheckRequest, result: Result) -> str | None:
    if request.changes:
        return f"{' and '.join(request.changes)} made this another check"
    if result.verdict is Verdict.INTERRUPTED or result.bound in _CUT_SHORT:
        if result.is_unsearched:
            cut = _what_cut(request, result).removesuffix("the search")
            when = "while the spec was loaded and compiled" if result.bound is Bound.TIME else "before its first step"
            return f"{cut}the check {when}"
        depth, distinct = result.counters.depth, result.counters.distinct
        states = f"{distinct:,} distinct state{'s' * (distinct != 1)}"
        return f"{_what_cut(request, result)} at level {depth}, after {states}"
    return None


def _what_cut(request: CheckRequest, result: Result) -> str:
    limits, naming = request.limits, request.naming
    match result.bound:
        case Bound.TIME if limits.seconds is not None:
            return f"{naming('timeout', f'{limits.seconds:g}')} ended the search"
        case Bound.MEMORY if limits.memory_bytes is not None:
            return f"{naming('memory', bytes_in_words(limits.memory_bytes).replace(' ', ''))} ended the search"
        case Bound.STATES if limits.states is not None:
            return f"{naming('max-states', limits.states)} ended the search"
        case _:
            return "the search was cut short"
