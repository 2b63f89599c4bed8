r"""A model value in SUBSET S: TLC stops there, unless a listed set beside it has the value. The referee was TLC."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.result import Verdict

MODULE = r"""---- MODULE Subsets ----
EXTENDS Naturals, Sequences
CONSTANT Nil
VARIABLES held, n
Init == held = {} /\ n = 0
Next == n < 3 /\ n' = n + 1 /\ held' = IF n = 2 THEN Nil ELSE {n}
Inv == PREDICATE
====
"""
STOPS = (
    "held \\in SUBSET {0, 1}",
    "held \\in SUBSET {0, 1} \\union SUBSET {2}",
    "held \\in SUBSET {0, 1} \\intersect SUBSET {0, 1, 2}",
    "held \\in (SUBSET {0, 1}) \\ {{2}}",
    "held \\in UNION {SUBSET {0}, SUBSET {1}}",
    "{held} \\subseteq SUBSET {0, 1}",
    "[a |-> held] \\in [a : SUBSET {0, 1}]",
)
HOLDS = (
    "held \\in SUBSET {0, 1} \\union {Nil}",
    "held \\in {Nil} \\union SUBSET {0, 1}",
    "held \\in UNION {SUBSET {0, 1}, {Nil}}",
    "held \\in SUBSET {0} \\union SUBSET {1} \\union {Nil}",
    "[a |-> held] \\in [a : SUBSET {0, 1} \\union {Nil}]",
    "\\A s \\in SUBSET {0, 1} : s # Nil",
)
NATIVE = (*STOPS[:1], *HOLDS[:2])
CASES = [(Engine.PYTHON, text) for text in (*STOPS, *HOLDS)] + [(Engine.NATIVE, text) for text in NATIVE]


@pytest.mark.parametrize(("engine", "predicate"), CASES)
def test_a_model_value_is_an_element_of_listed_sets_only(engine: Engine, predicate: str, tmp_path: Path) -> None:
    (tmp_path / "Subsets.tla").write_text(MODULE.replace("PREDICATE", predicate), encoding="utf-8")
    (tmp_path / "Subsets.cfg").write_text(
        "CONSTANT Nil = Nil\nINIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n"
    )
    request = ModuleRequest(tmp_path / "Subsets.tla", engine=engine, threads=1)
    verdict = Verdict.ERROR if predicate in STOPS else Verdict.OK
    assert check_module(request).result.verdict is verdict
