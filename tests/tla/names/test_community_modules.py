"""Operators of the community modules have the values that TLC's Java code gives them, in both engines.

The modules here are placeholders with the names, definitions that go through all sequences, and nothing else.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

FOLDS = """---- MODULE {name} ----
EXTENDS Naturals, Sequences, FiniteSets
Order(op(_, _), f(_), base, S) ==
    LET fold[T \\in SUBSET S] == IF T = {{}} THEN base ELSE LET e == CHOOSE e \\in T: TRUE IN op(f(e), fold[T \\ {{e}}])
    IN  fold[S]
{definitions}
====
"""
PLACEHOLDERS = {
    "Folds": "",
    "Functions": """
FoldFunctionOnSet(op(_, _), base, fun, S) == LET At(i) == fun[i] IN Order(op, At, base, S)
FoldFunction(op(_, _), base, fun) == FoldFunctionOnSet(op, base, fun, DOMAIN fun)""",
    "FiniteSetsExt": "FoldSet(op(_, _), base, S) == LET At(e) == e IN Order(op, At, base, S)",
    "BagsExt": "FoldBag(op(_, _), base, B) == {}",
    "SequencesExt": """
SetToSeq(S) == CHOOSE f \\in [1..Cardinality(S) -> S]: \\A i, j \\in DOMAIN f: f[i] = f[j] => i = j
SetToSeqs(S) == {f \\in [1..Cardinality(S) -> S]: \\A i, j \\in DOMAIN f: f[i] = f[j] => i = j}
SelectInSubSeq(seq, from, to, Test(_)) == CHOOSE i \\in 0..Len(seq): i = 0 \\/ Test(SubSeq(seq, from, to)[i])
SelectLastInSubSeq(seq, from, to, Test(_)) == SelectInSubSeq(seq, from, to, Test)""",
    "Combinatorics": "choose(n, k) == CHOOSE i \\in Nat: FALSE",
    "Graphs": """
Path(G) == {p \\in Seq(G.node): \\A i \\in 1..(Len(p) - 1): <<p[i], p[i + 1]>> \\in G.edge}
SimplePath(G) == {p \\in Path(G): \\A i, j \\in 1..Len(p): p[i] = p[j] => i = j}
AreConnectedIn(m, n, G) == \\E p \\in Path(G): p[1] = m /\\ p[Len(p)] = n
IsStronglyConnected(G) == \\A m, n \\in G.node: AreConnectedIn(m, n, G)
Other(G) == G.node""",
}
GRAPH = "[node |-> {1, 2, 3}, edge |-> {<<1, 2>>, <<2, 3>>, <<2, 2>>, <<1, 9>>}]"
ROOT = """---- MODULE Root ----
EXTENDS Integers, Sequences, TLC
F == INSTANCE Functions
S == INSTANCE FiniteSetsExt
B == INSTANCE BagsExt
Q == INSTANCE SequencesExt
C == INSTANCE Combinatorics
G == INSTANCE Graphs
Put(e, s) == Append(s, e)
PutLast(s, e) == Append(s, e)
Graph == GRAPH
VARIABLE x, s
Init == x = 0 /\\ s = {}
Next == \\/ \\E i \\in 1..3: s' = s \\union {i} /\\ UNCHANGED x
        \\/ x' = S!FoldSet(LAMBDA e, n: 2 * n + e, 0, s) /\\ UNCHANGED s
        \\/ x' = F!FoldFunction(LAMBDA e, n: n + e, 0, [i \\in s |-> i]) /\\ UNCHANGED s
====
"""


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library"
    library.mkdir()
    for name, definitions in PLACEHOLDERS.items():
        (library / f"{name}.tla").write_text(FOLDS.format(name=name, definitions=definitions))
    monkeypatch.setenv("TLA_PATH", str(library))
    monkeypatch.chdir(tmp_path)
    Path("Root.tla").write_text(ROOT.replace("GRAPH", GRAPH))
    Path("Root.cfg").write_text("INIT Init\nNEXT Next\n")


# The values are those that TLC printed with the community modules and their Java code.
VALUES = [
    ("S!FoldSet(Put, <<>>, {3, 1, 2})", "<<1, 2, 3>>"),
    ("F!FoldFunction(Put, <<>>, [a |-> 5, b |-> 6])", "<<5, 6>>"),
    ("F!FoldFunctionOnSet(Put, <<>>, <<7, 8, 9>>, {1, 3})", "<<7, 9>>"),
    ("B!FoldBag(PutLast, <<>>, (1 :> 2 @@ 5 :> 1))", "<<1, 1, 5>>"),
    ('Q!SetToSeq({"b", "a", "c"})', '<<"a", "b", "c">>'),
    ("Q!SetToSeqs({1, 2})", "{<<1, 2>>, <<2, 1>>}"),
    ("Q!SetToSeqs({})", "{<<>>}"),
    ("[n \\in 1..3 |-> Q!SelectInSubSeq(<<7, 8, 7, 9>>, n, 4, LAMBDA e: e = 7)]", "<<1, 3, 3>>"),
    ("[n \\in 1..3 |-> Q!SelectLastInSubSeq(<<7, 8, 7, 9>>, 2, n, LAMBDA e: e = 8)]", "<<0, 2, 2>>"),
    ("Q!SelectInSubSeq(<<7>>, 1, 1, LAMBDA e: e = 8) + Q!SelectInSubSeq(<<7>>, 9, 8, LAMBDA e: e = 7)", "0"),
    ("<<C!choose(2, 3), C!choose(3, 2), C!choose(0, 0), C!choose(30, 15)>>", "<<0, 3, 1, 155117520>>"),
    ("G!SimplePath(Graph)", "{<<1>>, <<2>>, <<3>>, <<1, 2>>, <<2, 3>>, <<1, 2, 3>>}"),
    ("<<G!AreConnectedIn(1, 3, Graph), G!AreConnectedIn(3, 1, Graph)>>", "<<TRUE, FALSE>>"),
    ("<<G!AreConnectedIn(3, 3, Graph), G!AreConnectedIn(9, 9, Graph)>>", "<<TRUE, FALSE>>"),
    ("G!IsStronglyConnected(Graph)", "FALSE"),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_an_operator_has_the_value_that_tlc_gives_it(text: str, value: str) -> None:
    assert kmc("eval", "Root.tla", text).stdout == f"{value}\n"


@pytest.mark.parametrize("engine", ["python", "native"])
def test_the_order_of_a_fold_decides_the_states(engine: str) -> None:
    found = kmc("check", "Root.tla", "--engine", engine, "--quiet", "--no-run-dir")
    # TLC's counts; that of the placeholder gives 161 and 32.
    assert "156 states generated, 31 distinct states found" in found.stdout


def test_a_module_beside_no_community_modules_keeps_its_meaning(tmp_path: Path) -> None:
    (tmp_path / "library" / "Folds.tla").unlink()
    assert kmc("eval", "Root.tla", "S!FoldSet(Put, <<>>, {3, 1, 2})").stdout == "<<3, 2, 1>>\n"


def test_an_operator_with_other_parameters_keeps_its_meaning(tmp_path: Path) -> None:
    path = tmp_path / "library" / "Graphs.tla"
    path.write_text(path.read_text().replace("AreConnectedIn(m, n, G) ==", "AreConnectedIn(m, G) == m = G \\* ="))
    path.write_text(path.read_text().replace("AreConnectedIn(m, n, G)", "AreConnectedIn(m, n)"))
    assert kmc("eval", "Root.tla", "G!AreConnectedIn(1, 1)").stdout == "TRUE\n"
