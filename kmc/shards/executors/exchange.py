"""Entries on their way from tasks to shards by files of the store: one file a task, with a part for each shard.

Invariant: a part that is read is the one that was written, by its checksum. The files are needed within a level only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kmc.engine.files.run_manifest import damaged
from kmc.engine.loops.checksums import checksum
from kmc.engine.native.memory import WORD_BYTES, Words, address_of
from kmc.shards.files.store import ShardStore, new_name

SENT = "sent"
"""The kind of these files, with which their names begin."""


@dataclass(frozen=True, slots=True)
class SentPart:
    """The words that one task sent to one shard: a part of a file of `file_words`. There is a file only if it has
    words.
    """

    name: str
    file_words: int
    offset: int
    words: int
    checksum: int


def write_sent(store: ShardStore, level: int, task: int, outboxes: Sequence[Words]) -> tuple[SentPart, ...]:
    """Write the entries for each shard."""
    name = new_name(SENT, level, task)
    total = sum(map(len, outboxes))
    sent, offset = [], 0
    for entries in outboxes:
        sent.append(SentPart(name, total, offset, len(entries), checksum(address_of(entries), len(entries), offset)))
        offset += len(entries)
    if total:
        with store.writing(name) as out:
            for entries in outboxes:
                if len(entries):
                    out.write(entries)
    return tuple(sent)


def read_sent(store: ShardStore, sent: SentPart) -> Words:
    """The entries of a part; SystemFault KMC551 if they differ from the entries that were written."""
    if not sent.words:
        return np.zeros(0, np.int64)
    file = store.read(sent.name, sent.file_words)
    if checksum(file.address + sent.offset * WORD_BYTES, sent.words, sent.offset) != sent.checksum:
        raise damaged(Path(sent.name), "its checksum is wrong")
    return file.array[sent.offset : sent.offset + sent.words]
