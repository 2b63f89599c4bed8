"""The files in which a task that expands states records their steps, and its new rows with the atoms that hold in them.

Invariant: rows are in the order of fingerprints, so a task that numbers the states of a range reads that range only. A
row of `sources` is a fingerprint and the number of steps that follow; their rows are in `steps`, in the order of the
sources, each a fingerprint, a label with flags and the masks of the step's atoms. Both files have the same sections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kmc.engine.layout import control_words as f
from kmc.engine.layout.control_words import GraphPart
from kmc.engine.loops.behaviour_log import HEAD_WORDS
from kmc.engine.loops.compiled_loops import graph_loop
from kmc.engine.native.memory import Memory, Words, address_of
from kmc.engine.native.words import Address
from kmc.shards.files.section_files import (
    FingerprintRange,
    SectionFile,
    first_words,
    range_starts,
    read_sections,
    section_bits,
    write_sections,
)
from kmc.shards.files.store import ShardStore, new_name
from kmc.shards.level.fingerprint_rows import order_of


@dataclass(frozen=True, slots=True)
class NotedSteps:
    """The steps of the `expanded` states that one task expanded; those without successors are not among `sources`."""

    expanded: int
    sources: SectionFile
    steps: SectionFile

    @property
    def names(self) -> tuple[str, str]:
        """The names of the files."""
        return self.sources.name, self.steps.name


@dataclass(frozen=True, slots=True)
class StepRows:
    """Sources, the number of steps of each, and the rows of all these steps."""

    sources: Words
    counts: NDArray[np.int64]
    steps: Words


@dataclass(frozen=True, slots=True)
class StepLog:
    """The records of a task, in blocks of `behaviour_log`. A fingerprint has two words if `wide`."""

    blocks: Sequence[tuple[Memory, int]]
    wide: bool
    atom_words: int


def write_steps(store: ShardStore, level: int, task: int, log: StepLog, expanded: int) -> NotedSteps:
    """Write the records of a task that expanded so many states."""
    width, atom_words = 1 + log.wide, log.atom_words
    words = np.concatenate([np.zeros(0, np.int64), *(memory.array[:used] for memory, used in log.blocks)])
    offsets = _places(words, log.wide, atom_words)
    sources = words[offsets[:, None] + np.arange(width + 1)]
    order = order_of(sources, width)
    sources = np.ascontiguousarray(sources[order])
    counts = sources[:, width]
    step_words = width + 1 + atom_words
    steps = _gathered(words, offsets[order] + width + 1, counts * step_words).reshape(-1, step_words)
    bounds = range_starts(first_words(sources), section_bits(len(sources)))
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])[bounds].tolist()
    in_sections = [sources[low:high] for low, high in pairwise(bounds)]
    step_parts = [steps[low:high] for low, high in pairwise(ends)]
    return NotedSteps(
        expanded,
        write_sections(store, new_name("sources", level, task), width + 1, in_sections),
        write_sections(store, new_name("steps", level, task), step_words, step_parts),
    )


def _places(words: Words, wide: bool, atom_words: int) -> NDArray[np.int64]:
    """The offset of each source among the recorded words."""
    offsets = Memory(len(words) // (HEAD_WORDS + wide) + 1)
    part = GraphPart.of(Memory(GraphPart.WORDS))
    part.steps = address_of(words)
    part.steps_end = Address(part.steps + len(words) * f.WORD_BYTES)
    part.places, part.step_atom_words = offsets.address, atom_words
    return offsets.array[: graph_loop("list_sources", wide)(part)]


def _gathered(words: Words, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Words:
    """So many words from each start on, one after another."""
    before = np.cumsum(lengths) - lengths
    return words[np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))]


def read_steps(store: ShardStore, noted: NotedSteps, wanted: FingerprintRange) -> StepRows:
    """The recorded steps of the sources in a range of fingerprints."""
    sections = wanted.sections_of(noted.sources.sections.bit_length() - 1)
    sources = read_sections(store, noted.sources, *sections)
    steps = read_sections(store, noted.steps, *sections)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sources[:, -1])])
    inside = wanted.within(first_words(sources))
    return StepRows(
        sources[inside, :-1], sources[inside, -1].copy(), steps[int(ends[inside.start]) : int(ends[inside.stop])]
    )


def joined_steps(pieces: Sequence[StepRows], width: int) -> StepRows:
    """The records of several tasks, in the order of the sources' fingerprints."""
    sources = np.concatenate([piece.sources for piece in pieces])
    counts = np.concatenate([piece.counts for piece in pieces])
    steps = np.concatenate([piece.steps for piece in pieces])
    order = order_of(sources, width)
    starts = np.cumsum(counts) - counts
    counts = counts[order]
    before = np.cumsum(counts) - counts
    picked = np.repeat(starts[order] - before, counts) + np.arange(int(counts.sum()))
    return StepRows(sources[order], counts, steps[picked])
