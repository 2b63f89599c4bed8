"""The mixer is one function in Python, numpy and kernels, and its differences do not repeat."""

from __future__ import annotations

import numpy as np
import pytest
from support.drawing.ir_programs import EDGES, expression_module
from support.kernels.load_module import compile_module
from support.oracles.mixing import Words, mix_words, mixed_once

from kmc.compiler.ir.nodes import Const, Function, Intrinsic, Module, Return, Var
from kmc.runtime.mixing import mix

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
        0x571AA08B4A89DF95,
        0x5FF9556E0E7215B5,
        0x44773604D916F7F2,
        0xD981299C1111E478,
    ]


def test_numpy_mixes_like_python() -> None:
    mixed = mix_words(array_of([word for word, _ in PAIRS]), array_of([salt for _, salt in PAIRS]))
    assert mixed.tolist() == [mix(*pair) for pair in PAIRS]


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


@pytest.mark.parametrize("bit", range(64))
def test_flipping_a_bit_gives_other_differences_in_every_word(bit: int) -> None:
    # What an additive hash sum needs: two words that change alike must not cancel.
    random = np.random.default_rng(bit)
    samples = random.integers(0, 1 << 64, (2, 1 << 15), dtype=np.uint64)
    salts = np.array([[3], [7]], dtype=np.uint64)
    differences = mix_words(samples ^ np.uint64(1 << bit), salts) - mix_words(samples, salts)
    assert repetitions(differences) == 0


@pytest.mark.parametrize("bit", [13, 61])
@pytest.mark.slow
def test_differences_do_not_repeat_in_a_million_million_pairs(bit: int) -> None:
    random = np.random.default_rng(bit)
    samples, salts = random.integers(0, 1 << 64, 1 << 22, dtype=np.uint64), array_of([7])
    flipped = samples ^ np.uint64(1 << bit)
    assert repetitions(mix_words(flipped, salts) - mix_words(samples, salts)) == 0
    # That is what the second half of the mixer is for.
    assert repetitions(mixed_once(flipped, salts) - mixed_once(samples, salts)) > 0


@pytest.mark.parametrize("shift", range(0, 51, 10))
def test_sums_of_mixed_small_numbers_fill_the_word_evenly(shift: int) -> None:
    small = np.arange(1 << 10, dtype=np.uint64) << np.uint64(shift)
    sums = (mix_words(small, array_of([1]))[:, None] + mix_words(small, array_of([2]))[None, :]).ravel()
    # 2**20 sums in 2**32 upper halves: 128 repetitions are expected, with a deviation of 11.
    assert repetitions(sums >> np.uint64(32)) < 128 + 6 * 12
