"""TLC's golden verdicts on temporal properties, each as a model of kmc.

Kinds a and b are asked with their own `.cfg` text. The modules of kinds c, d and e were translated by hand to specs in
`data/liveness`; the tables below say which spec, constants, specification and property stand for which case.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.cfg import parse_cfg
from kmc.model_files.model_file import ModelFile

_DATA = Path(__file__).parents[2] / "data"
SPECS = _DATA / "liveness"


STOPPED_EARLY = {"d80_false_init_only"}
"""TLC stops in the state that violates an invariant, so its counts are not those of the graph."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What stands for a case: a spec of `data/liveness`, with what its model file says."""

    spec: str
    constants: str
    specification: str
    property: str
    reduction: str = ""

    def cfg(self) -> str:
        """The text of the model file."""
        constants = f"CONSTANTS {self.constants}\n" if self.constants else ""
        words = f"SPECIFICATION {self.specification}\nPROPERTY {self.property}\n{self.reduction}\n"
        return f"{constants}{words}CHECK_DEADLOCK FALSE\n"


@dataclass(frozen=True, slots=True)
class LivenessCase:
    """One case: the spec and the model file that ask kmc what TLC was asked, and what TLC answered."""

    id: str
    root: Path
    cfg: str
    answer: dict[str, Any]

    @property
    def graph(self) -> dict[str, int]:
        """TLC's counts; empty where it made no graph."""
        found: dict[str, int] = self.answer.get("graph", {})
        return found

    def file(self) -> ModelFile:
        """The model file, without a check for deadlock."""
        return replace(parse_cfg(self.cfg, f"{self.id}.cfg"), check_deadlock=False)

    @property
    def graph_key(self) -> str:
        """Equal for cases of one graph: the spec and its constants."""
        return f"{self.root.name} {sorted(f'{given.name} = {given.value}' for given in self.file().constants)}"

    def model(self) -> Model:
        """The case as it is asked."""
        return bind(self.root, self.file())

    def graph_model(self) -> Model:
        """The same graph, with nothing asked about it."""
        return bind(self.root, replace(self.file(), specification=None, properties=()))


_CLIENTS = "Clients = {c1, c2} Resources = {r1, r2}"

