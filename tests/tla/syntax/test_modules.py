r"""TLA+ modules: their units, modules inside of them, comments and proofs, and the errors where they cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.modules.shapes import shape

from kmc.errors import SpecError
from kmc.tla.syntax.modules import parse_module, parse_module_file
from kmc.tla.syntax.tree import DefinitionSyntax, FunctionDefinitionSyntax, ModuleSyntax, UnitSyntax

DATA = Path(__file__).parents[2] / "data" / "tla"


def module(*lines: str) -> ModuleSyntax:
    return parse_module("\n".join(["---- MODULE M ----", *lines, "===="]), "M.tla")


def units(*lines: str) -> tuple[UnitSyntax, ...]:
    return module(*lines).units


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("CONSTANT N, F(_, _), _ \\prec _, -. _, _ ^+", "Declaration(CONSTANT [N F/2 \\prec/2 -./1 ^+/1])"),
        ("VARIABLES x, y", "Declaration(VARIABLE [x y])"),
        ("RECURSIVE Sum(_)", "Declaration(RECURSIVE [Sum/1])"),
        ("ASSUME N > 0", "Assumption(Infix(> N 0))"),
        ("AXIOM Pos == N > 0", "Assumption(Pos Infix(> N 0) True)"),
        ("Init == x = 0", "Definition(Init Infix(= x 0))"),
        ("Op(a, F(_), _ + _) == a", "Definition(Op [a F/1 +/2] a)"),
        ("a \\prec b == a", "Definition(\\prec [a b] a)"),
        ("a ++ b == a", "Definition(++ [a b] a)"),
        ("-. a == a", "Definition(-. [a] a)"),
        ("a ^# == a", "Definition(^# [a] a)"),
        ("LOCAL f[x \\in S, y \\in T] == x", "FunctionDefinition(f [Bound([x] S) Bound([y] T)] x True)"),
        ("LOCAL INSTANCE Naturals", "Instance(Naturals True)"),
        ("INSTANCE N WITH a <- b + 1, + <- F, G <- LAMBDA x: x",
         "Instance(N [Substitution(a Infix(+ b 1)) Substitution(+ F) Substitution(G Lambda([x] x))])"),
        ("INSTANCE N WITH F <- +", "Instance(N [Substitution(F OperatorSymbol(+))])"),
        ("I(x, F(_)) == INSTANCE N", "Instance(N I [x F/1])"),
        ("---- MODULE Inner ----\nVARIABLE z\n====", "Module(Inner [Declaration(VARIABLE [z])])"),
        ("THEOREM Safe == Spec => []Inv", "Theorem(Safe Infix(=> Spec Prefix([] Inv)))"),
    ],
)  # fmt: skip
def test_a_unit_is_read(text: str, read: str) -> None:
    assert [shape(unit) for unit in units(text)] == [read]


def test_a_file_is_read_from_its_first_module_to_the_end_of_it() -> None:
    text = 'prose with " and (* in it\n  ------- MODULE M -----\nEXTENDS A, B\nx == 1\n-----\ny == 2\n=====\n" (* and'
    assert shape(parse_module(text, "M.tla")) == "Module(M [A B] [Definition(x 1) Definition(y 2)])"


def test_a_definition_in_a_line_of_its_own_ends_the_one_before() -> None:
    found = units("a == x", "b == /\\ a", "     /\\ a", "c == a", "d \\cup e == a")
    assert [unit.name for unit in found if isinstance(unit, DefinitionSyntax)] == ["a", "b", "c", "\\union"]


PROOF = """
THEOREM Thm == ASSUME NEW x PROVE
P(x)
<1>1. CASE a = b
  <2> DEFINE Q == 1
             R == 2
  BY <1>1 DEF P
<1> QED OBVIOUS
USE DEF P, Q
HIDE R
LEMMA
ASSUME NEW S, S = {}
PROVE S = {}
  OMITTED
after(x) == x
PROPOSITION TRUE BY after(1), \\E x: "
f[x \\in {1}] == x
THEOREM FALSE
a ++ b == a
THEOREM FALSE
-. b == b
THEOREM FALSE
a ^+ == a
COROLLARY 1 = 1
VARIABLE v
"""


def test_proofs_are_skipped() -> None:
    found = units(*PROOF.splitlines())
    names = [shape(unit).split(maxsplit=1)[0] for unit in found]
    assert names == [
        *("Theorem(Thm)", "Theorem()", "Definition(after", "Theorem()", "FunctionDefinition(f", "Theorem()"),
        *(
            "Definition(++",
            "Theorem()",
            "Definition(-.",
            "Theorem()",
            "Definition(^+",
            "Theorem()",
            "Declaration(VARIABLE",
        ),
    ]


COMMENTS = """
x == 1 \\* behind x
y == 2
\\* one
\\* two
z == 3
(***************)
(* boxed words *)
(***************)
f[a \\in {1}] == a
(* first
   * second
 *)
