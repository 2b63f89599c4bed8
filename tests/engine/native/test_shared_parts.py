"""Parts that loops share: translated once, and anew as soon as anything that they were made of is different."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from numba.core.errors import TypingError

from kmc.engine.native import translate
from kmc.engine.native.intrinsics import inlined
from kmc.engine.native.specialization import WIDE, Specialization
from kmc.runtime.native_module import NativeModule
from kmc.runtime.object_code import emit_object

FACTOR = 2
WIDE_LOOPS, NARROW_LOOPS = Specialization(wide=True), Specialization()


@inlined
def scaled(word: int) -> int:
    """A word by a number of this module."""
    return word * FACTOR


@inlined
def width() -> int:
    """The words of a fingerprint."""
    return 2 if WIDE != 0 else 1


@inlined
def one_wider(word: int) -> int:
    """A number of words, and one fingerprint. It reads no option itself."""
    return word + width()


def scaling(first: int, second: int) -> int:
    """A loop that calls one part."""
    return scaled(first) + second


def widening(first: int, second: int) -> int:
    """A loop that calls both, one of them twice."""
    return one_wider(scaled(first)) + scaled(second)


@inlined
def twice_scaled(word: int) -> int:
    """A part that calls one which its loop calls before."""
    return scaled(word) + scaled(word)


def nesting(first: int, second: int) -> int:
    """A loop in which two functions call one part."""
    return scaled(first) + twice_scaled(second)


def unknown(first: int, second: int) -> int:
    """A loop that cannot be translated."""
    return scaled(first) + str(second)  # type: ignore[operator]  # what is refused


def result(loop: Callable[[int, int], int], options: Specialization = NARROW_LOOPS) -> int:
    """The result of a loop for 5 and 7, translated now: no cache on disk has it."""
    module = NativeModule(emit_object(translate.llvm_text(loop, "loop", options.values)), ["loop"])
    words = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    return int(words(module.address("loop"))(5, 7))


@pytest.fixture(autouse=True)
def translated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the parts that are translated; no other test has translated any."""
    names: list[str] = []
    compile_extra = vars(translate)["compile_extra"]

    def noted(typing: Any, target: Any, part: Any, *given: Any) -> Any:
        names.append(part.__name__)
        return compile_extra(typing, target, part, *given)

    monkeypatch.setattr(translate, "compile_extra", noted)
    translate._translator.cache_clear()
    yield names
    translate._translator.cache_clear()


def test_loops_share_their_parts(translated: list[str]) -> None:
    assert [result(loop) for loop in (scaling, widening, scaling)] == [17, 25, 17]
    assert translated == ["scaling", "scaled", "widening", "one_wider", "width"]


def test_a_part_that_a_loop_and_its_part_call_is_defined_once(translated: list[str]) -> None:
    assert result(nesting) == 38
    assert translated == ["nesting", "scaled", "twice_scaled"]


def test_a_part_is_translated_for_each_option_that_it_reads_or_one_that_it_calls(translated: list[str]) -> None:
    assert [result(widening, options) for options in (WIDE_LOOPS, NARROW_LOOPS, WIDE_LOOPS)] == [26, 25, 26]
    assert [translated.count(name) for name in ("scaled", "width", "one_wider", "widening")] == [1, 2, 2, 2]


def test_a_loop_has_the_parts_of_its_own_options(translated: list[str]) -> None:
    texts = [translate.llvm_text(widening, "loop", options.values) for options in (WIDE_LOOPS, NARROW_LOOPS)]
    assert [text.count("define internal ") for text in texts] == [4, 4]
    assert len({name for text in texts for name in text.splitlines() if "define internal" in name}) == 7


def test_a_part_is_translated_again_when_a_number_of_its_module_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert result(scaling) == 17
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert result(scaling) == 22


def test_a_part_is_translated_again_when_it_calls_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    @inlined
    def negative(word: int) -> int:
        return -word

    assert result(widening) == 25
    monkeypatch.setitem(globals(), "scaled", negative)
    assert result(widening) == -11


def test_a_part_is_translated_again_when_its_code_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    def three() -> int:
        return 4 if WIDE != 0 else 3

    assert result(widening) == 25
    monkeypatch.setattr(inspect.unwrap(width), "__code__", three.__code__)
    assert result(widening) == 27


def test_a_loop_that_cannot_be_translated_costs_no_other_its_meaning(translated: list[str]) -> None:
    assert result(scaling) == 17
    with pytest.raises(TypingError):
        result(unknown)
    assert result(scaling) == 17
    assert translated == ["scaling", "scaled", "unknown", "scaling", "scaled"]
