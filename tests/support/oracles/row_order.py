"""Rows that begin with fingerprints, beside plain Python: their order, each once, and where each stands."""

from __future__ import annotations

import numpy as np

from kmc.engine.native.memory import Words
from kmc.shards.level import fingerprint_rows

Row = tuple[int, ...]
"""Two words, of which a fingerprint has the first or both, and what stands behind them."""


def array_of(rows: list[Row], width: int) -> Words:
    """The rows, each with the last column behind the words of its fingerprint."""
    kept = [(*row[:width], row[2]) for row in rows]
    return np.array(kept, np.uint64).reshape(len(rows), width + 1).view(np.int64)


def fingerprints_in(rows: Words, width: int) -> list[Row]:
    """The fingerprints of rows, as unsigned numbers."""
    return [tuple(row) for row in np.ascontiguousarray(rows[:, :width]).view(np.uint64).tolist()]


def difference(rows: list[Row], more: list[Row], width: int) -> str | None:
    """Where rows are not put in order, not each once, or not found among `rows` as plain Python says."""
    given = array_of(rows, width)
    keys = fingerprints_in(given, width)
    if fingerprint_rows.order_of(given, width).tolist() != sorted(range(len(keys)), key=keys.__getitem__):
        return f"the order of {rows}"
    once = fingerprint_rows.each_once(given, width)
    if fingerprints_in(once, width) != sorted(set(keys)):
        return f"each once of {rows}"
    if not {tuple(row) for row in once.tolist()} <= {tuple(row) for row in given.tolist()}:
        return f"rows that were not among {rows}"
    wanted = array_of([*more, *rows[:3]], width)
    places = {fingerprint: place for place, fingerprint in enumerate(sorted(set(keys)))}
    found = [places.get(fingerprint, -1) for fingerprint in fingerprints_in(wanted, width)]
    if fingerprint_rows.places_in(once, wanted, width).tolist() != found:
        return f"the places of {more} in {rows}"
    return None
