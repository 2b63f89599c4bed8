"""Parts that a loop calls: each is in its module once, as its names and options are at that time."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable

import pytest

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


def translated(loop: Callable[[int, int], int], options: Specialization = NARROW_LOOPS) -> str:
    """The LLVM IR of a loop."""
    return translate.llvm_text(loop, "loop", options.values)


def result(loop: Callable[[int, int], int], options: Specialization = NARROW_LOOPS) -> int:
    """The result of a loop for 5 and 7, translated now: no cache on disk has it."""
    module = NativeModule(emit_object(translated(loop, options)), ["loop"])
    words = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    return int(words(module.address("loop"))(5, 7))


def test_loops_call_the_same_parts() -> None:
    assert [result(loop) for loop in (scaling, widening, scaling)] == [17, 25, 17]


def test_a_part_that_a_loop_and_its_part_call_is_defined_once() -> None:
    assert result(nesting) == 38
    assert translated(nesting).count("define internal ") == len(["scaled", "twice_scaled"])


def test_a_part_is_translated_for_each_option_that_it_reads_or_one_that_it_calls() -> None:
    assert [result(widening, options) for options in (WIDE_LOOPS, NARROW_LOOPS, WIDE_LOOPS)] == [26, 25, 26]


def test_a_loop_is_the_one_function_that_others_see() -> None:
    defined = [line for line in translated(widening).splitlines() if line.startswith("define ")]
    assert [line.startswith("define internal ") for line in defined] == [False, True, True, True]


def test_a_part_is_translated_as_a_number_of_its_module_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    assert result(scaling) == 17
    monkeypatch.setitem(globals(), "FACTOR", 3)
    assert result(scaling) == 22


def test_a_part_is_translated_with_the_part_that_it_calls_now(monkeypatch: pytest.MonkeyPatch) -> None:
    @inlined
    def negative(word: int) -> int:
        return -word

    assert result(widening) == 25
    monkeypatch.setitem(globals(), "scaled", negative)
    assert result(widening) == -11


def test_a_part_is_translated_from_the_code_that_it_has_now(monkeypatch: pytest.MonkeyPatch) -> None:
    def three() -> int:
        return 4 if WIDE != 0 else 3

    assert result(widening) == 25
    monkeypatch.setattr(inspect.unwrap(width), "__code__", three.__code__)
    assert result(widening) == 27


def test_a_loop_that_cannot_be_translated_costs_no_other_its_meaning() -> None:
    assert result(scaling) == 17
    with pytest.raises(TypeError, match="calls no such function") as raised:
        result(unknown)
    assert [note.partition(": ")[2] for note in raised.value.__notes__] == ["return scaled(first) + str(second)"]
    assert result(scaling) == 17
