r"""Random TLA+ modules over a number, a set, a function, a sequence and a set of records, from a seed.

Actions have guards with several ways to be true, choices, branches, LET and operators, so that counts are at stake.
"""

from __future__ import annotations

import random

_HEAD = """---- MODULE Drawn ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANTS Proc, Nil
VARIABLES x, s, f, q, m, w
vars == <<x, s, f, q, m, w>>
Up(n) == IF n < 3 THEN n + 1 ELSE 0
Some(P(_)) == \\E e \\in 0..2 : P(e)
Either(a, b) == a \\/ b
Sent(k) == [kind |-> "note", n |-> k]
Init == /\\ x \\in 0..1
        /\\ s = {}
        /\\ f = [p \\in Proc |-> 0]
        /\\ q = <<>>
        /\\ m = {}
        /\\ w = Nil
"""
CONFIGURATION = """CONSTANTS Proc = {a, b}
Nil = Nil
INIT Init
NEXT Next
INVARIANT Inv
CONSTRAINT Small
"""


class _Drawing:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, depth: int = 2) -> str:
        if depth == 0:
            return self._random.choice(("x", "0", "1", "2", "Len(q)", "Cardinality(s)", "f[p]"))
        inner = self.number(depth - 1)
        return self._random.choice(
            (
                inner,
                f"Up({inner})",
                f"({inner} + {self.number(0)})",
                f"(IF {self.test(0)} THEN {inner} ELSE {self.number(0)})",
                f"(LET d{depth} == {inner} IN d{depth} + d{depth})",
                f"(CASE {self.test(0)} -> {inner} [] OTHER -> {self.number(0)})",
            )
        )

    def test(self, depth: int = 2) -> str:
        plain = (
            f"{self.number(0)} < {self.number(0)}",
            f"{self.number(0)} \\in s",
            "w = p",
            "w # Nil",
            f"\\E e \\in s : e > {self.number(0)}",
            f"\\A e \\in s : e <= {self.number(0)}",
            f"Sent({self._random.randrange(3)}) \\in m",
            f'\\E e \\in m : e.kind = "note" /\\ e.n = {self.number(0)}',
            f"Some(LAMBDA e : e = {self.number(0)})",
            f"[k \\in Proc |-> {self.number(0)}] = f",
            f"q # <<>> /\\ Head(q) = {self.number(0)}",
        )
        if depth == 0:
            return f"({self._random.choice(plain)})"
        left, right = self.test(depth - 1), self.test(depth - 1)
        return self._random.choice(
            (
                left,
                f"({left} \\/ {right})",
                f"({left} /\\ {right})",
                f"~{left}",
                f"({left} => {right})",
                f"Either({left}, {right})",
                f"(IF {left} THEN {right} ELSE {self.test(0)})",
                f"(\\A e \\in Proc : f[e] <= {self.number(0)} \\/ {left})",
            )
        )

    def small(self) -> str:
        return f"({self.number()}) % 3"

    def change(self, variable: str) -> str:
        change = {
            "x": (
                f"x' = {self.small()}",
                f"x' \\in {{{self.small()}, {self.small()}}}",
                "x' \\in {e \\in 0..2 : e # x}",
            ),
            "s": (
                f"s' = s \\union {{{self.small()}}}",
                "\\E e \\in SUBSET (0..1) : s' = e",
                f"s' = {{e \\in s : e # {self.number(0)}}}",
                f"s' = {{Up(e) % 3 : e \\in s}} \\ {{{self.small()}}}",
            ),
            "f": (
                f"f' = [f EXCEPT ![p] = {self.small()}]",
                f"f' = [e \\in Proc |-> IF e = p THEN f[e] ELSE {self.small()}]",
                "f' \\in [Proc -> 0..1]",
            ),
            "q": (
                f"q' = Append(q, {self.small()})",
                "/\\ q # <<>>\n           /\\ q' = Tail(q)",
                f"q' = SelectSeq(q, LAMBDA e : e # {self.number(0)})",
                f"q' = SubSeq(q, 1, Len(q) - 1) \\o <<{self.small()}>>",
            ),
            "m": (
                f"m' = m \\union {{Sent({self.small()})}}",
                "\\E e \\in m : m' = m \\ {e}",
                f"m' = {{e \\in m : e.n # {self.number(0)}}}",
            ),
            "w": ("w' = p", "w' = IF w = p THEN Nil ELSE p", "w' \\in Proc \\union {Nil}"),
        }
        return self._random.choice(change[variable])

    def action(self, number: int) -> str:
        changed = self._random.sample("xsfqmw", self._random.choice((1, 2, 3)))
        kept = [name for name in "xsfqmw" if name not in changed]
        lines = [f"/\\ {self.test()}", *(f"/\\ {self.change(name)}" for name in changed)]
        lines.append(f"/\\ UNCHANGED <<{', '.join(kept)}>>")
        return f"Act{number}(p) ==\n    " + "\n    ".join(lines) + "\n"

    def module(self) -> str:
        count = self._random.choice((2, 3))
        actions = [self.action(number) for number in range(count)]
        invariant = self.test()
        following = "\n".join(f"    \\/ \\E p \\in Proc : Act{number}(p)" for number in range(count))
        return (
            f"{_HEAD}\n{''.join(actions)}\nNext ==\n{following}\n"
            f"Inv == \\A p \\in Proc : {invariant}\n"
            f"Small == Len(q) <= 2 /\\ Cardinality(m) <= 2\n====\n"
        )


def drawn_module(seed: int) -> str:
    """Return the text of a random module; `CONFIGURATION` is its `.cfg` file."""
    return _Drawing(seed).module()
