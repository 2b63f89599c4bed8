"""The comparison of compiled code with the interpreter before a native search of a module: faults in it are found.

Each fault is a change of the text of the spec after its translation: the kernels of a wrong spec are compared. Each
spec has one more variable than its module, which a fault may use to keep one state in two forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from kmc.checking.modules import native_comparison, native_translation
from kmc.checking.modules.check_module import ModuleRequest, check_module
from kmc.checking.modules.checked_module import CheckedModule
from kmc.checking.modules.native_comparison import ComparedExtent, NativeComparison
from kmc.checking.outcome import Outcome
from kmc.checking.request import Engine
from kmc.errors import EvaluationError, InternalError
from kmc.tla.translate.translated import TranslatedModel, translate_model

CRANE = """---- MODULE Crane ----
EXTENDS Naturals, FiniteSets
CONSTANT Box
VARIABLES yard, moved
Init == yard \\in {{}, Box} /\\ moved = 0
Lift(b) == b \\in yard /\\ yard' = yard \\ {b} /\\ moved' = moved + 1
Drop(b) == b \\notin yard /\\ yard' = yard \\cup {b} /\\ moved' = moved + 1
Rest == moved = 3 /\\ moved' = 0 /\\ UNCHANGED yard
Next == (\\E b \\in Box : Lift(b) \\/ Drop(b)) \\/ Rest
Low == moved < 7
Tidy == Cardinality(yard) < 4
Slow == [][moved' <= moved + 1]_moved
====
"""
CFG = "INIT Init\nNEXT Next\nCONSTANT Box = {b1, b2}\nCONSTRAINT Low\nINVARIANT Tidy\nPROPERTY Slow\n"

FAULTS = {
    "guard": ("st.moved == 3", "st.moved <= 3", "the steps of a state"),
    "assignment": ("yard=st.yard | {b}", "yard=st.yard", "the steps of a state"),
    "multiplicity": ("yield st.set(moved=0)", "for _ in range(2): yield st.set(moved=0)", "the steps of a state"),
    "parameter": ("yard=st.yard - {b}", "yard=st.yard - {Box.B1}", "the steps of a state"),
    "initial states": ("{set(), set(Box)}", "{set(), {Box.B1}}", "the initial states"),
    "number of initial states": ("{set(), set(Box)}", "{set()}", "the number of initial states"),
    "constraint": ("st.moved < 7", "st.moved < 6", "whether a step is in the model"),
    "invariant": ("len(st.yard) < 4", "len(st.yard) < 2", "the invariants of a state"),
    "constraint at the beginning": ("st.moved < 7", "(0 < st.moved < 7)", "whether a state is in the model"),
    "invariant at the beginning": (
        "len(st.yard) < 4",
        "(st.moved > 0 or len(st.yard) < 2)",
        "the invariants of a state",
    ),
    "formula of steps": ("nxt.moved <= st.moved + 1", "nxt.moved <= st.moved", "the properties of a step"),
    "two forms of one state": ("st.set(moved=0)", "st.set(moved=0, form=1)", "whether two states are one"),
}
"""Texts in the translation, what stands for them in a wrong one, and what differs then."""


def checked(folder: Path, fingerprint_bits: Literal[64, 128] = 64) -> Outcome:
    """Check the crane natively."""
    (folder / "Crane.tla").write_text(CRANE)
    (folder / "Crane.cfg").write_text(CFG)
    return check_module(request(folder, fingerprint_bits))


def request(folder: Path, fingerprint_bits: Literal[64, 128] = 64) -> ModuleRequest:
    """Return the request of a native check of the crane."""
    path = folder / "Crane.tla"
    return ModuleRequest(
        path, path.with_suffix(".cfg"), engine=Engine.NATIVE, threads=1, fingerprint_bits=fingerprint_bits
    )


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Change the text of the translation, each place where a text occurs."""

    def change(before: str, after: str) -> None:
        def translate(*given: Any, **more: Any) -> TranslatedModel:
            model = translate_model(*given, **more)
            text = model.folder.files["spec.py"]
            assert before in text
            text = text.replace(before, after).replace(
                "    moved: Int(0, 7)", "    moved: Int(0, 7)\n    form: Int(0, 1)"
            )
            text = text.replace('"moved": "moved"', '"moved": "moved", "form": "form"')
            text = text.replace("State(yard=yard_1, moved=0)", "State(yard=yard_1, moved=0, form=0)")
            return replace(model, folder=replace(model.folder, files={**model.folder.files, "spec.py": text}))

        monkeypatch.setattr(native_translation, "translate_model", translate)

    return change


def test_a_right_translation_is_searched(changed: Callable[[str, str], None], tmp_path: Path) -> None:
    changed("class State", "class State")
    assert checked(tmp_path).result.counters.distinct == 28


@pytest.mark.parametrize("name", FAULTS)
def test_a_wrong_translation_is_refused(name: str, changed: Callable[[str, str], None], tmp_path: Path) -> None:
    before, after, what = FAULTS[name]
    changed(before, after)
    with pytest.raises(InternalError, match=f"differ in {what}, so no count") as refused:
        checked(tmp_path)
    error = refused.value
    assert error.code == "KMC944"
    assert error.help == "check the module with the interpreter: --engine python"
    assert error.span is not None
    assert Path(error.span.path).name == "Crane.tla"


def test_both_values_are_shown(changed: Callable[[str, str], None], tmp_path: Path) -> None:
    changed("yard=st.yard - {b}", "yard=st.yard")
    with pytest.raises(InternalError) as refused:
        checked(tmp_path)
    assert refused.value.notes == (
        "in the state yard = {b1, b2} /\\ moved = 0",
        "compiled code: 2 times Lift to yard = {b1, b2} /\\ moved = 1",
        "the interpreter: Lift to yard = {b2} /\\ moved = 1 and 1 more",
    )


def test_an_error_that_only_the_module_has_is_refused(
    changed: Callable[[str, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: Any) -> list[Any]:
        raise EvaluationError("KMC262", "a number and a string are compared")

    changed("class State", "class State")
    monkeypatch.setattr(CheckedModule, "successors", failing)
    with pytest.raises(InternalError) as refused:
        checked(tmp_path)
    assert refused.value.notes[1:] == (
        "compiled code: no error",
        "the interpreter: KMC262: a number and a string are compared",
    )


def test_it_ends_when_its_time_is_up(
    changed: Callable[[str, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed("st.moved == 3", "st.moved <= 3")
    monkeypatch.setattr(native_comparison, "COMPARED_EXTENT", ComparedExtent(seconds_max=0.0))
    assert checked(tmp_path).result.counters.generated != 62


def compared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by the number of states that each comparison expands."""
    counts: list[int] = []
    run = NativeComparison.run

    def counted(self: NativeComparison, initial: Any) -> int:
        counts.append(run(self, initial))
        return counts[-1]

    monkeypatch.setattr(NativeComparison, "run", counted)
    return counts


@pytest.mark.slow
def test_code_that_was_found_equal_is_not_compared_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = compared(monkeypatch)
    first, second = checked(tmp_path), checked(tmp_path)
    assert len(counts) == 1
    assert counts[0] > 0
    assert second.result.counters.generated == first.result.counters.generated
    checked(tmp_path, fingerprint_bits=128)
    assert len(counts) == 2
    (tmp_path / "Crane.cfg").write_text(CFG.replace("{b1, b2}", "{b1, b2, b3}"))
    check_module(request(tmp_path))
    assert len(counts) == 3


def test_a_comparison_without_time_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = compared(monkeypatch)
    with monkeypatch.context() as hurried:
        hurried.setattr(native_comparison, "COMPARED_EXTENT", ComparedExtent(seconds_max=0.0))
        checked(tmp_path)
    checked(tmp_path)
    assert counts[0] == 0
    assert counts[1] > 0


@pytest.mark.slow
def test_a_comparison_that_others_may_have_written_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    counts = compared(monkeypatch)
    checked(tmp_path)
    (entry,) = (tmp_path / "cache").glob("modules/*/compared/*")
    entry.chmod(0o666)
    checked(tmp_path)
    assert len(counts) == 2
