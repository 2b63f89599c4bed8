"""A task that needs nothing but the files of a store; every executor runs it."""

from __future__ import annotations

from typing import Protocol, TypeVar

from kmc.shards.files.store import ShardStore

Answer_co = TypeVar("Answer_co", covariant=True)


class StoreTask(Protocol[Answer_co]):
    """It travels to other processes, and so does its result. Only the result contains the names of the files that it
    writes.
    """

    def run(self, store: ShardStore) -> Answer_co:
        """Run it, in whatever process; a repeated run answers the same, but for names of files."""
