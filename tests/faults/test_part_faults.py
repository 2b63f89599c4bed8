"""Faults planted in the files of shards, in stories and in tables are caught by the checks of these parts."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.faults import sections
from support.faults.sections import unnoticed_damage
from support.oracles.leaps import edges_of_leaps
from support.oracles.row_order import Row, difference
from support.runs.shards import store_in
from support.specs.guarded import kept_within
from support.specs.small import model_of

from kmc.reference.search import Search
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.shards.files import section_files
from kmc.shards.files.section_files import first_words
from kmc.shards.level import fingerprint_rows
from kmc.story import slice
from kmc.story.explain import facts
from kmc.story.explain.why import why

Patch = pytest.MonkeyPatch

ROWS: list[Row] = [(2, 9, 0), (2, 3, 1), (1, 1 << 63, 2), (2, 3, 3), (1 << 63, 1, 4), (1, 5, 5)]
"""Fingerprints of two words that share the first one, in no order, one of them twice."""


def test_rows_without_a_fault_are_ordered_and_found() -> None:
    assert difference(ROWS, ROWS, 1) is None
    assert difference(ROWS, ROWS, 2) is None


def test_the_second_word_of_a_fingerprint_does_not_count(monkeypatch: Patch) -> None:
    monkeypatch.setattr(fingerprint_rows, "order_of", lambda rows, width: np.argsort(first_words(rows), kind="stable"))
    assert difference(ROWS, [], 2) is not None


def test_fingerprints_are_compared_as_signed_numbers(monkeypatch: Patch) -> None:
    monkeypatch.setattr(fingerprint_rows, "order_of", lambda rows, width: np.lexsort(rows[:, :width].T[::-1]))
    assert difference(ROWS, [], 1) is not None
    assert difference(ROWS, [], 2) is not None


def test_only_the_first_row_with_a_first_word_is_looked_at(monkeypatch: Patch) -> None:
    def first_only(known: Any, wanted: Any, width: int) -> Any:
        places = np.searchsorted(first_words(known), first_words(wanted))
        places[places == len(known)] = 0
        return np.where((known[places, :width] == wanted[:, :width]).all(axis=1), places, -1)

    monkeypatch.setattr(fingerprint_rows, "places_in", first_only)
    assert difference(ROWS, [], 1) is None
    assert difference(ROWS, ROWS, 2) is not None


@pytest.fixture
def _short_sections(monkeypatch: Patch) -> None:
    monkeypatch.setattr(section_files, "_SECTION_ROWS_BITS", 2)


@pytest.mark.usefixtures("_short_sections")
def test_checksums_of_sections_are_not_compared(monkeypatch: Patch, tmp_path: Path) -> None:
    assert unnoticed_damage(tmp_path / "whole") is None
    monkeypatch.setattr(section_files, "checksum", lambda address, words, place: 0)
    assert unnoticed_damage(tmp_path / "blind") is not None


@pytest.mark.usefixtures("_short_sections")
def test_a_range_reads_one_section_too_few(monkeypatch: Patch, tmp_path: Path) -> None:
    right = section_files.FingerprintRange.sections_of

    def fewer(wanted: Any, bits: int) -> tuple[int, int]:
        first, end = right(wanted, bits)
        return first, max(first + 1, end - 1)

    monkeypatch.setattr(section_files.FingerprintRange, "sections_of", fewer)
    rows, store = sections.some_rows(20), store_in(tmp_path)
    file = section_files.write_in_ranges(store, "found-1-0-0123456789abcdef", rows)
    every = section_files.FingerprintRange(0, 0)
    assert len(section_files.read_range(store, file, every)) < len(rows)


@pytest.mark.parametrize("constraint", ["CONSTRAINT IsOpenAboveZero", "ACTION_CONSTRAINT RisesWhereOpen"])
def test_a_smaller_trace_is_not_asked_for_the_constraints(constraint: str, monkeypatch: Patch, tmp_path: Path) -> None:
    wanted = (1, 3, 4, 5, 6)
    assert kept_within(tmp_path / "right", constraint) == wanted
    monkeypatch.setattr(slice._Search, "_is_in_model", lambda search, states: True)
    assert kept_within(tmp_path / "wrong", constraint) != wanted


def test_a_comparison_is_mirrored_wrongly(monkeypatch: Patch, tmp_path: Path) -> None:
    source = """
class State(Record):
    n: Int(0, 4)

@spec.init
def init():
    yield State(n=0)

@spec.action
def stay(st):
    yield st

@spec.invariant
def Wanted(st):
    return 1 <= st.n
"""
    model = model_of(tmp_path, source, "INVARIANT Wanted")
    violation = Search(model).run().violation
    assert violation is not None
    assert why(model, violation).sentence == "Wanted fails: n is 0, less than 1."
    monkeypatch.setitem(facts._MIRRORED, ast.Gt, ast.Gt)
    assert why(model, violation).sentence != "Wanted fails: n is 0, less than 1."


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["outside", "step_outside"])
def test_edges_are_not_asked_for_constraints(kind: str, monkeypatch: Patch, tmp_path: Path) -> None:
    cfg = "CONSTRAINT Small ACTION_CONSTRAINT Slow"
    found, wanted = edges_of_leaps(tmp_path / "right", cfg)
    assert found == wanted
    monkeypatch.setattr(CompiledSpec, kind, lambda spec, *given: np.zeros(len(given[-1]), np.int64))
    found, wanted = edges_of_leaps(tmp_path / "wrong", cfg)
    assert found != wanted
