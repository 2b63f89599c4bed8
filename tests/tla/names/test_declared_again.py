r"""Modules that declare again what a module that they extend declares."""

from __future__ import annotations

from pathlib import Path

from support.modules.three_ways import check_ways

EXTENDED = r"""---- MODULE Counter ----
EXTENDS Naturals
CONSTANT N
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % N
====
"""
MODULE = r"""---- MODULE Protocol ----
EXTENDS Counter
CONSTANT N
VARIABLES y, x
InitBoth == Init /\ y = 0
NextBoth == Next /\ y' = IF x = 0 THEN 1 - y ELSE y
Small == x < N
====
"""


def test_a_variable_that_is_declared_twice_is_one_variable(tmp_path: Path) -> None:
    (tmp_path / "Counter.tla").write_text(EXTENDED, encoding="utf-8")
    checked = check_ways(tmp_path, MODULE, "CONSTANT N = 3\nINIT InitBoth\nNEXT NextBoth\nINVARIANT Small\n")
    assert checked.differences() == []
    assert not checked.is_refused
    # These are TLC's figures.
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [7, 6, 6]


def test_two_modules_that_are_extended_may_declare_one_variable(tmp_path: Path) -> None:
    for name, step in (("One", 1), ("Two", 2)):
        text = (
            f"---- MODULE {name} ----\nEXTENDS Naturals\nVARIABLE x\nInit{name} == x = 0\n"
            f"Next{name} == x' = (x + {step}) % 3\n===="
        )
        (tmp_path / f"{name}.tla").write_text(text, encoding="utf-8")
    body = "EXTENDS One, Two\nInit == InitOne /\\ InitTwo\nNext == NextOne \\/ NextTwo\nSmall == x < 3"
    module = f"---- MODULE Protocol ----\n{body}\n===="
    checked = check_ways(tmp_path, module, "INIT Init\nNEXT Next\nINVARIANT Small\n")
    assert checked.differences() == []
    # These are TLC's figures.
    assert [checked.module[key] for key in ("generated", "distinct", "depth")] == [7, 3, 2]
