"""What the structs of control words promise beside their fields: who writes a word, and on which cache line."""

from __future__ import annotations

import pytest

from kmc.engine.layout import control_words, record_structs
from kmc.engine.layout.control_words import LINE_WORDS, WORD_BYTES, Shared, TableMove, Thread
from kmc.engine.native.memory import PAGE_WORDS
from kmc.engine.native.structs import Struct


@pytest.mark.parametrize(
    ("struct", "written"), [(Shared, {"count", "next_chunk"}), (TableMove, {"cursor", "aside_count"})]
)
def test_words_that_all_threads_write_lie_two_cache_lines_from_others(struct: type[Struct], written: set[str]) -> None:
    offsets = {name: field.offset for name, field in struct.FIELDS.items()}
    others = [abs(offsets[name] - offset) for name in written for other, offset in offsets.items() if other != name]
    assert written <= offsets.keys()
    assert min(others) >= 2 * LINE_WORDS == 128 // WORD_BYTES


def test_the_words_of_a_thread_fit_a_page() -> None:
    # Each thread has pages of its own for them, so that none waits for a line that another writes.
    assert Thread.WORDS <= PAGE_WORDS


def numbers(module: object, names: list[str]) -> list[int]:
    """The values of some constants of a module."""
    assert len(names) > 5
    return [getattr(module, name) for name in names]


def test_answers_of_loops_are_told_apart() -> None:
    names = ["DONE", "PAUSED", *(name for name in vars(control_words) if name.startswith("NEED_"))]
    assert len(set(numbers(control_words, names))) == len(names)


def test_kinds_of_findings_are_told_apart() -> None:
    source = list(vars(record_structs))
    names = source[source.index("EXPAND_ERROR") :]
    assert names[-1] == "REACHED"
    assert len(set(numbers(record_structs, names))) == len(names)
