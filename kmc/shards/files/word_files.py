"""Files of words that are written and read as a whole: bits, dictionaries, lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmc.engine.files.run_manifest import damaged
from kmc.engine.loops.checksums import WORD_MASK, checksum
from kmc.engine.native.memory import Words, address_of
from kmc.shards.files.store import FileWords, ShardStore


@dataclass(frozen=True, slots=True)
class WordFile:
    """A file of words that is read as a whole."""

    name: str
    words: int
    checksum: int


def write_words(store: ShardStore, name: str, pieces: Sequence[Words]) -> WordFile:
    """Write a file of words, part by part."""
    offset = words_sum = 0
    with store.writing(name) as out:
        for words in pieces:
            out.write(words)
            words_sum += checksum(address_of(words), len(words), offset)
            offset += len(words)
    return WordFile(name, offset, words_sum & WORD_MASK)


def read_words(store: ShardStore, file: WordFile) -> FileWords:
    """All of a file; SystemFault KMC551 if it differs from the one that was written."""
    words = store.read(file.name, file.words)
    if checksum(words.address, file.words, 0) != file.checksum:
        raise damaged(Path(file.name), "its checksum is wrong")
    return words
