"""The warnings about a result: actions that never fired, goals that were not reached, constructs that mislead.

Invariant: every view of a result gets its warnings here, so all views count and print the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kmc.checking.outcome import Outcome
from kmc.checking.proof import constraints_text
from kmc.invariants.kinds import Role, kind_of
from kmc.liveness.refutation_lines import cut_texts
from kmc.result import Verdict

_COUNTED = re.compile(r" \(\d+ warnings?\)$")


def warning_texts(outcome: Outcome) -> tuple[str, ...]:
    """All warnings: those of the spec and the search, then the missed actions and goals."""
    cut = cut_texts(outcome.result.cut_fairness, constraints_text(outcome.model))
    return (*outcome.result.warnings, *cut, *missed_texts(outcome))


def missed_texts(outcome: Outcome) -> Iterator[str]:
    """The actions that never fired, the goals not reached, and the properties that are vacuous.

    Or why nothing was explored. Under `--strict` these are errors.
    """
    result = outcome.result
    if result.verdict not in (Verdict.OK, Verdict.BOUND_REACHED) or result.is_unsearched:
        return
    if result.initial and not result.counters.distinct:
        yield f"All initial states are outside of {constraints_text(outcome.model)}, so nothing was explored."
        return
    within = "" if result.is_whole and not result.cut else ", as far as the search went"
    for action in outcome.idle_actions:
        yield f"Action {action} never fired{within}."
    for name in outcome.unreached:
        yield f"{kind_of(Role.WITNESSED, 1).noun.capitalize()} {name} was never reached{within}."
    for vacuity in outcome.vacuous:
        yield f"{vacuity.why}{within}."


def warning_count(outcome: Outcome) -> str:
    """` (2 warnings)` behind the result of a search; "" for none, or if there is a violation."""
    if outcome.result.verdict not in (Verdict.OK, Verdict.BOUND_REACHED):
        return ""
    count = len(warning_texts(outcome))
    return f" ({count} warning{'s' * (count != 1)})" if count else ""


def has_warnings(told: str) -> bool:
    """Whether the line of a verdict ends with a count of warnings."""
    return _COUNTED.search(told) is not None
