"""The result of a check of a module with temporal properties: what a lasso shows, and what is not claimed."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.modules import result_of

from kmc.errors import ExitStatus, ModelError, TautologyError
from kmc.liveness.refutation_lines import refutation_lines
from kmc.result import Bound, HowMet, Limits, Verdict

MODULE = """---- MODULE Light ----
EXTENDS Naturals
VARIABLES lamp, clicks
vars == <<lamp, clicks>>
Init == lamp = "off" /\\ clicks = 0
On == lamp = "off" /\\ lamp' = "on" /\\ clicks' = (clicks + 1) % 3
Off == lamp = "on" /\\ lamp' = "off" /\\ UNCHANGED clicks
Wait == UNCHANGED vars
Break == clicks = 2 /\\ lamp' = "broken" /\\ UNCHANGED clicks
Next == On \\/ Off \\/ Wait \\/ Break
Small == clicks < 2
Lit == lamp = "on"
Flip == {"on", "off"}
Spec == Init /\\ [][Next]_vars /\\ FAIRNESS
Prop == PROPERTY
====
"""
CFG = "SPECIFICATION Spec\nPROPERTY Prop\n"


def light(fairness: str, formula: str) -> str:
    return MODULE.replace("FAIRNESS", fairness).replace("PROPERTY", formula)


def test_a_lasso_is_shown_with_its_cycle_and_why_it_is_fair(tmp_path: Path) -> None:
    result = result_of(tmp_path, light("WF_vars(On) /\\ WF_vars(Off)", '<>(lamp = "broken")'), CFG)
    violation = result.violation
    assert violation is not None
    assert violation.refutation is not None
    cycle = violation.refutation.cycle
    assert (result.verdict, result.exit_status()) == (Verdict.LIVENESS, ExitStatus.LIVENESS)
    assert [step.label for step in violation.trace.steps] == ["Initial predicate", "On", "Off", "On", "Off", "On"]
    assert cycle is not None
    assert cycle.back_to == 1
    assert cycle.closing is not None
    assert cycle.closing.label == "Off"
    assert list(refutation_lines(violation)) == [
        'Why Prop is violated: `lamp = "broken"` is true in no state. States 1 to 6 repeat for ever.',
        "Why the behavior is fair:",
        "  WF_vars(On): taken in the step to state 2",
        "  WF_vars(Off): taken in the step to state 3",
    ]
    assert [fair.name for fair in result.fairness] == ["WF_vars(On)", "WF_vars(Off)"]


def test_a_behaviour_that_nothing_keeps_from_stuttering_stutters(tmp_path: Path) -> None:
    result = result_of(tmp_path, light("TRUE", "Small ~> Lit"), CFG)
    violation = result.violation
    assert violation is not None
    assert violation.refutation is not None
    assert violation.refutation.cycle is not None
    assert (len(violation.trace), violation.refutation.cycle.closing) == (1, None)


def test_a_step_that_changes_nothing_is_not_enabled_for_fairness(tmp_path: Path) -> None:
    result = result_of(tmp_path, light("WF_vars(Wait) /\\ SF_vars(Break)", "Small ~> Lit"), CFG)
    assert result.violation is not None
    assert result.violation.refutation is not None
    assert result.violation.refutation.cycle is not None
    met = result.violation.refutation.cycle.fairness
    assert [one.how for one in met] == [HowMet.NEVER_ENABLED, HowMet.NEVER_ENABLED]


def test_a_property_that_holds_is_proved_with_the_fairness_that_it_needs(tmp_path: Path) -> None:
    fair = "WF_vars(On) /\\ WF_vars(Off) /\\ SF_vars(Break)"
    result = result_of(tmp_path, light(fair, '<>[](lamp = "broken")'), CFG)
    assert (result.verdict, [prop.verdict for prop in result.properties]) == (Verdict.OK, ["holds"])
    assert result.exit_status() == ExitStatus.OK


def test_parts_of_one_property_are_judged_where_they_belong(tmp_path: Path) -> None:
    result = result_of(tmp_path, light("WF_vars(On)", "[](clicks < 3) /\\ <>Lit"), CFG)
    assert [(prop.verdict, prop.is_temporal) for prop in result.properties] == [("holds", True)]
    broken = result_of(tmp_path, light("WF_vars(On)", "[](clicks < 1) /\\ <>Lit"), CFG)
    assert broken.exit_status() == ExitStatus.SAFETY


def test_a_premise_that_never_holds_is_reported(tmp_path: Path) -> None:
    result = result_of(tmp_path, light("WF_vars(On)", "(clicks = 7) ~> Lit"), CFG)
    assert [one.why for one in result.vacuous] == ["Prop asks for nothing: its left side is never true: clicks = 7"]


def test_fairness_that_no_behaviour_meets_is_reported(tmp_path: Path) -> None:
    # Nothing but a step beside Next would answer it.
    result = result_of(tmp_path, light('WF_vars(lamp\' = "blown" /\\ UNCHANGED clicks)', "[]<>Lit"), CFG)
    assert [one.is_of_all for one in result.vacuous] == [True]


def test_a_level_bound_leaves_a_property_open(tmp_path: Path) -> None:
    result = result_of(tmp_path, light("WF_vars(On)", "<>Lit"), CFG, Limits(depth=2))
    assert [prop.verdict for prop in result.properties] == ["not refuted"]
    assert (result.bound, result.exit_status()) == (Bound.DEPTH, ExitStatus.BOUND_REACHED)


def test_a_constraint_that_drops_fair_steps_leaves_a_property_open(tmp_path: Path) -> None:
    result = result_of(tmp_path, light("WF_vars(On)", "<>Lit"), f"{CFG}CONSTRAINT Small\n")
    assert [prop.verdict for prop in result.properties] == ["not refuted"]
    assert (result.bound, result.exit_status()) == (Bound.CONSTRAINT, ExitStatus.BOUND_REACHED)
    assert [cut.name for cut in result.cut_fairness] == ["WF_vars(On)"]


def test_a_view_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be checked with Lit: Prop") as raised:
        result_of(tmp_path, light("TRUE", "<>Lit"), f"{CFG}VIEW Lit\n")
    assert raised.value.code == "KMC352"


def test_a_tautology_is_refused_as_tlc_does(tmp_path: Path) -> None:
    with pytest.raises(TautologyError, match="KMC353"):
        result_of(tmp_path, light("TRUE", "\\A n \\in {}: <>(clicks = n)"), CFG)


def test_a_refinement_is_checked_with_the_fairness_of_the_abstract_module(tmp_path: Path) -> None:
    abstract = """---- MODULE Toggle ----
