"""The mixer is one function in Python, numpy, numba and kernels, and its differences do not repeat."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from ir_programs import EDGES, expression_module, words

from kmc.compiler.ir import Const, Function, Intrinsic, Module, Return, Var
from kmc.compiler.native import compile_module
from kmc.kernels.mixing import mix
from kmc.kernels.mixing_arrays import Words, mix_words

PAIRS = [(word, salt) for word in EDGES for salt in EDGES]


def array_of(values: list[int]) -> Words:
    """Words as a numpy array."""
    return np.array(values, dtype=np.uint64)


def repetitions(values: Words) -> int:
    """How many values of an array were there before."""
    ordered = np.sort(values, axis=None)
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def test_the_mixer_never_changes() -> None:
    # Fingerprints are kept in run directories and sent between processes.
    pairs = [(0, 0), (1, 0), (0, 1), (1 << 63, 1 << 63)]
    assert [mix(*pair) for pair in pairs] == [
        0x7E91313C71B9D2E4,
        0x7EEB541FB5049857,
        0xAF02279949AEC015,
        0x4839CF3293D4E4B6,
    ]


def test_numpy_mixes_like_python() -> None:
    mixed = mix_words(array_of([word for word, _ in PAIRS]), array_of([salt for _, salt in PAIRS]))
    assert mixed.tolist() == [mix(*pair) for pair in PAIRS]


def test_numba_mixes_like_python() -> None:
    compiled: Any = numba.njit(mix_words)
    assert [int(compiled(np.uint64(word), np.uint64(salt))) for word, salt in PAIRS] == [mix(*pair) for pair in PAIRS]


def test_machine_code_mixes_like_python() -> None:
    native = compile_module(expression_module(Intrinsic("mix", (Var("x"), Var("y")))))
    assert [native.call("main", [], pair) for pair in PAIRS] == [mix(*pair) for pair in PAIRS]


def test_a_constant_salt_mixes_the_same() -> None:
    functions = tuple(
        Function(f"f{number}", (), ("x",), (Return(Intrinsic("mix", (Var("x"), Const(salt)))),))
        for number, salt in enumerate(EDGES)
    )
    native = compile_module(Module(functions))
    mixed = [native.call(f"f{number}", [], (word,)) for number in range(len(EDGES)) for word in EDGES]
    assert mixed == [mix(word, salt) for salt in EDGES for word in EDGES]


@given(words, words, words)
def test_one_salt_keeps_words_apart(first: int, second: int, salt: int) -> None:
    assert (mix(first, salt) == mix(second, salt)) == (first == second)


@pytest.mark.parametrize("bit", range(64))
def test_flipping_a_bit_gives_other_differences_in_every_word(bit: int) -> None:
    # What an additive hash sum needs: two words that change alike must not cancel. A mixer with one shift less gives
    # thousands of repeated differences here for the upper bits.
    random = np.random.default_rng(bit)
    samples = random.integers(0, 1 << 64, (2, 1 << 15), dtype=np.uint64)
    salts = np.array([[3], [7]], dtype=np.uint64)
    differences = mix_words(samples ^ np.uint64(1 << bit), salts) - mix_words(samples, salts)
    assert repetitions(differences) == 0


@pytest.mark.parametrize("shift", range(0, 51, 10))
def test_sums_of_mixed_small_numbers_fill_the_word_evenly(shift: int) -> None:
    small = np.arange(1 << 10, dtype=np.uint64) << np.uint64(shift)
    sums = (mix_words(small, array_of([1]))[:, None] + mix_words(small, array_of([2]))[None, :]).ravel()
    # 2**20 sums in 2**32 upper halves: 128 repetitions are expected, with a deviation of 11.
    assert repetitions(sums >> np.uint64(32)) < 128 + 6 * 12
