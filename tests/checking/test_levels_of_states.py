r"""`TLCGet("level")` in guards, invariants, constraints, views and ALIAS; the counts are those of TLC."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.three_ways import check_ways

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.errors import ModelError, SpecError
from kmc.tla.names.loading import load_model, parse_expression
from kmc.tla.run.program import ModuleProgram

PROTOCOL = r"""---- MODULE Protocol ----
EXTENDS Naturals, FiniteSets, TLC
CONSTANT Node
VARIABLES sent, at, clock
Level == TLCGet("level")
Init == sent = {} /\ at \in [Node -> {Level}] /\ clock = Level
Send(n) == n \notin sent /\ sent' = sent \union {n} /\ UNCHANGED <<at, clock>>
Tick(n) == at[n] < 3 /\ at' = [at EXCEPT ![n] = @ + 1] /\ sent' = sent \ {n} /\ clock' = Level
Late == Level > 3 /\ at' = [n \in Node |-> 0] /\ UNCHANGED <<sent, clock>>
Next == Late \/ \E n \in Node : Send(n) \/ Tick(n)
Symmetric == Permutations(Node)
Seen == <<sent, at>>
SeenWithLevel == <<Seen, Level>>
Soon == Level < 6
Onwards == TLCGet("level")' = Level + 1 /\ clock' <= Level
Counted == Level \in 1..6 /\ clock < Level
Early == ~(Level = 4 /\ sent = Node)
Shown == [sent |-> sent, level |-> Level, next |-> Level']
====
"""
MODEL = "CONSTANT Node = {a, b}\nINIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n"
WATCH = r"""---- MODULE Watch ----
EXTENDS Naturals, TLC
VARIABLE x
ASSUME TLCGet("level") = 0
Init == x = TLCGet("level")
Next == x' = (x + 1) % LENGTH
Spec == Init /\ [][Next]_x /\ WF_x(Next)
Shown == [x |-> x, level |-> TLCGet("level")]
Small == x < 3
Comes == <>(x = 3)
Soon == TLCGet("level") < 5
OnTime == x + 1 = TLCGet("level")
====
"""


@pytest.mark.parametrize(
    ("lines", "generated", "distinct"),
    [
        ("CONSTRAINT Soon INVARIANT Counted ACTION_CONSTRAINT Onwards", 331, 87),
        ("CONSTRAINT Soon INVARIANT Counted SYMMETRY Symmetric", 187, 49),
        ("CONSTRAINT Soon INVARIANT Counted VIEW Seen", 143, 39),
        ("CONSTRAINT Soon VIEW SeenWithLevel", 261, 67),
    ],
)
def test_a_bound_on_the_level_has_the_counts_of_tlc(tmp_path: Path, lines: str, generated: int, distinct: int) -> None:
    checked = check_ways(tmp_path, PROTOCOL, f"{MODEL}{lines}\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert (checked.module["generated"], checked.module["distinct"], checked.module["depth"]) == (
        generated,
        distinct,
        5,
    )


def test_an_invariant_is_false_at_the_level_that_it_names(tmp_path: Path) -> None:
    checked = check_ways(tmp_path, PROTOCOL, f"{MODEL}INVARIANT Early\n")
    assert (checked.differences(), checked.is_refused) == ([], False)
    assert (checked.module["violated"], checked.module["trace length"]) == ("Early", 4)


def _watched(folder: Path, lines: str, length: int = 5) -> ModuleRequest:
    path = folder / "Watch.tla"
    path.write_text(WATCH.replace("LENGTH", str(length)), encoding="utf-8")
    path.with_suffix(".cfg").write_text(f"SPECIFICATION Spec\n{lines}\n", encoding="utf-8")
    return ModuleRequest(path, path.with_suffix(".cfg"), engine=Engine.NATIVE, threads=1)


def test_a_level_above_1023_widens_its_type(tmp_path: Path) -> None:
    result = check_module(_watched(tmp_path, "INVARIANT OnTime", length=1100)).result
    assert (result.violation, result.counters.distinct, result.counters.generated) == (None, 1100, 1101)


def test_an_alias_shows_the_level_and_changes_nothing_else(tmp_path: Path) -> None:
    request = _watched(tmp_path, "INVARIANT Small\nALIAS Shown")
    program = ModuleProgram(load_model(request.module, request.configuration))
    assert program.model.variables == ("x",)
    value = program.alias((2,), (3,), 3)
    assert value is not None
    assert value == program.evaluate(parse_expression(program.model, "[x |-> 2, level |-> 3]"), None)


def test_a_temporal_property_is_refused_beside_the_level(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r'cannot be checked with TLCGet\("level"\): Comes') as error:
        check_module(_watched(tmp_path, "PROPERTY Comes\nCONSTRAINT Soon"))
    assert error.value.code == "KMC352"


def test_other_figures_of_a_search_are_refused_where_they_are_read(tmp_path: Path) -> None:
    request = _watched(tmp_path, "INVARIANT Small")
    text = request.module.read_text(encoding="utf-8").replace("x < 3", 'TLCGet("distinct") < 3')
    request.module.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=r'only TLCGet\("level"\)') as error:
        check_module(request)
    assert error.value.code == "KMC023"


@pytest.mark.parametrize(
    "next_state", [r"\E n \in 1..One : x' = n", "Set(One)", r"LET n == One IN \E m \in {n} : Set(m)"]
)
def test_the_level_in_what_tlc_evaluates_once_is_refused(tmp_path: Path, next_state: str) -> None:
    request = _watched(tmp_path, "INVARIANT OnTime")
    text = request.module.read_text(encoding="utf-8")
    definitions = 'One == TLCGet("level")\nSet(n) == x\' = n\n'
    text = text.replace("Next == x' = (x + 1) % 5", f"{definitions}Next == {next_state}")
    request.module.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match="would be 1 here in every state") as error:
        check_module(request)
    assert error.value.code == "KMC024"
