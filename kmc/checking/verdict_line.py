"""The last line of a check: its verdict in one line, the same for every kind of check.

Invariant: its first word is the verdict, and no other line on stdout begins with one of these words in capitals. `OK`,
`BOUND`, `VIOLATION`, `LIVENESS`, `DEADLOCK`, `ASSERTION`, `ERROR` and `INTERRUPTED` are the results of `--json`.
`UNEXPECTED` marks a result that differs from the manifest, `EXPECTED` one that equals it under `--expect`, and `STRICT`
one that `--strict` rejects.
"""

from __future__ import annotations

from kmc.checking.outcome import Outcome
from kmc.checking.proof import constraints_text, unsearched_text
from kmc.checking.result_warnings import warning_count
from kmc.errors import ExitStatus
from kmc.result import Bound, Verdict, Violation

_WORDS = {Verdict.BOUND_REACHED: "BOUND"}


def verdict_line(outcome: Outcome) -> str:
    """`OK kraft smoke: 10,468 distinct states, all 23 levels`."""
    model = outcome.model
    whose = " ".join(dict.fromkeys((model.spec.name, model.name)))
    word, text = _word_and_text(outcome)
    return f"{word} {whose}: {text}"


def _word_and_text(outcome: Outcome) -> tuple[str, str]:
    result = outcome.result
    word = _WORDS.get(result.verdict, result.verdict.name)
    if result.verdict is Verdict.INTERRUPTED:
        return word, _found(outcome)
    if outcome.status is ExitStatus.ASSUMPTION:
        if (outcome.request.acceptance.expect and outcome.unexpected) or outcome.differences:
            # Figures differ where something else fails; then that is what a person wants to read first.
            fails = f"{_what_fails(result.violation)}; " if outcome.differences and result.violation else ""
            return "UNEXPECTED", fails + _first(outcome.differences or outcome.unexpected)
        return "STRICT", _first(_missed(outcome))
    return ("EXPECTED" if outcome.request.acceptance.expect else word), _found(outcome)


def _found(outcome: Outcome) -> str:
    """The search's result in a few words."""
    result = outcome.result
    if result.is_unsearched:
        return f"no state was explored, {unsearched_text(result)}"
    if result.violation is None:
        return f"{_counted(result.counters.distinct, 'distinct state')}, {_extent(outcome)}{warning_count(outcome)}"
    return f"{_what_fails(result.violation)}, a trace of {_counted(len(result.violation.trace), 'state')}"


def _what_fails(violation: Violation) -> str:
    match violation.verdict:
        case Verdict.DEADLOCK:
            return "deadlock"
        case Verdict.ASSERTION:
            return "an assertion fails"
        case Verdict.ERROR:
            return "the spec cannot be evaluated"
        case _:
            return f"{violation.name} fails"


def _extent(outcome: Outcome) -> str:
    """The part of the state space that the search covered, in words."""
    result, model = outcome.result, outcome.model
    depth = result.counters.depth
    levels = f"all {depth} levels" if depth > 1 else "one level"
    within = f" within {constraints_text(model)}" if result.cut else ""
    match result.verdict, result.bound:
        case Verdict.OK, _:
            return levels + within
        case Verdict.INTERRUPTED, _:
            return f"interrupted at level {depth}{within}"
        case _, Bound.DEPTH:
            return f"levels 1 to {depth}{within}"
        case _, Bound.START:
            return f"from the given state{within}"
        case _, Bound.CONSTRAINT:
            return f"{levels}{within}, temporal properties not proved"
        case _, Bound.NOT_CHECKED:
            return f"{levels}{within}, temporal properties not checked"
        case _:
            return f"stopped at level {depth} by the limit on {result.bound.value if result.bound else 'something'}"


def _missed(outcome: Outcome) -> tuple[str, ...]:
    idle = (f"action {action} never fired" for action in outcome.idle_actions)
    unreached = (f"{name} was never reached" for name in outcome.unreached)
    return (*idle, *unreached, *(vacuity.why for vacuity in outcome.vacuous))


def _first(lines: tuple[str, ...]) -> str:
    more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
    return f"{lines[0].removesuffix('.')}{more}"


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
