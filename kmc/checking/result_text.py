"""A result as text: the verdict and the counts in TLC's words, and warnings."""

from __future__ import annotations

from collections.abc import Iterator

from kmc.checking.model_text import names
from kmc.checking.outcome import Outcome
from kmc.checking.proof import constraints_text, cut_sentence
from kmc.checking.result_warnings import missed_texts, warning_texts
from kmc.error_text import error_lines
from kmc.invariants.kinds import Role, kind_of
from kmc.result import Bound, Result, Verdict, Violation
from kmc.text_lines import BAD, GOOD, NOTE, TextLine, TextPiece, line

_BOUND_WORDS = {
    Bound.STATES: "the limit on states was reached",
    Bound.TIME: "the limit on time was reached",
    Bound.MEMORY: "the limit on memory was reached",
}


def verdict_lines(outcome: Outcome) -> Iterator[TextLine]:
    """The lines on how the check ended, up to the trace."""
    result = outcome.result
    match result.verdict:
        case Verdict.OK:
            yield line(TextPiece("Model checking completed. No error has been found.", GOOD))
            yield from _limit_lines(outcome)
        case Verdict.BOUND_REACHED:
            yield line(TextPiece(_bound_line(outcome), NOTE))
            if not result.is_unsearched:
                yield from _limit_lines(outcome)
        case Verdict.INTERRUPTED:
            yield line(TextPiece("Model checking interrupted. No error has been found so far.", NOTE))
        case _:
            if result.violation is not None:
                yield from violation_lines(result.violation, from_given_state=outcome.request.start_name is not None)


def violation_lines(violation: Violation, *, from_given_state: bool) -> Iterator[TextLine]:
    """The lines on what failed, in TLC's words, up to the trace."""
    alone = len(violation.trace) == 1
    first = "by the given state" if from_given_state else "by the initial state"
    match violation.verdict:
        case Verdict.VIOLATION:
            kind = kind_of(Role.CHECKED, 2 if violation.is_step else 1).noun.capitalize()
            kind = "Property" if violation.is_of_beginning else kind
            kind = kind if violation.refutation is None else "Temporal property"
            yield line(TextPiece(f"Error: {kind} {violation.name} is violated{f' {first}:' if alone else '.'}", BAD))
        case Verdict.LIVENESS:
            yield line(TextPiece(f"Error: Temporal property {violation.name} is violated.", BAD))
        case Verdict.DEADLOCK:
            yield line(TextPiece("Error: Deadlock reached.", BAD))
        case Verdict.ASSERTION:
            yield line(TextPiece("Error: An assertion of the spec failed.", BAD))
        case _:
            yield line(TextPiece("Error: Evaluating the spec failed.", BAD))
    if violation.error is not None:
        yield from error_lines(violation.error)


def _limit_lines(outcome: Outcome) -> Iterator[TextLine]:
    """The limits of "no error": collisions of fingerprints, and constraints that cut the graph."""
    yield line(_collision_line(outcome.result))
    cut = cut_sentence(outcome.result, outcome.model)
    if cut:
        yield line(TextPiece(f"  {cut}", NOTE))


def _collision_line(result: Result) -> str:
    said = "  The probability that two distinct states had the same fingerprint: "
    if result.collision_bound == 0:
        return said + "0 (states are compared by value, so none can be confused)"
    width = "b-bit" if result.fingerprint_bits == 64 else f"{result.fingerprint_bits}-bit"
    return said + f"{result.collision_bound:.1E} (bound: n(n-1)/2^(b+1) for n states, {width} fingerprints)"


def _bound_line(outcome: Outcome) -> str:
    result, model = outcome.result, outcome.model
    match result.bound:
        case Bound.DEPTH:
            return f"Model checking stopped at level {result.counters.depth}, the level bound. No error has been found."
        case Bound.START:
            return "Model checking from the given state completed. No error has been found."
        case Bound.CONSTRAINT:
            return f"Model checking completed within {constraints_text(model)}. No error has been found."
        case Bound.NOT_CHECKED:
            unchecked = names(model.temporal)
            return f"Model checking completed, but not of {unchecked}. No other error has been found."
        case _:
            reason = _BOUND_WORDS[result.bound] if result.bound else "a limit was reached"
            return f"Model checking stopped: {reason}. No error has been found."


def count_lines(result: Result) -> Iterator[str]:
    """TLC's two summary lines."""
    counters = result.counters
    yield (
        f"{counters.generated} states generated, {counters.distinct} distinct states found, "
        f"{counters.left} states left on queue."
    )
    yield (
        f"The depth of the complete state graph search is {counters.depth}."
        if result.is_whole or result.bound is Bound.START
        else f"The depth of the state graph search, which is not complete, is {counters.depth}."
    )


def warning_lines(outcome: Outcome) -> Iterator[TextLine]:
    """Warnings that weaken a result; under `--strict`, missed actions and goals are errors."""
    missed = frozenset(missed_texts(outcome)) if outcome.request.acceptance.strict else frozenset()
    for text in warning_texts(outcome):
        yield line(TextPiece(f"Error: {text}", BAD) if text in missed else TextPiece(f"Warning: {text}", NOTE))
