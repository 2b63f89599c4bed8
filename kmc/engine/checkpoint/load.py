"""Loading a checkpoint. Every word is checked before anything relies on it.

A damaged file is an error (KMC551), never a wrong result: checksums cover all words, and counts must agree.
"""

from __future__ import annotations

import itertools

import numpy as np

from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.files.run_manifest import Extent, RunManifest, damaged
from kmc.engine.layout import control_words as f
from kmc.engine.layout.frontier import Level
from kmc.engine.layout.record_structs import Chunk
from kmc.engine.layout.word_dictionary import Dictionary
from kmc.engine.loops.checksums import WORD_MASK, checksum, run_storing
from kmc.engine.native.memory import MappedFile, Words
from kmc.engine.native.threads import WorkerPool
from kmc.engine.stores.finding_log import FindingLog
from kmc.engine.stores.fingerprint_table import FingerprintTable

_RANGE_WORDS = 1 << 18


class Loader:
    """Reads the files that the manifest of `directory` refers to."""

    def __init__(self, directory: RunDirectory, pool: WorkerPool) -> None:
        self._directory = directory
        self._manifest: RunManifest = directory.manifest
        self._pool = pool

    def known(self, table: FingerprintTable) -> Extent:
        """Insert all saved fingerprints into the table, which has room for them; their extent in the file."""
        extent = self._manifest.known
        assert extent is not None, "there is a level"
        file = self._directory.mapped(extent.file)
        ranges, wide = itertools.count(0, _RANGE_WORDS), table.entry_words > 1

        def admit(_: int) -> tuple[int, int]:
            new = words_sum = 0
            while (low := next(ranges)) < extent.words:
                words, address = min(_RANGE_WORDS, extent.words - low), file.address + low * f.WORD_BYTES
                words_sum += checksum(address, words, low)
                new += run_storing(
                    "admit_wide" if wide else "admit",
                    source=address,
                    count=words // table.entry_words,
                    target=table.address,
                    slots=table.slots,
                )
                file.drop_pages()
            return new, words_sum

        answers = self._pool.run(admit)
        if sum(words_sum for _, words_sum in answers) & WORD_MASK != extent.checksum:
            raise damaged(self._directory.folder / extent.file, "its checksum is wrong")
        if sum(new for new, _ in answers) != sum(self._levels):
            raise damaged(self._directory.folder / extent.file, "it does not hold every state once")
        return extent

    @property
    def _levels(self) -> tuple[int, ...]:
        assert self._manifest.snapshot is not None, "there is a level"
        return self._manifest.snapshot.levels

    def level(self) -> Level:
        """The frontier, mapped from its file."""
        frontier = self._manifest.frontier
        assert frontier is not None, "there is a level"
        file = self._directory.mapped(frontier.blocks[0].file)
        for extent in frontier.blocks:
            self._check(extent, file)
            file.drop_pages()
        chunks = self._words(frontier.chunks).reshape(-1, Chunk.WORDS).copy()
        chunks[:, Chunk.first] = file.address + chunks[:, Chunk.first] * f.WORD_BYTES
        return Level(self._levels[-1], np.ascontiguousarray(chunks), (), file)

    def graph(self) -> tuple[Extent, Words]:
        """The behaviour graph, level by level, and its extent: all of its file that counts."""
        extent = self._manifest.graph
        if extent is None:
            raise damaged(self._directory.folder, "it has no behaviour graph")
        file = self._directory.mapped(extent.file)
        self._check(extent, file)
        return extent, file.array[: extent.words]

    def dictionary(self, dictionary: Dictionary) -> None:
        """Restore the dictionary, so that the codes in rows mean what they meant."""
        assert self._manifest.frontier is not None, "there is a level"
        dictionary.words[:] = self._words(self._manifest.frontier.dictionary)

    def findings(self, log: FindingLog) -> None:
        """Restore the findings, and which violating states were counted."""
        snapshot, met = self._manifest.snapshot, self._manifest.met
        assert snapshot is not None, "there is a level"
        assert met is not None, "there is a level"
        log.restore(snapshot.findings, snapshot.counted, self._words(met))

    def _words(self, extent: Extent) -> Words:
        """A copy of the words of an extent, checked."""
        if not extent.words:
            return np.zeros(0, np.int64)
        file = self._directory.mapped(extent.file)
        self._check(extent, file)
        return file.array[extent.place : extent.place + extent.words].copy()

    def _check(self, extent: Extent, file: MappedFile) -> None:
        if checksum(file.address + extent.place * f.WORD_BYTES, extent.words, extent.place) != extent.checksum:
            raise damaged(self._directory.folder / extent.file, "its checksum is wrong")
