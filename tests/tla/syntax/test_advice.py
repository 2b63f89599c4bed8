r"""The help of errors about texts that are not TLA+, where a habit of other languages explains the mistake."""

from __future__ import annotations

import pytest

from kmc.errors import SpecError
from kmc.tla.syntax.modules import parse_module

START = "---- MODULE M ----\n"
END = "\n===="


def help_of(text: str) -> str:
    """Return the help of the error of a text."""
    with pytest.raises(SpecError, match=r"KMC00[12]") as caught:
        parse_module(text, "M.tla")
    assert caught.value.help is not None
    return caught.value.help


@pytest.mark.parametrize(
    ("body", "help_line"),
    [
        ("a == b /\\ c == d", "an equation has one sign, ="),
        ("Init == /\\ x == 1", "an equation has one sign, ="),
        ("CONSTANT N = 3", "the .cfg file gives a constant its value"),
        ("a := 3", "a definition has the sign =="),
        ("a = 3", "a definition has two signs, =="),
        ("INVARIANT Safe", "INVARIANT is a section of the .cfg file"),
        ("a == if b then c else d", "TLA+ writes THEN in capitals"),
        ("a == b\nc d", "'c' begins a definition here"),
        ("a == b\nLET c == 1 IN c", "an expression ends before it"),
        ("a == (b))", "closes nothing that is open here"),
        ("a == LET b == 1; c == 2 IN b", "follow each other without a sign between them"),
        ("a == LET b == 1, c == 2 IN b", "follow each other without a sign between them"),
        ("a == (b; c)", "TLA+ has no ';'"),
        ("a == 1\nEXTENDS Naturals", "right behind the first line of the module"),
        ("a == S -> T", "a set of functions has brackets: [S -> T]"),
        ("a == [b \\/ c]", "need its subscript: [A]_v"),
        ("a == [b \\in S : c]", "a function has |-> behind its bounds"),
        ("a == [1 |-> 2]", "(1 :> a) @@ (2 :> b)"),
        ("a == {b : b \\in S, b # 1}", "for both, nest the two"),
        ("a == {b : b \\in S : b > 1}", "for both, nest the two"),
        ("a == \\E b \\subseteq S : TRUE", "write \\in SUBSET S"),
        ("a == CHOOSE b \\subseteq S : TRUE", "write \\in SUBSET S"),
        ("a == CHOOSE b \\in S", "where P may be TRUE"),
        ("a == << b : b \\in S >>", "[i \\in 1..n |-> e]"),
        ("a == [b \\in S |-> 1 EXCEPT ![2] = 3]", "[[x \\in S |-> e] EXCEPT ![y] = d]"),
        ("a == IF b THEN c\nd == 1", "every IF has a THEN and an ELSE"),
        ("a == #S = 2", "the size of a set is Cardinality(S)"),
        ("a == RECURSIVE f(_)", "stands on its own before the definition"),
        ("a == {b \\in S : b \\neq 1}", "\\neq is not an operator of TLA+"),
        ("a == \\le b", "\\le is not an operator of TLA+"),
        ('a == "b', 'close it with "'),
        ("(* a", "close it with *)"),
        ("a == 1 <= b <= 2", "a <= b /\\ b <= c"),
        ("a == b < c = d", "a < b /\\ b = c"),
        ("a == b /\\ c \\/ d", "put parentheses around one of the two operations"),
    ],
)
def test_a_habit_of_other_languages_has_its_help(body: str, help_line: str) -> None:
    assert help_line in help_of(START + body + END)


def test_the_name_of_a_module_stands_between_dashes() -> None:
    assert "---- MODULE Name ----" in help_of("---- MODULE M\nEXTENDS Naturals\n====")


def test_a_mistake_without_a_known_habit_has_no_help() -> None:
    with pytest.raises(SpecError) as caught:
        parse_module(START + "a == [b \\in S |-> c}" + END, "M.tla")
    assert caught.value.help is None
