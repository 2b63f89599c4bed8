"""Loops assign at most three names at once: Python makes a tuple of more, which `native.translate` leaves out.

A process that has imported more of numba translates such a loop too, so that no test of its answers fails.
"""

from __future__ import annotations

import ast

import pytest
from support.source_tree import Source, sources, tree_of

NAMES_MAX = 3


def wide_assignments(source: Source) -> list[str]:
    """The assignments of more names at once in functions that are translated."""
    return [
        f"{source.path}:{node.lineno}"
        for function in ast.walk(tree_of(source))
        if isinstance(function, ast.FunctionDef)
        and any(isinstance(mark, ast.Name) and mark.id == "inlined" for mark in function.decorator_list)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
        if len(node.targets[0].elts) > NAMES_MAX
    ]


def test_no_loop_makes_a_tuple() -> None:
    assert [place for source in sources("kmc") for place in wide_assignments(source)] == []


@pytest.mark.parametrize("names", [3, 4])
def test_a_wide_assignment_is_found(names: int) -> None:
    left = ", ".join("abcd"[:names])
    text = f"@inlined\ndef f(x: int) -> int:\n    {left} = {', '.join(['x'] * names)}\n    return a\n"
    assert len(wide_assignments(Source("kmc/x.py", text))) == (names > NAMES_MAX)