_EXAMPLES = {
    "c03_ewd840_each": Asked("ewd840", "N = 3", "WfEach", "Liveness"),
    "c04_ewd840_dropone": Asked("ewd840", "N = 3", "WfEachButOne", "Liveness"),
    "c05_ewd840_next": Asked("ewd840", "N = 3", "WfNext", "Liveness"),
    "c06_ewd840_terminates": Asked("ewd840", "N = 3", "WfSystemAndDeactivate", "Terminates"),
    "c09_ewd840_4": Asked("ewd840", "N = 4", "WfSystem", "Liveness"),
    "c10_rw_full": Asked("readers_writers", "NumActors = 2", "Spec", "Liveness"),
    "c11_rw_nostop": Asked("readers_writers", "NumActors = 2", "WithoutStop", "Liveness"),
    "c12_rw_exists": Asked("readers_writers", "NumActors = 2", "SomeReads", "Liveness"),
    "c14_rw_3": Asked("readers_writers", "NumActors = 3", "Spec", "Liveness"),
    "c16_cr_node": Asked("chang_roberts", "N = 3", "Spec", "Liveness"),
    "c18_cr_no1": Asked("chang_roberts", "N = 3", "WithoutNodeOne", "Liveness"),
    "c19_cr_alllost": Asked("chang_roberts", "N = 3", "Spec", "NoCandidatesInTheEnd"),
    "c20_cr_two": Asked("chang_roberts", "N = 3", "Spec", "SecondWins"),
    "c21_alloc_sf_ClientsWillReturn": Asked("simple_allocator", _CLIENTS, "SimpleAllocator", "ClientsWillReturn"),
    "c21_alloc_sf_InfOftenSatisfied": Asked("simple_allocator", _CLIENTS, "SimpleAllocator", "InfOftenSatisfied"),
    "c22_alloc_sf2_ClientsWillReturn": Asked("simple_allocator", _CLIENTS, "SimpleAllocator2", "ClientsWillReturn"),
    "c22_alloc_sf2_InfOftenSatisfied": Asked("simple_allocator", _CLIENTS, "SimpleAllocator2", "InfOftenSatisfied"),
    "c23_alloc_wf_ClientsWillObtain": Asked("simple_allocator", _CLIENTS, "WfAllocate", "ClientsWillObtain"),
    "c24_alloc_sfone": Asked("simple_allocator", _CLIENTS, "SfSomeAllocate", "ClientsWillObtain"),
    "c25_pet_proc": Asked("peterson", "", "WfEach", "Enters"),
    "c26_pet_next": Asked("peterson", "", "WfNext", "Enters"),
    "c27_pet_noncs": Asked("peterson", "", "WfEachOutsideOfA0", "Enters"),
    "c29_pet_inf": Asked("peterson", "", "WfEachOutsideOfA0", "EntersAgain"),
    "c31_pris_unknown": Asked("prisoner", "Light_Unknown = TRUE", "Spec", "Terminating"),
    "c32_pris_next": Asked("prisoner", "Light_Unknown = FALSE", "WfNext", "Terminating"),
    "c34_pris_noB": Asked("prisoner", "Light_Unknown = TRUE", "WithoutB", "Terminating"),
    "c35_tc_next": Asked("tcommit", "RM = {r0, r1, r2}", "WfNext", "Decides"),
    "c36_tc_each": Asked("tcommit", "RM = {r0, r1, r2}", "WfEach", "Decides"),
    "c39_ring_44": Asked("token_ring", "N = 4 M = 4", "Spec", "Stab"),
    "c41_ring_54": Asked("token_ring", "N = 5 M = 4", "Spec", "Stab"),
    "c44_cat_6": Asked("cat", "Number_Of_Boxes = 6", "WfMoveCat", "Victory"),
    "c45_cat_next": Asked("cat", "Number_Of_Boxes = 5", "WfNext", "Victory"),
    "c46_cat_none": Asked("cat", "Number_Of_Boxes = 5", "Unfair", "Victory"),
    "c47_cat_again": Asked("cat", "Number_Of_Boxes = 5", "WfNext", "FirstBoxAgain"),
    "c50_span_no": Asked("span_tree", "MaxCardinality = 4", "Unfair", "Terminates"),
    "c52_dij_free": Asked("dijkstra_mutex", "Proc = {p1, p2}", "LSpec", "DeadlockFreedom"),
    "c53_dij_starve": Asked("dijkstra_mutex", "Proc = {p1, p2}", "LSpec", "StarvationFree"),
    "c55_dij_li": Asked("dijkstra_mutex", "Proc = {p1, p2}", "WfOutsideOfLi1", "DeadlockFreedom"),
    "c56_din_each": Asked("dining_philosophers", "NP = 3", "Spec", "EachEatsAgain"),
    "c58_din_loop": Asked("dining_philosophers", "NP = 3", "WithoutThink", "EachEatsAgain"),
}

