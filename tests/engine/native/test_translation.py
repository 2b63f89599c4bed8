"""The translation of loops to LLVM IR: it means what Python means by the same text, and what numba makes of it."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.oracles import numba_translation

from kmc.engine.loops.compiled_loops import NativeLoop, loops_of, sharded_loops_of, table_loops
from kmc.engine.native.intrinsics import inlined, load, store
from kmc.engine.native.memory import Memory
from kmc.engine.native.specialization import EDGES, WIDE, Specialization
from kmc.engine.native.structs import Struct
from kmc.engine.native.syntax import syntax_of
from kmc.engine.native.translate import llvm_text
from kmc.runtime.native_module import NativeModule
from kmc.runtime.object_code import emit_object

SEED = 28
OFF, ON = 0, 1


class Tally(Struct):
    """Two words."""

    total: int
    calls: int


def ranges(first: int, end: int, step: int) -> int:
    """All numbers of a range, whose variable is changed meanwhile, and the ends of nested ones."""
    found = last = 0
    for number in range(first, end, step):
        found = found * 3 + number
        number += 100
        last = number
        for inner in range(number % 4):
            if inner == 2:
                continue
            found += inner
        for inner in range(5, 2, -1):
            found ^= inner
    return found * 1000 + last


def rounds(first: int, end: int, step: int) -> int:
    """Loops that are left in their middle, and one without an end."""
    found = 0
    while found < 40:
        found += 3
        if found > end and found & 1 == 0:
            break
        if found % 5 == 0:
            found += 1
            continue
        found += 1 if first < step else 0
    while 1:
        found += 7
        if found > 90:
            return found
        if found == step:
            return -found


def choices(first: int, second: int, third: int) -> int:
    """Conditions, also as numbers, and one that is known now."""
    chosen = first if first < second else second * 2 if second >= third else -third
    if first != second and (second != third or first == third) and not (first > third):
        chosen += 1000
    elif first == second or third == 1:
        chosen += 2000
    else:
        chosen += 3000
    inside = first < second and third != second and (first > 1 or not second < 3)
    chosen += 4 if -3 < first < second != third else inside * 5
    chosen += (first <= second) * 10_000 + min(first, third) * 7 - max(second, third)
    if OFF != 0 or (ON != 0 and first == third):
        chosen *= -3
    return chosen if ON else first // 0


def bits(first: int, second: int, third: int) -> int:
    """Operators of bits."""
    shift = third & 31
    return ((first << shift) ^ (second >> shift)) + (~first & second) - (-(first | third)) + (-1 >> 3)


def division(first: int, second: int, third: int) -> int:
    """Quotients and remainders by words, and by numbers known now."""
    found = first // 8 + first % 8 * 3 + second // 7 - second % -7
    return found * 5 + (first // third + first % third * 11 if third != 0 else 1)


@inlined
def count_call(tally: Tally, amount: int) -> int:
    """Note a call, so that calls which are left out differ."""
    tally.calls += 1
    tally.total = tally.total * 2 + amount
    return amount


@inlined
def set_both(tally: Tally, total: int, calls: int) -> None:
    """Swap words by one assignment."""
    if total == calls:
        return
    tally.total, tally.calls = calls, total


def calls(tally: Tally, first: int, second: int) -> int:
    """The order of calls, and those that a condition leaves out."""
    tally.total, tally.calls = 0, second
    found = 1 if count_call(tally, first) > 0 and count_call(tally, second) > 0 else 0
    found += 2 if count_call(tally, second) > 0 or count_call(tally, first) > 0 else 0
    found += count_call(tally, 5) * 100 if found == 3 else count_call(tally, 6)
    set_both(tally, tally.total, tally.calls)
    return found * 10_000 + tally.total * 100 + tally.calls


def compiled(text: str, arity: int) -> tuple[NativeModule, Callable[..., int]]:
    """A loop that can be called, and the module that holds its code."""
    module = NativeModule(emit_object(text), ["loop"])
    words = [ctypes.c_int64] * arity
    return module, ctypes.CFUNCTYPE(ctypes.c_int64, *words)(module.address("loop"))


def by_both(loop: Callable[..., int]) -> tuple[Callable[..., int], Callable[..., int], list[NativeModule]]:
    """A loop as kmc translates it, and as numba does; with the modules that hold the code."""
    arity = loop.__code__.co_argcount
    ours, own = compiled(llvm_text(loop, "loop"), arity)
    others, other = compiled(numba_translation.llvm_text(loop, "loop"), arity)
    return own, other, [ours, others]


def words_drawn(most: int, count: int) -> Iterable[tuple[int, int, int]]:
    """Triples of words, small and large."""
    draw = random.Random(SEED)
    special = [0, 1, -1, 2, most, -most - 1]

    def word() -> int:
        return draw.choice([draw.choice(special), draw.randint(-most, most)])

    for _ in range(count):
        yield word(), word(), word()


@pytest.mark.parametrize("loop", [choices, bits, division])
def test_a_loop_means_what_its_python_means(loop: Callable[..., int]) -> None:
    own, other, _kept = by_both(loop)
    for words in words_drawn(1 << 20, 2000):
        assert own(*words) == other(*words) == loop(*words), words


@pytest.mark.parametrize("loop", [ranges, rounds])
def test_loops_inside_a_loop_end_as_in_python(loop: Callable[..., int]) -> None:
    own, other, _kept = by_both(loop)
    draw = random.Random(SEED)
    for _ in range(2000):
        words = draw.randint(-9, 9), draw.randint(-9, 9), draw.choice([-3, -2, -1, 1, 2, 3])
        assert own(*words) == other(*words) == loop(*words), words


@pytest.mark.parametrize("loop", [choices, bits, division])
def test_words_of_all_sizes_give_what_numba_gives(loop: Callable[..., int]) -> None:
    own, other, _kept = by_both(loop)
    for words in words_drawn((1 << 63) - 1, 5000):
        assert own(*words) == other(*words), words


def dividing(first: int, second: int, third: int) -> int:
    """One quotient or one remainder."""
    return first // second if third == 0 else first % second


@pytest.mark.parametrize("left", [0, 1, -1, 7, -7, (1 << 63) - 1, -(1 << 63)])
@pytest.mark.parametrize("right", [0, 1, -1, 3, -3, (1 << 63) - 1, -(1 << 63)])
def test_a_division_that_a_machine_cannot_do_gives_0(left: int, right: int) -> None:
    own, other, _kept = by_both(dividing)
    fails = right == 0 or (left, right) == (-(1 << 63), -1)
    answers = [0, 0] if fails else [left // right, left % right]
    assert [own(left, right, third) for third in (0, 1)] == answers
    assert [other(left, right, third) for third in (0, 1)] == answers


def test_calls_are_made_in_pythons_order() -> None:
    memory = Memory(Tally.WORDS)
    tally = Tally.of(memory)
    own, other, _kept = by_both(calls)
    for first in (-1, 0, 1):
        for second in (-1, 0, 1, 5):
            assert own(tally, first, second) == other(tally, first, second) == calls(tally, first, second)


def reads_an_option(first: int, second: int, third: int) -> int:
    """Options of the search."""
    if WIDE != 0 and first > 0:
        return second
    return third if EDGES == 0 else 9


@pytest.mark.parametrize(("options", "answer"), [({}, 7), ({"wide": True}, 6), ({"edges": True}, 9)])
def test_a_loop_reads_the_options_of_its_search(options: Mapping[str, bool], answer: int) -> None:
    assert NativeLoop(reads_an_option, Specialization(**options))(5, 6, 7) == answer


def too_large(first: int, second: int) -> int:
    """A number without a word."""
    return first + (1 << 63)


def makes_a_tuple(first: int, second: int) -> int:
    """Words as one."""
    both = first, second
    return both[0]


def connects_words(first: int, second: int) -> int:
    """A word in the place of a condition: in Python it is the result."""
    return first and second


def divides_truly(first: int, second: int) -> int:
    """A quotient that has no word."""
    return first / second  # type: ignore[return-value]  # what is refused


def takes_a_power(first: int, second: int) -> int:
    """A power, of numbers known now too."""
    return first * 2**second  # type: ignore[no-any-return]  # what is refused


def is_the_same(first: int, second: int) -> int:
    """A comparison of objects."""
    return 1 if first is second else 0


def gives_a_word(first: int, second: int) -> None:
    """A result that the annotation does not have."""
    return first  # type: ignore[return-value]  # what is refused


def gives_nothing(first: int, second: int) -> int:
    """A part without a result as a word."""
    return first + nothing(second)  # type: ignore[operator]  # what is refused


def ends_with_else(first: int, second: int) -> int:
    """An `else` of a loop."""
    for number in range(first):
        if number == second:
            break
    else:
        return 1
    return 0


def calls_with_too_few(first: int, second: int) -> int:
    """An intrinsic without its last word."""
    return load(first)


@inlined
def nothing(word: int) -> None:
    """A part without a result."""
    store(word, 0, 0)


BEYOND = [too_large, makes_a_tuple, connects_words, divides_truly, takes_a_power, is_the_same, gives_a_word]
BEYOND += [gives_nothing, ends_with_else, calls_with_too_few]


@pytest.mark.parametrize("loop", BEYOND)
def test_a_loop_beyond_the_syntax_of_loops_is_refused_at_its_line(loop: Callable[..., int]) -> None:
    with pytest.raises(TypeError) as refused:
        llvm_text(loop, "loop")
    first = loop.__code__.co_firstlineno
    (note,) = refused.value.__notes__
    path, line, _ = note.split(":", 2)
    assert path == loop.__code__.co_filename
    assert first < int(line) <= first + 4


def imported(path: Path) -> Any:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("edited", ["# A line more.\ndef loop(x: int) -> int:\n    return x\n", "", "def loop(:\n"])
def test_a_file_edited_after_it_was_imported_is_not_translated(tmp_path: Path, edited: str) -> None:
    path = tmp_path / "edited_loop.py"
    path.write_text("def loop(x: int) -> int:\n    return x\n")
    module = imported(path)
    path.write_text(edited)
    with pytest.raises((TypeError, SyntaxError)):
        syntax_of(module.loop)


def all_loops() -> list[NativeLoop]:
    """The loops of all kinds of searches."""
    kinds = [Specialization(), Specialization(ranked=True), Specialization(edges=True), Specialization(wide=True)]
    kinds.append(Specialization(wide=True, ranked=True, edges=True, fuzz_schedule=True))
    shards = [
        sharded_loops_of(wide, ranked, edges) for wide, ranked, edges in [(False, False, True), (True, True, False)]
    ]
    loops = [loop for each in (*map(loops_of, kinds), *shards, table_loops()) for loop in each]
    return list({loop.key: loop for loop in loops}.values())


@pytest.mark.slow
def test_llvm_takes_every_loop_with_and_without_the_instruction_that_compresses() -> None:
    for loop in all_loops():
        for compresses in (0, 1):
            emit_object(
                llvm_text(loop.function, "loop", {**loop.specialization.values, "COMPRESSES": compresses}),
                optimised=False,
            )


SEARCHED_BY_NUMBA = """
import json, sys
from kmc.engine.loops import background_compile
from kmc.engine.native import translate
import kmc
if sys.argv[1] == "numba":
    from support.oracles import numba_translation
    translate.llvm_text = numba_translation.llvm_text
background_compile.usable_cpus = lambda: 1
result = kmc.check("kraft", "smoke", max_depth=14)
print(json.dumps([result.levels, result.generated_by_action, "numba" in sys.modules]))
"""


@pytest.mark.slow
def test_a_search_by_loops_that_numba_translated_finds_the_same_states(tmp_path: Path) -> None:
    answers = []
    for translator in ("kmc", "numba"):
        cache, paths = str(tmp_path / translator), os.pathsep.join(sys.path)
        environment = {
            **os.environ,
            "KMC_CACHE_DIR": cache,
            "PYTHONPATH": paths,
        }
        command = [sys.executable, "-c", SEARCHED_BY_NUMBA, translator]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=tmp_path)
        answers.append(json.loads(ran.stdout))
    (levels, generated, without_numba), (others, others_generated, with_numba) = answers
    assert (without_numba, with_numba) == (False, True)
    assert (levels, generated) == (others, others_generated)
    assert len(levels) == 14
