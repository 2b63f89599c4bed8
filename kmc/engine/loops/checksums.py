"""Checksums of words, and how Python runs the loops of `kmc.engine.loops.storage`."""

from __future__ import annotations

from kmc.engine.loops.compiled_loops import storing_loop
from kmc.engine.loops.storage import StorageTask
from kmc.engine.native.memory import Memory

WORD_MASK = (1 << 64) - 1


def run_storing(name: str, **fields: int) -> int:
    """Run such a loop for a task with these fields; its result."""
    task = StorageTask.of(Memory(StorageTask.WORDS))
    for field, value in fields.items():
        setattr(task, field, value)
    storing_loop(name)(task, 0)
    return task.result


def checksum(address: int, words: int, offset: int) -> int:
    """The checksum of `words` words at `address`; `offset` is the index of the first of them in its file."""
    return run_storing("total", source=address, count=words, first=offset) & WORD_MASK if words else 0
