"""Why a lasso is fair, in lines: a condition alone, a group that is met in one way, a group that is met in several."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from kmc.cli.text.progress_text import activity_text
from kmc.liveness.refutation_lines import assumed_text, cut_texts, fairness_lines, refutation_lines
from kmc.result import (
    AssumedFairness,
    Counters,
    CutFairness,
    Cycle,
    FairnessMet,
    HowMet,
    Refutation,
    Trace,
    TraceStep,
    Verdict,
    Violation,
)

NO_STATE: Any = None
BACK = TraceStep(NO_STATE, "Back", "Back(1)")


def met(name: str, how: HowMet, state: int | None = None, *, strong: bool = False) -> FairnessMet:
    """A condition of the group that its name begins with."""
    return FairnessMet(f"{'SF' if strong else 'WF'}_vars({name})", name.split("(")[0], strong, how, state)


def lines(*fairness: FairnessMet) -> list[str]:
    """The lines of a cycle from state 2 on."""
    return list(fairness_lines(Cycle(2, BACK, fairness)))


def test_a_condition_alone_has_its_name() -> None:
    taken = met("Tick", HowMet.TAKEN, 3)
    assert lines(taken, met("Tock", HowMet.DISABLED, 2), met("Stop", HowMet.NEVER_ENABLED, strong=True)) == [
        "Why the behavior is fair:",
        "  WF_vars(Tick): taken in the step to state 3",
        "  WF_vars(Tock): disabled in state 2",
        "  Disabled throughout: SF_vars(Stop)",
    ]


def test_the_step_that_closes_the_cycle_is_called_back() -> None:
    assert lines(met("Back", HowMet.TAKEN, 2))[1] == "  WF_vars(Back): taken in the step back to state 2"


def test_a_group_that_is_met_in_one_way_is_one_line() -> None:
    found = lines(*(met(f"Send({n})", HowMet.DISABLED, 3) for n in range(9)))
    assert found[1:] == ["  WF of Send: 9 instances, all disabled in state 3"]


def test_all_groups_that_the_cycle_disables_are_one_line_the_last() -> None:
    idle = [met(f"{name}({n})", HowMet.NEVER_ENABLED) for name in ("Send", "Take") for n in range(2)]
    assert lines(*idle, met("Tick", HowMet.TAKEN, 3))[1:] == [
        "  WF_vars(Tick): taken in the step to state 3",
        "  Disabled throughout: WF of Send (2 instances), WF of Take (2 instances)",
    ]


def test_a_group_stands_together_and_tells_each_way() -> None:
    others = [met(f"Send({n})", HowMet.NEVER_ENABLED) for n in range(2, 6)]
    found = lines(
        met("Send(0)", HowMet.DISABLED, 2), met("Tick", HowMet.TAKEN, 3), met("Send(1)", HowMet.TAKEN, 3), *others
    )
    assert found[1:] == [
        "  WF of Send: 6 instances",
        "    WF_vars(Send(1)): taken in the step to state 3",
        "    WF_vars(Send(0)): disabled in state 2",
        "    4 of them: disabled throughout",
        "  WF_vars(Tick): taken in the step to state 3",
    ]


def test_weak_and_strong_fairness_of_an_action_are_two_groups() -> None:
    assumed = [AssumedFairness(f"{kind}(A({n}))", "A", kind == "SF") for kind in ("WF", "SF") for n in range(2)]
    assert assumed_text([*assumed, AssumedFairness("WF(B)", "B", False)]) == (
        "WF of A (2 instances), SF of A (2 instances), WF(B)"
    )


def test_a_cycle_of_states_and_a_stuttering_one_and_a_prefix_are_told_apart() -> None:
    trace = Trace((TraceStep(NO_STATE), BACK))

    def said(cycle: Cycle | None) -> list[str]:
        refutation = Refutation("v = v1", "Goal is true in no state", cycle)
        return list(refutation_lines(Violation(Verdict.LIVENESS, "Ends", trace, refutation=refutation)))

    why = "Why Ends (v = v1) is violated: Goal is true in no state."
    no_fairness = "The specification assumes no fairness."
    assert said(Cycle(1, BACK, ())) == [f"{why} States 1 to 2 repeat for ever.", no_fairness]
    assert said(Cycle(2, None, ())) == [f"{why} The behavior stutters in state 2 for ever.", no_fairness]
    assert said(None) == [f"{why} However the behavior goes on, the property is false."]


def test_conditions_whose_steps_a_constraint_drops_are_told_by_group() -> None:
    cut = [CutFairness(f"WF(A({n}))", "A", f"x = {n}") for n in range(2)]
    after = "A behavior that takes them is not looked at."
    assert list(cut_texts([*cut, CutFairness("WF(B)", "B", "x = 5")], "Small")) == [
        f"Small drops steps that fairness asks for: A, 2 instances, first WF(A(0)), first in the state x = 0. {after}",
        f"Small drops steps that fairness asks for: WF(B) first in the state x = 5. {after}",
    ]


def test_progress_after_the_search_names_what_goes_on() -> None:
    now = Counters(9, 5000, 0, 3, 2.0, 10_000_000, activity="Building the behaviour graph")
    assert activity_text(now, datetime(2026, 11, 22, 22, 0)) == (
        "Building the behaviour graph at 2026-11-22 22:00:00: 5,000 distinct states, 10 MB of memory."
    )
