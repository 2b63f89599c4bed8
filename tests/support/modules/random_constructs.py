r"""Random TLA+ modules of rarer constructs, from a seed: instances with parameters, ENABLED, CHOOSE, nested EXCEPT.

The variables are a number, a record with a sequence, a function of pairs, and a set of pairs. LETs have definitions
that only guards make safe, and conjuncts that no value makes true come behind assignments.
"""

from __future__ import annotations

import random

_HEAD = r"""---- MODULE Rare ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Proc, Nil
VARIABLES x, r, g, z
---- MODULE Part ----
CONSTANT k
VARIABLES u, t
Inc(v) == v' = (v + k) % 3
Both == Inc(u) /\ UNCHANGED t
Grow == t' = Append(t, u) /\ u' = u
CanBoth == ENABLED Both
CanGrow == ENABLED <<Grow>>_t
CanLow == ENABLED (Inc(u) /\ u' < k /\ t' = t)
Old == u # k
====
P(i) == INSTANCE Part WITH k <- i, u <- x, t <- r.log
Q(v) == INSTANCE Part WITH k <- 1, u <- v, t <- r.log
vars == <<x, r, g, z>>
RECURSIVE Sum(_)
Sum(q) == IF q = <<>> THEN 0 ELSE Head(q) + Sum(Tail(q))
RECURSIVE Down(_)
Down(n) == IF n <= 0 THEN 0 ELSE 1 + Down(n - 2)
Apply(F(_), v) == F(v)
Init == /\ x \in 0..1
        /\ r = [log |-> <<>>, top |-> 0]
        /\ g = [c \in Proc \X (0..1) |-> 0]
        /\ z = {}
"""


