"""Temporal properties of modules on the native engine: the interpreter's verdicts, fairness, warnings and lassos.

The modules are some of TLC's golden ones; `test_golden_modules` has all of them on the interpreter.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.specs.modules import written_module

from kmc.checking.modules import native_translation
from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.request import Engine
from kmc.errors import EvaluationError, InternalError, SpecError
from kmc.result import Result
from kmc.tla.translate.translated import TranslatedModel, translate_model

_CASES = json.loads((Path(__file__).parents[2] / "data/golden/liveness/public.json").read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in _CASES if case["kind"] == "d"}
CHOSEN = (
    "d22_sf_exists",
    "d25_pairs_sf",
    "d61_forall_gf",
    "d71_mutex_sf_one_a",
    "d72_mutex_norec",
    "d80_false_init_only",
)
LAMP = """---- MODULE Lamp ----
EXTENDS Naturals
VARIABLES lamp, presses
Init == lamp = "off" /\\ presses = 0
Press == presses < 3 /\\ lamp' = (IF lamp = "off" THEN "on" ELSE "off") /\\ presses' = presses + 1
Rest == presses = 3 /\\ presses' = 0 /\\ UNCHANGED lamp
Next == Press \\/ Rest
vars == <<lamp, presses>>
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Press) /\\ WF_vars(Rest)
Lights == []<>(lamp = "on")
Tires == (presses = 1) ~> (~ENABLED Press)
Stays == <>[](lamp = "on")
Cases == []<>(ENABLED (CASE lamp = "on" -> presses' = 1 /\\ presses # 1 [] OTHER -> presses' = 0 /\\ presses > 1))
Divides == (lamp = "on") ~> (6 \\div (presses - 2) > 3)
Compares == []<>(presses = lamp)
Steps == <>[][6 \\div (presses' - 2) > 3]_presses
Few == presses < 3
Odd == <>(ENABLED (\\A i \\in {presses} : presses' = i))
====
"""
CFG = "SPECIFICATION Spec\nCHECK_DEADLOCK FALSE\n"


def checked(folder: Path, module: str, cfg: str, engine: Engine) -> Result:
    """Check a module, given as texts."""
    path, configuration = written_module(folder, module, cfg)
    return check_module(ModuleRequest(path, configuration, engine=engine, threads=1, deadlock=False)).result


def answers(result: Result) -> tuple[object, ...]:
    """Return what a result says of temporal properties, without the states of a lasso, and counts of a whole search."""
    violation = result.violation
    lasso = None
    if violation is not None:
        refutation = violation.refutation
        cycle = None if refutation is None else refutation.cycle
        back_to = None if cycle is None else cycle.back_to
        lasso = (violation.name, violation.verdict, len(violation.trace), violation.is_step, back_to)
    counts = (result.counters.generated, result.counters.distinct, result.levels) if violation is None else ()
    return (
        result.exit_status(),
        lasso,
        counts,
        result.properties,
        result.fairness,
        result.cut_fairness,
        result.vacuous,
        result.bound,
    )


@pytest.mark.parametrize("name", CHOSEN)
def test_golden_modules_have_the_verdicts_of_the_interpreter(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    ours, theirs = (checked(tmp_path, case["module"], case["cfg"], engine) for engine in (Engine.NATIVE, Engine.PYTHON))
    assert ours.exit_status() == case["exit"]
    assert answers(ours) == answers(theirs)


@pytest.mark.parametrize("lines", ["PROPERTIES Lights Tires", "PROPERTY Stays", "PROPERTY Cases\nCONSTRAINT Few"])
def test_atoms_of_strings_and_enabled_actions_are_translated(lines: str, tmp_path: Path) -> None:
    ours, theirs = (checked(tmp_path, LAMP, CFG + lines, engine) for engine in (Engine.NATIVE, Engine.PYTHON))
    assert answers(ours) == answers(theirs)
    assert (ours.violation is None) == ("Stays" not in lines)


def test_states_of_a_lasso_are_those_of_the_module(tmp_path: Path) -> None:
    ours, theirs = (
        checked(tmp_path, LAMP, f"{CFG}PROPERTY Stays", engine) for engine in (Engine.NATIVE, Engine.PYTHON)
    )
    assert ours.violation is not None
    assert theirs.violation is not None
    assert ours.violation.trace == theirs.violation.trace
    assert ours.violation.refutation == theirs.violation.refutation


@pytest.mark.parametrize("name", ["Divides", "Compares", "Steps"])
def test_a_formula_without_a_value_is_the_error_of_the_module(name: str, tmp_path: Path) -> None:
    errors: list[EvaluationError] = []
    for engine in (Engine.NATIVE, Engine.PYTHON):
        with pytest.raises(EvaluationError) as stopped:
            checked(tmp_path, LAMP, f"{CFG}PROPERTY {name}", engine)
        errors.append(stopped.value)
    ours, theirs = errors
    assert (ours.code, ours.message, ours.span, ours.notes) == (theirs.code, theirs.message, theirs.span, theirs.notes)


def test_an_atom_that_cannot_be_translated_is_refused_at_its_place(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        checked(tmp_path, LAMP, f"{CFG}PROPERTY Odd", Engine.NATIVE)
    assert refused.value.code == "KMC812"
    assert refused.value.span is not None
    assert refused.value.span.line == 18


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return st.presses == 1", "return st.presses == 2"),
        ("nxt.presses == st.presses + 1", "nxt.presses == st.presses"),
    ],
)
def test_a_wrong_atom_is_refused(before: str, after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def translate(*given: Any, **more: Any) -> TranslatedModel:
        model = translate_model(*given, **more)
        text = model.folder.files["spec.py"]
        assert before in text, text
        return replace(
            model,
            folder=replace(
                model.folder,
                files={"spec.py": text.replace(before, after)}
                | {name: other for name, other in model.folder.files.items() if name != "spec.py"},
            ),
        )

    monkeypatch.setattr(native_translation, "translate_model", translate)
    with pytest.raises(InternalError, match="differ in the truth of") as refused:
        checked(tmp_path, LAMP, f"{CFG}PROPERTY Tires", Engine.NATIVE)
    assert refused.value.code == "KMC944"


COUNTER = r"""---- MODULE Counter ----
EXTENDS Naturals
CONSTANT Forgetful
VARIABLES count, flag
Init == count = 0 /\ flag = FALSE
Step == CASE count < 2 -> count' = count + 1 /\ flag' = ~flag
          [] count = Forgetful -> count' = 0
          [] OTHER -> FALSE /\ UNCHANGED <<count, flag>>
vars == <<count, flag>>
Spec == Init /\ [][Step]_vars /\ WF_vars(Step)
Ends == <>(count = 2)
====
"""


def test_a_way_that_forgets_a_variable_stops_a_check_once_a_state_enables_it(tmp_path: Path) -> None:
    """Both engines stop at the action, with a trace to the state, before a formula is asked for a value there."""
    cfg = f"{CFG}CONSTANT Forgetful = 5\nPROPERTY Ends\n"
    native, interpreted = (checked(tmp_path, COUNTER, cfg, engine) for engine in (Engine.NATIVE, Engine.PYTHON))
    assert answers(native) == answers(interpreted)
    assert native.violation is None
    cfg = cfg.replace("5", "2")
    native, interpreted = (checked(tmp_path, COUNTER, cfg, engine) for engine in (Engine.NATIVE, Engine.PYTHON))
    assert answers(native) == answers(interpreted)
    assert native.violation is not None
    assert "KMC265" in repr(native.violation.error)
    assert len(native.violation.trace) == 3