_TRAPS = {
    "d01_stutter_only": Asked("flip", "", "Unfair", "One"),
    "d02_stutter_wf": Asked("flip", "", "WfNext", "One"),
    "d03_stutter_later": Asked("count_up", "Limit = 3", "Unfair", "Three"),
    "d05_deadlock_fg": Asked("count_up", "Limit = 2", "WfUp", "TwoInTheEnd"),
    "d06_deadlock_branch": Asked("branch", "", "WfNext", "ThreeAgain"),
    "d07_wf_intermittent": Asked("toggle_and_leave", "FromOne = FALSE", "WfBoth", "Two"),
    "d10_wf_continuous": Asked("toggle_and_leave", "FromOne = TRUE", "WfLeave", "Two"),
    "d11_stutter_enabled": Asked("idle_or_go", "", "WfIdle", "One"),
    "d12_stutter_enabled_sf": Asked("idle_or_go", "", "SfIdle", "One"),
    "d13_wf_next_with_idle": Asked("idle_or_go", "", "WfNext", "One"),
    "d16_wf_or": Asked("toggle_and_leave", "FromOne = TRUE", "WfNext", "Two"),
    "d17_wf_each": Asked("toggle_and_leave", "FromOne = TRUE", "WfBoth", "Two"),
    "d18_wf_each_weaker": Asked("toggle_and_leave", "FromOne = TRUE", "WfLeaveEach", "Two"),
    "d19_wf_or_stronger": Asked("toggle_and_leave", "FromOne = TRUE", "WfLeave", "Two"),
    "d22_sf_exists": Asked("two_switches", "", "SfSomeStep", "SecondIsOn"),
    "d23_wf_one_instance": Asked("two_switches", "", "WfFirstStep", "SecondIsOn"),
    "d25_pairs_sf": Asked("moves", "", "SfEach", "TwoAgain"),
    "d26_pairs_sf_ex": Asked("moves", "", "SfFromEach", "Two"),
    "d27_gf_ring": Asked("ring_with_exit", "", "WfR", "OneAgain"),
    "d29_fg_or_gf": Asked("ring_with_exit", "", "WfR", "ThreeInTheEndOrOneAgain"),
    "d31_imp_gf": Asked("ring_with_exit", "", "WfR", "TwoAgainImpliesZeroAgain"),
    "d32_imp_gf_no": Asked("ring_with_exit", "", "Unfair", "ZeroAgainImpliesTwoAgain"),
    "d33_not_gf": Asked("ring_with_exit", "", "WfR", "NotOneAgain"),
    "d34_not_ev": Asked("ring_with_exit", "", "WfR", "NotFour"),
    "d36_lt_already": Asked("count_up", "Limit = 1", "WfUp", "ZeroLeadsToBelowOne"),
    "d38_lt_last": Asked("count_up", "Limit = 2", "WfUp", "TwoLeadsToZero"),
    "d39_lt_never": Asked("count_up", "Limit = 2", "Unfair", "FiveLeadsToSix"),
    "d40_lt_once": Asked("count_up", "Limit = 3", "WfUp", "EvenLeadsToOne"),
    "d42_gf_act": Asked("ring_with_exit", "", "WfRAndSfLeave", "RoundAgain"),
    "d44_enabled_gf": Asked("ring_with_exit", "", "WfR", "RoundIsEnabledAgain"),
    "d45_enabled_lt": Asked("ring_with_exit", "", "WfRAndSfLeave", "EnabledLeadsToThree"),
    "d47_initial_cycle": Asked("cycle_at_start", "", "WfGo", "Two"),
    "d48_two_lobes": Asked("two_lobes", "", "WithoutC", "Three"),
    "d49_two_lobes_exit": Asked("two_lobes", "", "WithC", "Three"),
    "d52_inits_ok": Asked("three_starts", "", "WfGo", "Three"),
    "d53_subscript_x": Asked("hidden_step", "", "WfHidOfX", "Hidden"),
    "d54_subscript_vars": Asked("hidden_step", "", "WfHid", "HiddenOrGone"),
    "d56_not_closed": Asked("count_up", "Limit = 1", "WfAlien", "One"),
    "d57_nested_scc": Asked("nested_components", "", "SfExit", "Three"),
    "d58_nested_none": Asked("nested_components", "", "SfExitAndLoopFromOne", "Three"),
    "d61_forall_gf": Asked("picks", "Top = 2", "WfEach", "EachAgain"),
    "d62_forall_gf2": Asked("picks", "Top = 1", "WfEach", "EachAgain"),
    "d64_exists_fg": Asked("picks", "Top = 2", "Unfair", "OneInTheEnd"),
    "d65_unreachable": Asked("unreachable_cycle", "", "WfNext", "ZeroAgain"),
    "d66_counter": Asked("two_tries", "", "WfBoth", "Won"),
    "d67_counter_excused": Asked("two_tries", "", "WfBoth", "WonOrSpent"),
    "d70_mutex_sf_one": Asked("mutex", "", "SfOfFirst", "EachEnters"),
    "d71_mutex_sf_one_a": Asked("mutex", "", "SfOfFirst", "FirstEnters"),
    "d72_mutex_norec": Asked("mutex", "", "SfOfBoth", "EachEntersAgain"),
    "d73_tautology": Asked("flip", "", "Unfair", "AnyAgain"),
    "d76_nested_ev_box": Asked("ring_with_exit", "", "WfRAndSfLeave", "TwoAndThenTwoOrThreeAgain"),
    "d77_next_ev_chain": Asked("ring_with_exit", "", "WfR", "OneThenZero"),
    "d78_long_stem": Asked("long_stem", "", "WfNext", "ThreeInTheEnd"),
    "d80_false_init_only": Asked("flip", "", "WfNext", "OneAgainAndNever"),
    "d81_issue201_act": Asked("shared_pairs", "", "WfA", "AAgain"),
    "d83_issue1037": Asked("up_to_five", "", "WfNext", "FiveInTheEndIfOneFirst"),
    "d84_issue710": Asked("anywhere", "Top = 1", "Unfair", "NoReturnToZero"),
    "d85_issue604": Asked("anywhere", "Top = 3", "WfNext", "NineLeadsToEight"),
    "d88_same_edge_two_actions": Asked("same_step_twice", "", "SfAAndB", "Two"),
    "d89_action_not_label": Asked("grow_or_reset", "", "WfGrow", "Two"),
    "d91_wf_guarded_holds": Asked("guard_may_go", "", "WfGuarded", "OneOrUnguarded"),
    "d92_fg_imp_gf": Asked("toggle_and_leave", "FromOne = FALSE", "WfToggle", "StaysImpliesOneAgain"),
    "d93_fg_imp_fg": Asked("toggle_and_leave", "FromOne = FALSE", "WfToggle", "StaysImpliesOneInTheEnd"),
    "d94_not_lt": Asked("ring_with_exit", "", "WfR", "NotZeroLeadsToTwo"),
    "d97_eqv": Asked("ring_with_exit", "", "WfRAndSfLeave", "TwoIffThree"),
    "d98_lt_chain": Asked("two_branches", "", "WfNext", "ZeroLeadsToThree"),
}

