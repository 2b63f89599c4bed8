"""What weakens a result, in words: actions that never fired, goals that were not reached, constructs that mislead.

Invariant: every view of a result takes its warnings from here, so all of them count and say the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kmc.cli.conclusion import constraints_text
from kmc.cli.outcome import Outcome
from kmc.invariants.kinds import Role, kind_of
from kmc.reference.refutation_lines import cut_texts
from kmc.result import Verdict

_COUNTED = re.compile(r" \(\d+ warnings?\)$")


def warning_texts(outcome: Outcome) -> tuple[str, ...]:
    """All warnings: those of the spec and the search, then what was missed."""
    cut = cut_texts(outcome.result.cut_fairness, constraints_text(outcome.chosen.model))
    return (*outcome.result.warnings, *cut, *missed_texts(outcome))


def missed_texts(outcome: Outcome) -> Iterator[str]:
    """The actions that never fired and the goals not reached, or why nothing was; under `--strict` these are errors."""
    result = outcome.result
    if result.verdict not in (Verdict.OK, Verdict.BOUND_REACHED):
        return
    if not result.counters.distinct:
        yield f"All initial states are outside of {constraints_text(outcome.chosen.model)}, so nothing was explored."
        return
    within = "" if result.is_whole and not result.cut else ", as far as the search went"
    for action in outcome.idle_actions:
        yield f"Action {action} never fired{within}."
    for name in outcome.unreached:
        yield f"{kind_of(Role.WITNESSED, 1).noun.capitalize()} {name} was never reached{within}."


def warning_count(outcome: Outcome) -> str:
    """` (2 warnings)` behind what a search found; "" for none, and where a violation says what is wrong."""
    if outcome.result.verdict not in (Verdict.OK, Verdict.BOUND_REACHED):
        return ""
    count = len(warning_texts(outcome))
    return f" ({count} warning{'s' * (count != 1)})" if count else ""


def has_warnings(told: str) -> bool:
    """Whether the line of a verdict ends with a count of warnings."""
    return _COUNTED.search(told) is not None