VARIABLE on
Init == on = FALSE
Flip == on' = ~on
Spec == Init /\\ [][Flip]_on /\\ WF_on(Flip)
====
"""
    concrete = """---- MODULE Lamp ----
EXTENDS Naturals
VARIABLES lamp, load
vars == <<lamp, load>>
Init == lamp = FALSE /\\ load = 0
Charge == load = 0 /\\ load' = 1 /\\ UNCHANGED lamp
Switch == load = 1 /\\ load' = 0 /\\ lamp' = ~lamp
Next == Charge \\/ Switch
Spec == Init /\\ [][Next]_vars /\\ FAIRNESS
Abstract == INSTANCE Toggle WITH on <- lamp
Prop == Abstract!Spec
====
"""
    (tmp_path / "Toggle.tla").write_text(abstract, encoding="utf-8")
    fair = result_of(tmp_path, concrete.replace("FAIRNESS", "WF_vars(Next)"), CFG)
    assert (fair.verdict, fair.violation) == (Verdict.OK, None)
    unfair = result_of(tmp_path, concrete.replace("FAIRNESS", "WF_vars(Switch)"), CFG)
    assert unfair.exit_status() == ExitStatus.LIVENESS
    assert unfair.violation is not None
    assert len(unfair.violation.trace) == 1
