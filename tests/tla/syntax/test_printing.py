r"""TLA+ trees as text: what is printed is read as the same tree, with parentheses where they are needed only."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from support.drawing.module_trees import expressions, modules

from kmc.tla.syntax.modules import parse_expression_text, parse_module, parse_module_file
from kmc.tla.syntax.printing import print_expression, print_module
from kmc.tla.syntax.tree import ExpressionSyntax, ModuleSyntax

DATA = Path(__file__).parents[2] / "data" / "tla"


@pytest.mark.slow
@given(expressions())
def test_a_printed_expression_is_read_as_the_same_tree(tree: ExpressionSyntax) -> None:
    assert parse_expression_text(print_expression(tree)) == tree


@pytest.mark.slow
@given(modules())
def test_a_printed_module_is_read_as_the_same_tree(tree: ModuleSyntax) -> None:
    assert parse_module(print_module(tree), "M.tla") == tree


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.tla")), ids=lambda path: path.stem)
def test_a_module_of_the_tests_is_printed_and_read_again(path: Path) -> None:
    tree = parse_module_file(path)
    assert parse_module(print_module(tree), "M.tla") == tree


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("((a + b)) * c", "(a + b) * c"),
        ("(a * b) + c", "a * b + c"),
        ("a - (b - c)", "a - (b - c)"),
        ("(a - b) - c", "a - b - c"),
        ("a => (\\E x \\in S: x)", "a => \\E x \\in S : x"),
        ("(\\E x \\in S: x) => a", "(\\E x \\in S : x) => a"),
        ("a /\\ (~b)", "a /\\ ~b"),
        ("(~a) = b", "(~a) = b"),
        ("a = (~b)", "a = ~b"),
        ("(a = ~b) /\\ c", "a = (~b) /\\ c"),
        ("2 ^ (-1)", "2 ^ (-1)"),
        ("- (-a)", "- -a"),
        ("[](<>P)", "[]<>P"),
        ("(x + y)'", "(x + y)'"),
        ("(f[x]).a'", "f[x].a'"),
        ("(A \\X B) \\X C", "(A \\X B) \\X C"),
        ("F(+, -.)", "F( +, -. )"),
        ("IF a THEN (IF b THEN c ELSE d) ELSE e", "IF a THEN IF b THEN c ELSE d ELSE e"),
        ("[](x = 1) /\\ [][Next]_(x)", "[](x = 1) /\\ [][Next]_x"),
        ("/\\ a\n/\\ \\/ b\n   \\/ c", "/\\ a\n/\\ \\/ b\n   \\/ c"),
        ("(/\\ a\n /\\ b) => c", "(/\\ a\n /\\ b) => c"),
        ("LET x == 1 y == 2 IN x", "LET x == 1\n    y == 2\nIN  x"),
    ],
)
def test_parentheses_stand_where_they_are_needed(text: str, printed: str) -> None:
    assert print_expression(parse_expression_text(text)) == printed