\\* third
w == 4

\\* far

v == 5
"""


def test_the_comment_above_a_definition_is_kept() -> None:
    found = units(*COMMENTS.splitlines())
    comments = {
        unit.name: unit.comment for unit in found if isinstance(unit, DefinitionSyntax | FunctionDefinitionSyntax)
    }
    assert comments == {
        "x": "", "y": "", "z": "one\ntwo", "f": "boxed words", "w": "first\nsecond\nthird", "v": "",
    }  # fmt: skip


def test_a_definition_has_the_place_of_its_name() -> None:
    (first, second) = units("", "  a \\prec b == a", "LOCAL Op(x) == x")
    assert (first.place.line, first.place.column, first.place.end_column) == (3, 5, 10)
    assert (second.place.line, second.place.column, second.place.end_column) == (4, 7, 9)


A_UNIT = "expected a definition, a declaration or '====' at the end of the module"


@pytest.mark.parametrize(
    ("lines", "line", "column", "message"),
    [
        (["x == 1 +", "y == 2"], 3, 3, f"{A_UNIT}, found '=='"),
        (["x = 1"], 2, 3, "expected '==' and the meaning of 'x', found '='"),
        (["x == 1", ")"], 3, 1, f"{A_UNIT}, found ')'"),
        (["Op(1) == 2"], 2, 4, "expected a name or an operator, found '1'"),
        (["CONSTANT F(_, x)"], 2, 15, "expected '_', found 'x'"),
        (["CONSTANT _ ( _"], 2, 12, "expected an operator after '_', found '('"),
        (["VARIABLE IF"], 2, 10, "expected the name of a variable, found 'IF'"),
        (["INSTANCE 1"], 2, 10, "expected the name of a module, found '1'"),
        (["INSTANCE N WITH 1 <- 2"], 2, 17, "expected a constant or a variable of the instance, found '1'"),
        (["INSTANCE N WITH a = 2"], 2, 19, "expected '<-' after the name that is substituted, found '='"),
        (["f[x] == 1"], 2, 4, "expected '\\in' and a set after the names, found ']'"),
        (["---- MODULE 1"], 2, 13, "expected the name of the module, found '1'"),
        (["---- MODULE A"], 3, 1, "expected '----' after MODULE A, found '===='"),
        (["---- MODULE A ----"], 3, 5, "expected '====' at the end of module M, found the end of the text"),
        (["x == (* never closed"], 2, 6, "expected an expression, found a comment that is not closed"),
    ],
)  # fmt: skip
def test_a_module_that_cannot_be_read_is_an_error_at_its_token(
    lines: list[str], line: int, column: int, message: str
) -> None:
    with pytest.raises(SpecError) as caught:
        module(*lines)
    error = caught.value
    assert error.span is not None
    assert (error.code, error.message) == ("KMC001", message)
    assert (error.span.path, error.span.line, error.span.column) == ("M.tla", line, column)


def test_a_token_that_its_list_hides_gets_a_help_line() -> None:
    with pytest.raises(SpecError) as caught:
        units("x == /\\ (1", "  + 2)")
    assert caught.value.help is not None
    assert "a list ends at a token that is not right of its signs" in caught.value.help


def test_modules_nested_too_deeply_are_one_clear_error() -> None:
    with pytest.raises(SpecError, match="KMC003"):
        parse_module("---- MODULE M ----\n" * 5000, "M.tla")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the module"),
        (b"\xff", "is not UTF-8"),
        (b"x == 1\n", r"has no TLA\+ module"),
        (b"", r"has no TLA\+ module"),
    ],
)
def test_a_file_without_a_module_is_a_clear_error(content: bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "M.tla"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SpecError, match=message) as caught:
        parse_module_file(path)
    assert caught.value.code == "KMC004"
    assert str(path) in caught.value.message


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.tla")), ids=lambda path: path.stem)
def test_the_modules_of_the_tests_are_read(path: Path) -> None:
    assert parse_module_file(path).name == path.stem
