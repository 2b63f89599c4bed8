"""Rows that begin with a fingerprint of one word or two, as arrays: put in order, each once, and looked up.

Fingerprints are compared as unsigned numbers, the first word first, as everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmc.engine.native.memory import Words
from kmc.shards.files.section_files import first_words


def order_of(rows: Words, width: int) -> NDArray[np.intp]:
    """The indices that put rows in the order of their fingerprints of `width` words."""
    if width == 1:
        return np.argsort(first_words(rows), kind="stable")
    return np.lexsort((np.ascontiguousarray(rows[:, 1]).view(np.uint64), first_words(rows)))


def each_once(rows: Words, width: int) -> Words:
    """The rows in the order of their fingerprints, one of each."""
    ordered = rows[order_of(rows, width)]
    keys = ordered[:, :width]
    differs = np.ones(len(ordered), np.bool_)
    differs[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    return ordered[differs]


def places_in(known: Words, wanted: Words, width: int) -> NDArray[np.int64]:
    """The index of each wanted fingerprint among the known ones, which are sorted; -1 for one that is not among
    them.
    """
    firsts, asked = first_words(known), first_words(wanted)
    positions = np.searchsorted(firsts, asked).astype(np.int64)
    places_of_wanted = np.full(len(wanted), -1, np.int64)
    left = np.flatnonzero(positions < len(known))
    while len(left):
        at = positions[left]
        left, at = left[firsts[at] == asked[left]], at[firsts[at] == asked[left]]
        same = (known[at, :width] == wanted[left, :width]).all(axis=1)
        places_of_wanted[left[same]] = at[same]
        # Another fingerprint of two words has the same first one.
        left = left[~same]
        positions[left] += 1
        left = left[positions[left] < len(known)]
    return places_of_wanted