class _Drawing:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def _one(self, *choices: str) -> str:
        return self._random.choice(choices)

    def number(self, depth: int = 2) -> str:
        if depth == 0:
            return self._one("x", "0", "1", "2", "Len(r.log)", "r.top", "g[p, 0]", "g[<<p, 1>>]", "Cardinality(z)")
        inner, other = self.number(depth - 1), self.number(0)
        return self._one(
            inner,
            f"({inner} + {other})",
            f"(CHOOSE e \\in 0..3 : e >= {inner} \\/ e = 3)" if self._random.random() < 0.2 else f"({inner} * 1)",
            f"(CHOOSE e \\in 0..2 : e = ({inner}) % 3)",
            "Sum(r.log)",
            f"Down({inner})",
            f"(LET h == Head(r.log) IN IF r.log # <<>> THEN h ELSE {inner})",
            f"(LET h == r.log[2] n == Len(r.log) IN IF n > 1 /\\ h > 0 THEN h ELSE {inner})",
            f"(LET d(n) == n + {other} IN d({inner}))",
            f"Cardinality({{<<{inner}, {other}>>, <<1, 2>>}})",
            f"Cardinality(SUBSET ({{{inner}}} \\union {{1}}))",
            f"Apply(LAMBDA e : e + {other}, {inner})",
        )

    def test(self, depth: int = 2) -> str:
        if depth == 0:
            other = self.number(0)
            return self._one(
                f"{self.number(0)} < {other}",
                f"<<p, {other}>> \\in z",
                "\\E c \\in z : c[1] = p",
                f"\\A c \\in Proc \\X (0..1) : g[c] <= {other}",
                f"\\E <<o, n>> \\in z : n = {other} /\\ o # p",
                f"[r EXCEPT !.top = {other}] = r",
                f"{{{other}}} \\in SUBSET (0..1)",
                f"P({self._one('1', '2')})!{self._one('CanBoth', 'CanGrow', 'CanLow', 'Old')}",
                f"Q({self._one('x', 'r.top', '2', 'x + 1')})!{self._one('CanBoth', 'CanGrow', 'CanLow', 'Old')}",
                f"ENABLED (x' = {other} /\\ x' # x /\\ UNCHANGED <<r, g, z>>)",
                f"ENABLED (x' \\in {{{other}, 1}} /\\ \\E c \\in z : z' = {{c}} /\\ c[2] = x')",
                f"(LET h == r.log[1] IN r.log # <<>> /\\ h = {other})",
                f"(LET ok == Len(r.log) > 1 h == r.log[2] IN ok /\\ h # {other})",
                f"(CHOOSE e \\in 0..2 : e = ({other}) % 3) < 2",
                f"r.log \\in Seq(0..1) /\\ \\E i \\in DOMAIN r.log : r.log[i] = {other}",
            )
        left, right = self.test(depth - 1), self.test(0)
        return self._one(
            left,
            f"(({left}) \\/ ({right}))",
            f"(({left}) /\\ ({right}))",
            f"~({left})",
            f"(({left}) => ({right}))",
            f"(({left}) <=> ({right}))",
            f"(LET one == ({left}) two == ({right}) IN one \\/ two)",
        )

    def small(self) -> str:
        return f"({self.number()}) % 3"

    def change(self, variable: str) -> str:
        value = self.small()
        changes = {
            "x": (
                f"x' = {value}",
                f"x' \\in {{e \\in {{{value}, 1, 2}} : e # x}}",
                f"Apply(LAMBDA v : v' = (v + {self.number(0)}) % 3, x)",
                "\\E <<o, n>> \\in z : x' = n /\\ o = p",
            ),
            "r": (
                f"r' = [r EXCEPT !.log = Append(@, {value}), !.top = @ + 1]",
                f"r' = [r EXCEPT !.log = SubSeq(@, 2, Len(@)), !.top = {value}]",
                f"(LET i == Len(r.log) IN i > 0 /\\ r' = [r EXCEPT !.log[i] = {value}])",
                f"(LET n == Append(r.log, {value}) IN r' = [log |-> n, top |-> n[1]])",
                "r' = [log |-> r.log \\o r.log, top |-> 0]",
            ),
            "g": (
                f"g' = [g EXCEPT ![p, 0] = {value}, ![<<p, 1>>] = @ + 1]",
                "g' = [g EXCEPT ![p, x % 2] = (@ + x) % 3]",
                "\\E c \\in DOMAIN g : g' = [g EXCEPT ![c] = 1 - (@ % 2)]",
            ),
            "z": (
                f"z' = z \\union {{<<p, {value}>>}}",
                f"z' = {{c \\in z : c[2] # {self.number(0)}}}",
                f"z' = Proc \\X {{{value}}}",
                "\\E y \\in SUBSET z : z' = y",
                f"z' = {{<<c[1], {value}>> : c \\in z}}",
                f"z' = UNION {{z, {{<<p, {value}>>}}}}",
            ),
        }
        return self._random.choice(changes[variable])

    def after(self, changed: list[str]) -> list[str]:
        """Draw a conjunct behind the assignments, which may never be true."""
        if self._random.random() < 0.6:
            return []
        tests = {
            "x": f"x' # {self.number(0)}",
            "r": f"r'.top < {self.number(0)}",
            "g": "g'[p, 0] # g[p, 0]",
            "z": f"<<p, {self.number(0)}>> \\in z'",
        }
        return [f"/\\ {tests[self._random.choice(changed)]}"]

    def action(self, number: int) -> str:
        changed = self._random.sample("xrgz", self._random.choice((1, 2, 3)))
        kept = [name for name in "xrgz" if name not in changed]
        lines = [f"/\\ ({self.test()})", *(f"/\\ {self.change(name)}" for name in changed), *self.after(changed)]
        lines.append(f"/\\ UNCHANGED <<{', '.join(kept)}>>")
        return f"Act{number}(p) ==\n    " + "\n    ".join(lines) + "\n"

    def module(self) -> str:
        count = self._random.choice((2, 3))
        actions = "".join(self.action(number) for number in range(count))
        following = "\n".join(f"    \\/ \\E p \\in Proc : Act{number}(p)" for number in range(count))
        return (
            f"{_HEAD}\n{actions}\nNext ==\n{following}\n"
            f"Inv == \\A p \\in Proc : ({self.test()})\n"
            "Small == Len(r.log) <= 2 /\\ r.top <= 2 /\\ Cardinality(z) <= 2\n"
            "         /\\ \\A c \\in DOMAIN g : g[c] <= 2\n====\n"
        )


def rare_module(seed: int) -> str:
    """Return the text of a random module; `random_modules.CONFIGURATION` is its `.cfg` file."""
    return _Drawing(seed).module()