_REDUCTIONS = {
    "e01_constraint": Asked("grow_for_ever", "", "WfNext", "NineAndEight", "CONSTRAINT Con"),
    "e02_constraint_finite": Asked("count_up", "Limit = 9", "WfUp", "Ten", "CONSTRAINT Con"),
    "e03_constraint_exit": Asked("toggle_and_leave", "FromOne = TRUE", "WfBoth", "Two", "CONSTRAINT Con"),
    "e04_symmetry_each": Asked("flips", "P = {p1, p2, p3}", "SfEachUp", "EachIsUpAgain", "SYMMETRY Sym"),
    "e05_symmetry_one": Asked("flips", "P = {p1, p2, p3}", "WfNext", "EachIsUpAgain", "SYMMETRY Sym"),
    "e06_symmetry_lt": Asked("turns", "P = {p1, p2, p3}", "WfNext", "EachHasItAgain", "SYMMETRY Sym"),
    "e07_view": Asked("viewed_pair", "", "WfNext", "YIsOne", "VIEW Vw"),
    "e08_view_ok": Asked("viewed_pair", "", "WfNext", "XIsOneAgain", "VIEW Vw"),
    "e09_view_gf": Asked("viewed_pair", "", "WfNext", "YIsOneAgain", "VIEW Vw"),
    "e10_view_fg": Asked("viewed_pair", "", "WfNext", "YIsZeroInTheEnd", "VIEW Vw"),
}

_ASKED = _EXAMPLES | _TRAPS


@cache
def liveness_cases() -> tuple[LivenessCase, ...]:
    """All of `public.json`."""
    return tuple(_case(answer) for answer in _read("public"))


@cache
def reductions() -> tuple[LivenessCase, ...]:
    """All of `reductions.json`: `answer` has the verdict on the full graph, and TLC's on the reduced one."""
    return tuple(_translated(answer, _REDUCTIONS[answer["id"]]) for answer in _read("reductions"))


def _read(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (_DATA / "golden" / "liveness" / f"{name}.json").read_text(encoding="utf-8")
    )
    return found


def _case(answer: dict[str, Any]) -> LivenessCase:
    if answer["kind"] in ("a", "b"):
        return LivenessCase(answer["id"], find_spec_root(answer["spec"]), answer["cfg"], answer)
    return _translated(answer, _ASKED[answer["id"]])


def _translated(answer: dict[str, Any], asked: Asked) -> LivenessCase:
    return LivenessCase(answer["id"], SPECS / asked.spec, asked.cfg(), answer)
