"""Counts of small modules as TLC gave them with one worker: generated, distinct, depth.

Each module is about a rule of TLC's enumeration: what it branches on, how often, and what it only evaluates.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.tla.names.loading import load_model
from kmc.tla.run.program import ModuleProgram, State

CFG = "INIT Init\nNEXT Next\n"

MODULES: dict[str, tuple[tuple[int, int, int], str]] = {
    "GuardTwice": (
        (6, 4, 4),
        r"""EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == /\ x < 3
        /\ (x >= 0 \/ x < 2)
        /\ x' = x + 1""",
    ),
    "FunctionsOfFormulas": (
        (138, 4, 2),
        r"""EXTENDS Naturals
VARIABLE x
Deep[n \in 0..3] == IF n = 0 THEN x = 0 \/ x < 3 ELSE \E k \in {1, 2} : Deep[n - 1] /\ k + n > 1
Pair == [a \in 0..1, b \in 0..1 |-> a = x \/ b = x \/ x > 1]
Flat[n \in 0..3] == n = 0 \/ x < 2 \/ \E m \in 0..(n - 1) : Flat[m]
Fixed[n \in 0..3] == IF n = 0 THEN TRUE \/ n = 0 ELSE n > 0 \/ Fixed[n - 1]
Init == x = 0
Down == Deep[2] /\ x' = (x + 1) % 4
Both == Pair[0, 1] /\ x' = 3 - x
Mixed == Flat[2] /\ Deep[x] /\ x' = x
Local == LET own[n \in 0..3] == IF n = 0 THEN TRUE \/ x = 1 ELSE own[n - 1] \/ x = n
         IN own[3] /\ (own[1] \/ x = 2) /\ x' = 0
Tuples == [<<a, b>> \in {<<0, 1>>, <<1, 1>>} |-> a = x \/ b = 1][1, 1] /\ x' = 1
Value == (IF Deep[1] THEN x' = 2 ELSE x' = 1)
Back == LET f[n \in 0..3] == \E m \in 0..2 : m < n /\ (f[m] \/ m = 0) /\ n > m
        IN f[3] /\ x' = 1
Const == Fixed[2] /\ x' = 2
Plain == [n \in 0..3 |-> n = 2 \/ n > 1]
Plainly == Plain[2] /\ x' = 3
Direct == [n \in 0..3 |-> n = 2 \/ n > 1][2] /\ x' = 3
InLet == LET g[n \in 0..3] == IF n = 0 THEN TRUE \/ n = 0 ELSE n > 0 \/ g[n - 1] IN g[2] /\ x' = 2
Next == Const \/ Plainly \/ Direct \/ InLet \/ Down \/ Both \/ Mixed \/ Local \/ Tuples \/ Value \/ Back""",
    ),
    "BagsWithNone": (
        (25, 9, 1),
        r"""EXTENDS Naturals, Bags
VARIABLE b
Init == b \in [{1, 2} -> 0..2]
Take == \E e \in 1..3 : BagIn(e, b) /\ b' = [b EXCEPT ![e] = @ - 1]
Put == \E e \in {1, 2} : b \sqsubseteq (e :> 1) /\ b' = [b EXCEPT ![e] = @ + 1]
Next == Take \/ Put""",
    ),
    "SortsByNoOrder": (
        (5, 3, 3),
        r"""EXTENDS Naturals, Sequences, TLC
VARIABLE s
Below(a, b) == a[1] < b[1] /\ a[2] < b[2]
Init == s = <<<<2, 2>>, <<1, 1>>, <<1, 2>>, <<1, 1>>>>
Sort == Len(s) = 4 /\ s' = SortSeq(s, Below)
Turn == s[1] = <<1, 1>> /\ s[2] = <<2, 2>> /\ s' = SortSeq(s, LAMBDA a, b : a[1] <= b[1])
Next == Sort \/ Turn""",
    ),
    "FunctionsByOtherNames": (
        (272, 13, 2),
        r"""EXTENDS Naturals
VARIABLE x
Three == 1..3
Fixed == [i \in Three |-> \E j \in 1..i : j < 4]
Read == [i \in Three |-> \E j \in 1..2 : j > x]
Init == x \in 0..1
Implied(p) == (x < 9 => p) /\ x' = 5
Given(f, i) == (x < 9 => f[i]) /\ x' = 6
Each(f) == \A i \in {1, 2} : f[i]
Local == (LET g == [i \in Three |-> \E j \in 1..i : j < 4] h == g[2] IN h /\ g[1]) /\ x' = 8
Known == (LET g == Fixed IN g[3]) /\ x' = 4
Named == (LET g == Fixed[3] IN g) /\ x' = 7
OfNumber == (LET g(n) == [i \in Three |-> \E j \in 1..i : j < n] IN g(4)[3]) /\ x' = 9
All == (LET g == [i \in Three |-> \E j \in 1..i : j < 4] IN \A i \in {2, 3} : g[i]) /\ x' = 10
Late == x' = 11 /\ LET g == [i \in Three |-> \E j \in 1..i : j < 4] IN g[x' - 8]
Itself == (LET g[i \in Three] == \E j \in 1..i : j < 4 IN g[2]) /\ x' = 12
Chosen == \E n \in {3} : (LET g == [i \in Three |-> \E j \in 1..n : j < 4] IN g[1]) /\ x' = 13
Next == \/ Implied(\E j \in 1..3 : j > x) \/ Given(Read, 2) \/ (Each(Read) /\ x' = 3)
        \/ Known \/ Named \/ Local \/ OfNumber \/ All \/ Late \/ Itself \/ Chosen""",
    ),
    "FunctionsPassedOn": (
        (98, 7, 2),
        r"""EXTENDS Naturals, Sequences
VARIABLE x
S == 1..3
Const == [i \in S |-> \E j \in 1..i : j < 4]
OfState == [i \in S |-> \E j \in 1..2 : j > x]
Argument(n) == [i \in S |-> \E j \in 1..i : j < n]
Infinite == [i \in Nat |-> \E j \in 1..i : j < 4]
Sets == [T \in SUBSET S |-> \E j \in S : j \in T]
First(f) == f[1]
Both(f) == First(f) /\ f[2]
RECURSIVE Every(_)
Every(s) == IF s = <<>> THEN TRUE ELSE s[1] /\ Every(Tail(s))
Init == x = 0
Next == \/ First(Argument(4)) /\ x' = 2
        \/ Both(OfState) /\ Both(Const) /\ x' = 3
        \/ (\E f \in {OfState} : f[1]) /\ x' = 3
        \/ (LET q(f) == f[2] IN q(OfState)) /\ x' = 4
        \/ Infinite[3] /\ Sets[S] /\ x' = 5
        \/ (LET h == [i \in S |-> i < 9 \/ i < 10] IN h = h /\ h[1]) /\ x' = 6
        \/ Every(<<TRUE, x < 4, x < 3 \/ x < 2>>) /\ x' = 1""",
    ),
    "GuardLast": (
        (4, 4, 4),
        r"""EXTENDS Naturals
VARIABLE x
Init == x = 0
Next == /\ x < 3
        /\ x' = x + 1
        /\ (x >= 0 \/ x < 2)
        /\ \E i \in 1..3: i > 1""",
    ),
    "InitTwice": (
        (21, 7, 3),
        r"""EXTENDS Naturals
VARIABLES x, y
Init == /\ (x = 0 \/ x \in 0..1)
        /\ (x = 0 \/ x < 2)
        /\ y \in {x, 2}
        /\ (y > 0 \/ y < 3)
Next == /\ x' \in {x, y} /\ y' = x""",
    ),
    "Operators": (
        (43, 9, 3),
        r"""EXTENDS Naturals
VARIABLES x, y
Step(p, target) == /\ p
                   /\ target' \in {1, 2}
Keep(v) == v' = v
Init == x = 0 /\ y = 0
Next == \/ Step(x < 2 \/ y < 2, x) /\ Keep(y)
        \/ Step(TRUE \/ FALSE, y) /\ UNCHANGED x""",
    ),
    "Inlined": (
        (78, 7, 4),
        r"""EXTENDS Naturals
VARIABLES x, y
Ready(m, low, kind) == /\ m.n > low
                       /\ \/ kind \in {"any", "all"}
                          \/ kind = "even" /\ m.n % 2 = 0
                          \/ kind = "all"
Both(m, low) == Ready(m, low, "all") \/ Ready(m, low, "even")
Set(v, m) == v' = m.n
Init == x = 0 /\ y = 0
Next == \E m \in {[n |-> i] : i \in {1, 2, x}}, low \in 0..1 :
          /\ x < 3
          /\ Both(m, low)
          /\ Set(x, m)
          /\ y' \in {y, (y + low) % 3}""",
    ),
    "Lets": (
        (12, 5, 3),
        r"""EXTENDS Naturals
VARIABLES x, y
Init == x \in 0..1 /\ y = 0
Next == LET P == x = 0 \/ x < 5
            Q(n) == n = 1 \/ n = y
            next == x' + 1
        IN /\ P
           /\ \E i \in {1, 2}: Q(i) /\ x' = (x + i) % 3
           /\ IF P THEN y' = next ELSE y' = 0""",
    ),
    "ForAll": (
        (13, 8, 4),
        r"""EXTENDS Naturals
VARIABLES f, n
Init == f = [i \in 1..2 |-> 0] /\ n = 0
Next == /\ \A i \in 1..2: (f[i] < 2 \/ i = n)
        /\ \E i \in 1..2: f' = [f EXCEPT ![i] = (@ + 1) % 3]
        /\ n' = f'[1]""",
    ),
    "Cases": (
        (60, 12, 2),
        r"""EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y \in SUBSET {1, 2}
Next == /\ CASE x = 0 -> x' \in {1, 2}
              [] x = 1 -> x' = 2 \/ x' = 0
              [] OTHER -> x' = 0
        /\ (x > 0 => y' = {} \/ y' = {x})
        /\ (x = 0 => y' \subseteq {1, 2})""",
    ),
    "EnabledGuards": (
        (11, 6, 4),
        r"""EXTENDS Naturals
VARIABLES x, y
A == x < 2 /\ x' = x + 1 /\ UNCHANGED y
B == ENABLED A /\ y' = (y + 1) % 2 /\ x' = x
C == ~ENABLED A /\ x' = 0 /\ y' = y
Init == x = 0 /\ y = 0
Next == A \/ B \/ C""",
    ),
    "Boxes": (
        (19, 6, 4),
        r"""EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
A == x' = (x + 1) % 3
Next == \/ [A]_x /\ y' = x
        \/ <<A>>_x /\ y' \in {x, x + 0}""",
    ),
    "Recursions": (
        (13, 8, 3),
        r"""EXTENDS Naturals, Sequences
VARIABLES s, t
RECURSIVE Sum(_)
Sum(q) == IF q = <<>> THEN 0 ELSE Head(q) + Sum(Tail(q))
fact[n \in 0..5] == IF n = 0 THEN 1 ELSE n * fact[n - 1]
RECURSIVE Pick(_)
Pick(n) == IF n = 0 THEN s' = <<>> ELSE s' = Append(s, n) \/ Pick(n - 1)
Init == s = <<>> /\ t = fact[3]
Next == Len(s) < 2 /\ Pick(2) /\ t' = Sum(s') + fact[Len(s)]""",
    ),
    "Choices": (
        (46, 15, 4),
        r"""EXTENDS Naturals, FiniteSets
VARIABLES S, x
Least(T) == CHOOSE m \in T: \A k \in T: m <= k
Init == S = {} /\ x = CHOOSE p \in SUBSET (1..3): Cardinality(p) = 2
Next == /\ \E i \in 1..3: S' = S \union {i}
        /\ x' = IF S = {} THEN {} ELSE {Least(S)}""",
    ),
    "Records": (
        (109, 20, 3),
        r"""EXTENDS Naturals
VARIABLES m, n
Init == m \in [k: {"a", "b"}, v: 0..1] /\ n = <<>>
Next == \/ \E r \in {m, [k |-> "a", v |-> 0]}: m' = [r EXCEPT !.v = 1 - @] /\ n' = n
        \/ n' \in [1..2 -> {m.v, 1}] /\ UNCHANGED m
        \/ n' = [i \in 1..2 |-> m.v] /\ m' = m""",
    ),
    "ByName": (
        (33, 4, 3),
        r"""EXTENDS Naturals
VARIABLES x, y
Twice(P, Q) == P /\ Q /\ P
Init == x = 0 /\ y = 0
Next == /\ y' \in {0, 1}
        /\ Twice(x < 3 \/ x < 4, x' = y' \/ x' = x)""",
    ),
    "FunctionOfFormulas": (
        (4, 2, 2),
        r"""EXTENDS Naturals
VARIABLES x, y
Init == x = 0 /\ y = 0
Next == /\ [i \in 1..2 |-> i = 1 \/ x = 0][1]
        /\ x' = 1 - x
        /\ y' = x'""",
    ),
}


def counts_of(program: ModuleProgram) -> tuple[int, int, int]:
    """Return generated, distinct and depth of a breadth-first search."""
    frontier: list[State] = []
    seen: set[object] = set()
    generated = depth = 0

    def visit(state: State, into: list[State]) -> None:
        identity = program.identity(state)
        if identity not in seen and program.is_in_model(state):
            seen.add(identity)
            into.append(state)

    for state in program.initial_states():
        generated += 1
        visit(state, frontier)
    while frontier:
        depth += 1
        following: list[State] = []
        for state in frontier:
            for step in program.successors(state):
                generated += 1
                visit(step.state, following)
        frontier = following
    return generated, len(seen), depth


@pytest.mark.parametrize("name", MODULES)
def test_counts_are_those_of_tlc(name: str, tmp_path: Path) -> None:
    expected, body = MODULES[name]
    path = tmp_path / f"{name}.tla"
    path.write_text(f"---- MODULE {name} ----\n{body}\n====\n")
    path.with_suffix(".cfg").write_text(CFG)
    assert counts_of(ModuleProgram(load_model(path, None))) == expected
