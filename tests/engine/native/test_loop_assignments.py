"""Loops assign at most three names at once, and no constants: else Python makes a tuple, which numba does not
translate.

kmc's own translation has no such bound. Tests compare its loops with numba's, so both need to translate them.
"""

from __future__ import annotations

import ast

import pytest
from support.source_tree import Source, sources, tree_of

NAMES_MAX = 3


def tuples_made(source: Source) -> list[str]:
    """The assignments for which Python makes a tuple, in modules of functions that are translated."""
    if "@inlined" not in source.text:
        return []
    return [
        f"{source.path}:{node.lineno}"
        for node in ast.walk(tree_of(source))
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
        if len(node.targets[0].elts) > NAMES_MAX or _is_constant(node.value)
    ]


def _is_constant(value: ast.expr) -> bool:
    return isinstance(value, ast.Tuple) and all(isinstance(part, ast.Constant) for part in value.elts)


def test_no_loop_makes_a_tuple() -> None:
    assert [place for source in sources("kmc") for place in tuples_made(source)] == []


@pytest.mark.parametrize(
    ("line", "found"),
    [("a, b, c = x, x, x", 0), ("a, b, c, d = x, x, x, x", 1), ("a, b = 0, 1", 1), ("a, b = 0, x", 0)],
)
def test_an_assignment_that_makes_a_tuple_is_found(line: str, found: int) -> None:
    source = Source("kmc/x.py", f"@inlined\ndef f(x: int) -> int:\n    {line}\n    return a\n")
    assert len(tuples_made(source)) == found
