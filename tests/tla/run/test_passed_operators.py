r"""Operators of a LET that are passed as arguments: where they are applied, they read what is bound around the LET."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram, State

PASSED = r"""---- MODULE Passed ----
EXTENDS Integers
VARIABLES x
Once(P(_), n) == LET G(k) == P(k) + n IN G(1)
Twice(P(_), n) == Once(P, n) + P(2)
Up(P(_, _)) == LET f[n \in Nat] == IF n = 0 THEN P(1, 0) ELSE P(f[n - 1], n) IN f[2]
Act(A(_)) == \E k \in 1..2 : A(k)
Init == x = 0
Plus == \E r \in 1..2 : LET Add(a) == a + r + x IN x' = Twice(Add, r) % 7
Fold == \E r \in 1..2 : LET Add(a, n) == a * n + r IN x' = (x + Up(Add)) % 7
Either == \E r \in 1..2 : LET Put(a) == \/ x' = (a + r + x) % 7 \/ x' = r IN Act(Put)
Nested == \E r \in 1..2 : LET Add(a) == a + r + x
                              All(a) == Add(a) + LET Inner(b) == b + a + r IN Once(Inner, a)
                          IN x' = Once(All, r) % 7
Deep == \E r \in 1..2 : LET RECURSIVE Sum(_)
                            Sum(n) == IF n = 0 THEN r ELSE n + Sum(n - 1)
                        IN x' = Once(Sum, x) % 7
Next == Plus \/ Fold \/ Either \/ Nested \/ Deep
====
"""
INLINED = {
    "Plus": r"\E r \in 1..2 : x' = (1 + r + x + r + 2 + r + x) % 7",
    "Fold": r"\E r \in 1..2 : x' = (x + (r * 1 + r) * 2 + r) % 7",
    "Either": r"\E r \in 1..2, k \in 1..2 : x' = (k + r + x) % 7 \/ x' = r",
    "Nested": r"\E r \in 1..2 : x' = (1 + r + x + 1 + 1 + r + 1 + r) % 7",
    "Deep": r"\E r \in 1..2 : x' = (1 + r + x) % 7",
}


def test_an_operator_of_a_let_is_applied_as_if_it_were_written_there(tmp_path: Path) -> None:
    by_hand = "\n".join(f"{name} == {formula}" for name, formula in INLINED.items())
    head, tail = PASSED.split("Plus ==")[0], "Next ==" + PASSED.split("Next ==")[1]
    passed, inlined = program_of(tmp_path, PASSED), program_of(tmp_path, f"{head}{by_hand}\n{tail}")
    (state,) = inlined.initial_states()
    for value in range(7):
        before = (value,)
        assert steps(passed, before) == steps(inlined, before)
    assert state == (0,)


def test_an_assumption_passes_an_operator_that_reads_a_bound_name(tmp_path: Path) -> None:
    module = PASSED.replace(
        "Init ==",
        "ASSUME \\A R \\in SUBSET {2, 5} : LET In(a, n) == a + IF a \\in R THEN 0 ELSE n IN Up(In) > 0\nInit ==",
    )
    assert program_of(tmp_path, module).failed_assumption() is None


def steps(program: ModuleProgram, state: State) -> Counter[State]:
    """Return the successors of a state, as often as they are generated."""
    return Counter(step.state for step in program.successors(state))


def program_of(folder: Path, text: str) -> ModuleProgram:
    """Load the text of the module."""
    module = folder / "Passed.tla"
    module.write_text(text, encoding="utf-8")
    module.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n", encoding="utf-8")
    return ModuleProgram(load_model(module, module.with_suffix(".cfg")))
