"""The division of a level's segments among tasks."""

from __future__ import annotations

from collections.abc import Sequence

from kmc.shards.files.frontier_file import FrontierFile
from kmc.shards.level.tasks import SegmentRef


def segments_of(files: Sequence[FrontierFile]) -> list[SegmentRef]:
    """All segments of some files, in order."""
    return [SegmentRef(file, index) for file in files for index in range(len(file.segments))]


def segment_groups(segments: Sequence[SegmentRef], rows_max: int) -> list[tuple[SegmentRef, ...]]:
    """Consecutive segments together, until a group has so many rows, refused rows among them."""
    groups: list[list[SegmentRef]] = []
    rows = rows_max
    for segment in segments:
        if rows >= rows_max:
            groups.append([])
            rows = 0
        groups[-1].append(segment)
        rows += segment.rows
    return [tuple(group) for group in groups]
