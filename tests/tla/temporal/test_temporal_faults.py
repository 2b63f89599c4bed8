"""Planted faults in the reading of formulas and in the behaviour graph: a golden case or the replay finds each one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.specs.modules import result_of
from tla.temporal.test_golden_modules import CASES

from kmc.checking.modules.module_graph import ModuleGraph
from kmc.errors import InternalError
from kmc.liveness.formulas import And, Fair, Formula, LeadsTo
from kmc.tla.resolved.nodes import AngleActionExpr, EnabledExpr, Expression, FairnessExpr
from kmc.tla.temporal import module_problem
from kmc.tla.temporal.formula_reader import FormulaReader
from kmc.tla.temporal.scopes import FormulaClosing, TemporalScope

Fault = Callable[[pytest.MonkeyPatch], None]


def strong_for_weak(monkeypatch: pytest.MonkeyPatch) -> None:
    """WF is read as SF."""
    read = FormulaReader._fair

    def fair(reader: FormulaReader, expression: FairnessExpr, scope: TemporalScope) -> Fair:
        return replace(read(reader, expression, scope), strong=True)

    monkeypatch.setattr(FormulaReader, "_fair", fair)


def stuttering_enables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fairness takes ENABLED A for ENABLED <<A>>_v."""
    closed = FormulaClosing.closed

    def without_subscript(closing: FormulaClosing, expression: Expression, scope: TemporalScope) -> Expression:
        if isinstance(expression, EnabledExpr) and isinstance(expression.action, AngleActionExpr):
            expression = EnabledExpr(action=expression.action.action, place=expression.place)
        return closed(closing, expression, scope)

    monkeypatch.setattr(FormulaClosing, "closed", without_subscript)


def fairness_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the specification assumes is dropped."""

    def none(_: Formula) -> Iterator[Formula]:
        return iter(())

    monkeypatch.setattr(module_problem, "_conditions", none)


def last_step_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The graph lacks the last step of each state."""
    made = ModuleGraph.of

    def of(*arguments: Any) -> ModuleGraph:
        graph = made(*arguments)
        return replace(graph, successors=[targets[:-1] for targets in graph.successors])

    monkeypatch.setattr(ModuleGraph, "of", of)


def premise_negated(monkeypatch: pytest.MonkeyPatch) -> None:
    """P ~> Q is read as []<>Q."""
    read = FormulaReader.formula

    def formula(reader: FormulaReader, expression: Expression, scope: TemporalScope | None = None) -> Formula:
        found = read(reader, expression, scope)
        return replace(found, premise=And(())) if isinstance(found, LeadsTo) else found

    monkeypatch.setattr(FormulaReader, "formula", formula)


FAULTS: tuple[Fault, ...] = (
    strong_for_weak,
    stuttering_enables,
    fairness_forgotten,
    last_step_dropped,
    premise_negated,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_golden_case_or_the_replay_finds_the_fault(
    fault: Fault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fault(monkeypatch)
    assert any(_is_found(case, tmp_path) for case in CASES.values())


def _is_found(case: dict[str, Any], folder: Path) -> bool:
    try:
        status = int(result_of(folder, case["module"], case["cfg"]).exit_status())
    except InternalError:
        return True
    expected: int = case["exit"]
    return status != expected and expected != 255
