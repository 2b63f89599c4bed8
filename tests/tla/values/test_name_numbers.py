r"""Names are in the order in which TLC reads them, so a CHOOSE among strings, fields and model values is TLC's.

The expected values are those that TLC gives for these files; the order of the alphabet would give three of the twenty.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.tla.names.loading import load_model, parse_expression
from kmc.tla.run.program import ModuleProgram
from kmc.tla.values.texts import text_of

LOW = """---- MODULE Low ----
Early == {"omega", "theta", "iota"}
Rec(q, w) == [late |-> q, front |-> w]
====
"""
NAMES = r"""---- MODULE Names ----
EXTENDS Naturals, Sequences, FiniteSets, Low
CONSTANTS Server, Nil, Other, Word
VARIABLES x, y
\* comment zebra names
Fields == {[zone |-> 1, area |-> 2], [zone |-> 2, area |-> 1]}
Any(S) == CHOOSE e \in S : TRUE
Init == y = 0 /\ x = <<>>
Picks == << Any(Server), Any({"zeta", "alpha"}), Any(Fields).zone, Any({Nil, Other}), Any(Early),
              Any({Rec(1, 2), Rec(2, 1)}).late, Any({{"zeta"}, {"alpha"}}), Any([Server -> {"b", "a"}]),
              Any({"a", "area", "zone", "Server"}),
              Any(SUBSET Server \ {{}}), Any({"STRING", "Init"}), Any({<<"q", 1>>, <<"p", 2>>}),
              Any(Word),
              Any({[front |-> 2, late |-> 1], [front |-> 1, late |-> 2]}).front,
              Any([p : {1}, k : {2}] \cup [k : {1}, p : {2}]),
              Any({"theta", "zeta", "front"}), Any({"unseen", "omega"}), Any({"Naturals", "Low"}), Any({"e", "S", "n"}),
              Any({"Seq", "Head", "x"})>>
Next == y < 1 /\ y' = y + 1 /\ x' = Picks
====
"""
CFG = """CONSTANTS
Other = Other
Server = {c, a, b}
Nil = Nil
Word = {"yes", "no"}
INIT Init
NEXT Next
CHECK_DEADLOCK FALSE
"""
CHOSEN = (
    "c", '"zeta"', "1", "Other", '"omega"', "1", '{"zeta"}', '(a :> "a" @@ b :> "a" @@ c :> "a")', '"a"', "{c}",
    '"STRING"', '<<"p", 2>>', '"yes"', "2", "[k |-> 2, p |-> 1]", '"front"', '"omega"', '"Naturals"', '"S"', '"x"',
)  # fmt: skip


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> ModuleProgram:
    folder = tmp_path_factory.mktemp("names")
    for name, text in {"Low.tla": LOW, "Names.tla": NAMES, "Names.cfg": CFG}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return ModuleProgram(load_model(folder / "Names.tla", None))


@pytest.mark.parametrize("position", range(len(CHOSEN)))
def test_the_first_value_is_that_of_tlc(program: ModuleProgram, position: int) -> None:
    picked = program.evaluate(parse_expression(program.model, f"Picks[{position + 1}]"), None)
    assert text_of(picked) == CHOSEN[position]


def test_a_text_has_names_as_people_order_them(program: ModuleProgram) -> None:
    assert text_of(program.evaluate(parse_expression(program.model, "Server"), None)) == "{a, b, c}"


def test_each_module_has_its_own_numbers(program: ModuleProgram, tmp_path: Path) -> None:
    (tmp_path / "Low.tla").write_text(LOW, encoding="utf-8")
    (tmp_path / "Names.tla").write_text(NAMES, encoding="utf-8")
    (tmp_path / "Names.cfg").write_text(CFG.replace("{c, a, b}", "{b, c, a}"), encoding="utf-8")
    other = ModuleProgram(load_model(tmp_path / "Names.tla", None))
    for one, first in ((other, "b"), (program, "c"), (other, "b")):
        assert text_of(one.evaluate(parse_expression(one.model, "Any(Server)"), None)) == first
