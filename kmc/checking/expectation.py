"""The expected result of a model in its manifest, and the comparison with a result: one rule for every command that
compares.

Invariant: `unexpected` is empty exactly when the result is the expected one. `kmc check --expect` and `--all`, the
pytest plugin and `assert_expected` of the Python API all use this function. If the manifest has no figures, a finding
or a mutant is expected to fail. Every other model is expected to satisfy all of its properties within its own levels
and constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kmc.checking.model_choice import ChosenModel
from kmc.result import Bound, Result, Vacuity, Verdict, Violation

UNEXPECTED_FIGURE = "Not the expected result: "
_OF_THE_MODEL = (None, Bound.DEPTH, Bound.CONSTRAINT)


def differences(expect: Mapping[str, Any], actual: Mapping[str, Any]) -> list[str]:
    """One line for each expected figure (except `origin`) that differs in the result, the object of `--json`."""
    return [line for key, wanted in expect.items() if key != "origin" for line in _difference(key, wanted, actual[key])]


def unexpected(chosen: ChosenModel, result: Result, different: Sequence[str], not_compared: str | None) -> list[str]:
    """The reasons why the result is not the expected one; empty if it is.

    `different` are the differences from the manifest, and `not_compared` why its figures were not compared.
    """
    if different:
        first, *others = different
        return [f"{UNEXPECTED_FIGURE}{first}", *(f"  {other}" for other in others)]
    if chosen.model.file.expect:
        return [f"The result is not compared: {not_compared}."] if not_compared is not None else []
    return list(_without_figures(chosen.kind, result))


def idle_actions(chosen: ChosenModel, result: Result) -> tuple[str, ...]:
    """The actions that never fired, without those of which the model says so in `never_fires`."""
    said = {word.text for word in chosen.model.file.never_fires}
    return tuple(action for action in result.never_fired if action not in said)


def vacuous(chosen: ChosenModel, result: Result) -> tuple[Vacuity, ...]:
    """The vacuous properties and actions that the manifest does not expect to be vacuous."""
    said: Any = (chosen.model.file.expect or {}).get("vacuous", ())
    return tuple(prop for prop in result.vacuous if prop.name not in said)


def unreached(chosen: ChosenModel, result: Result) -> tuple[str, ...]:
    """The reachable properties that were never reached, without those that the manifest expects to be unreached."""
    said = (chosen.model.file.expect or {}).get("unreached_goals", ())
    return tuple(name for name in result.unreached if not (isinstance(said, list) and name in said))


def stale(chosen: ChosenModel, result: Result) -> list[str]:
    """One line for each action that fires although the model says in `never_fires` that it does not."""
    fired = result.generated_by_action
    return [
        f"never_fires, {word.text}: expected no state, found {fired[word.text]:,} generated"
        for word in chosen.model.file.never_fires
        if fired.get(word.text)
    ]


def _without_figures(kind: str | None, result: Result) -> Iterator[str]:
    violation = result.violation
    if result.verdict is Verdict.ERROR:
        yield "Evaluating the spec failed, which nothing expects."
    elif kind is not None and violation is None:
        yield f"A {kind} is expected to fail, and nothing did."
    elif kind is None and violation is not None:
        yield f"All was expected to hold, and {_what_fails(violation)}."
    elif result.verdict is Verdict.INTERRUPTED or result.bound not in _OF_THE_MODEL:
        what = f"The limit on {result.bound.value}" if result.bound is not None else "An interrupt"
        yield f"{what} ended the check before it could find what is expected."


def _what_fails(violation: Violation) -> str:
    match violation.verdict:
        case Verdict.DEADLOCK:
            return "there is a deadlock"
        case Verdict.ASSERTION:
            return "an assertion fails"
        case _:
            return f"{violation.name} fails"


def _difference(key: str, wanted: Any, actual: Any) -> Iterator[str]:
    if isinstance(wanted, Mapping) and isinstance(actual, Mapping):
        for name in wanted:
            if actual.get(name) != wanted[name]:
                yield f"{key}, {name}: expected {_shown(wanted[name])}, found {_shown(actual.get(name))}"
    elif actual != wanted:
        yield f"{key}: expected {_shown(wanted)}, found {_shown(actual)}"


def _shown(value: Any) -> str:
    match value:
        case None:
            return "none"
        case int():
            return f"{value:,}"
        case list():
            return "[" + ", ".join(map(_shown, value)) + "]"
        case _:
            return str(value)
