"""The Python source of loops, run by several threads whose accesses to shared memory are interleaved in all ways.

A thread is a function with the results of its accesses so far. To let it go on, the function is run again from the
beginning: it gets these results, and its next access ends the run. So states can be compared, and none is explored
twice. One step is one access, in one order for all threads.

A load of a line serves all comparisons with that line until the thread writes to it, as in compiled code
(test_table_code.py); with `merged` false each comparison loads it anew. A line is loaded in so many `parts`, the first
slots first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from kmc.engine.layout import control_words as f
from kmc.engine.native import intrinsics

_WORD_BITS = 64
_MOST_ACCESSES = 200
"""A thread that takes more for its calls is taken to go on for ever."""

Memory = tuple[int, ...]
Arguments = tuple[int, ...]
Part = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Access:
    """One access to shared memory: its kind, the index of a word, and the words that it has besides."""

    kind: str
    index: int
    words: tuple[int, ...] = ()

    def done(self, memory: Memory) -> tuple[Memory, Any]:
        """The memory after it, and its result."""
        index = self.index
        if self.kind == "line":
            return memory, memory[index : index + self.words[0]]
        if self.kind == "store":
            return (*memory[:index], self.words[0], *memory[index + 1 :]), None
        if self.kind == "swap" and memory[index] == self.words[0]:
            return (*memory[:index], self.words[1], *memory[index + 1 :]), memory[index]
        return memory, memory[index]


class _Pending(Exception):  # no error: it ends a run at its next access
    def __init__(self, access: Access) -> None:
        super().__init__(access)
        self.access = access


class _Run:
    """The intrinsics for one run of a thread: results that it has had, then `_Pending`. The table is at address 0."""

    def __init__(self, results: Sequence[Any], merged: bool, parts: int) -> None:
        self._results = iter(results)
        self._merged = merged
        self._part_words = f.LINE_WORDS // parts
        self._line: tuple[int, Any] | None = None

    def _access(self, access: Access) -> Any:
        for result in self._results:
            return result
        raise _Pending(access)

    def _written(self, index: int) -> None:
        if self._line is not None and self._line[0] <= index < self._line[0] + f.LINE_WORDS:
            self._line = None

    def equal_in_line(self, table: int, index: int, word: int) -> int:
        """See the intrinsic."""
        if self._line is None or self._line[0] != index or not self._merged:
            size = self._part_words
            parts = [self._access(Access("line", first, (size,))) for first in range(index, index + f.LINE_WORDS, size)]
            self._line = index, sum(parts, ())
        return sum(1 << place for place, found in enumerate(self._line[1]) if found == word)

    def load(self, table: int, index: int) -> int:
        """See the intrinsic."""
        return int(self._access(Access("load", index)))

    def store(self, table: int, index: int, word: int) -> None:
        """See the intrinsic."""
        self._access(Access("store", index, (word,)))
        self._written(index)

    def compare_and_swap(self, table: int, index: int, old: int, new: int) -> int:
        """See the intrinsic."""
        found = int(self._access(Access("swap", index, (old, new))))
        self._written(index)
        return found

    def lowest(self, mask: int) -> int:
        """See the intrinsic."""
        return (mask & -mask).bit_length() - 1

    def slot_of(self, fingerprint: int, slots: int) -> int:
        """See the intrinsic."""
        return fingerprint * slots >> _WORD_BITS

    def meaning_of(self, value: Any) -> Any:
        """What a name of a loop stands for in this run."""
        if isinstance(value, intrinsics.LoopIntrinsic):
            return getattr(self, value.emit.__name__)
        return self.bound(value) if callable(value) and value in intrinsics.parts else value

    def bound(self, part: Part) -> Part:
        """A part of a loop whose intrinsics are those of this run."""
        assert isinstance(part, FunctionType)
        names = [name for name in part.__code__.co_names if name in part.__globals__]
        named = {name: self.meaning_of(part.__globals__[name]) for name in names}
        return FunctionType(part.__code__, {**part.__globals__, **named}, part.__name__)


@dataclass(frozen=True, slots=True)
class Interleaving:
    """Threads that each call a part of a loop with several tuples of arguments, and the memory that they begin with."""

    part: Part
    calls: tuple[tuple[Arguments, ...], ...]
    memory: Memory
    merged: bool = True
    parts: int = 1

    def _next(self, thread: int, results: tuple[Any, ...]) -> Access | tuple[int, ...]:
        """The next access of a thread, or what its calls returned."""
        part = _Run(results, self.merged, self.parts).bound(self.part)
        try:
            return tuple(part(*arguments) for arguments in self.calls[thread])
        except _Pending as pending:
            return pending.access

    def ends(self) -> Iterator[tuple[Memory, tuple[tuple[int, ...], ...]]]:
        """The memory at each end, and what the calls of each thread returned there."""
        start = self.memory, ((),) * len(self.calls)
        left: list[tuple[Memory, tuple[tuple[Any, ...], ...]]] = [start]
        seen = {start}
        known: dict[tuple[int, tuple[Any, ...]], Access | tuple[int, ...]] = {}
        while left:
            memory, histories = left.pop()
            answers = []
            for thread, results in enumerate(histories):
                if (thread, results) not in known:
                    known[thread, results] = self._next(thread, results)
                following = known[thread, results]
                if not isinstance(following, Access):
                    answers.append(following)
                    continue
                assert len(results) < _MOST_ACCESSES, f"thread {thread} does not end: {results[-3:]}"
                changed, result = following.done(memory)
                history = (*results, result)
                state = changed, (*histories[:thread], history, *histories[thread + 1 :])
                if state not in seen:
                    seen.add(state)
                    left.append(state)
            if len(answers) == len(self.calls):
                yield memory, tuple(answers)
