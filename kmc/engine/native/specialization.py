"""Options that are constants when a loop is compiled: code for what a search does not use is left out.

Loops read the names below. The translation replaces each by 0 or 1, as the `Specialization` of a search says.
"""

from __future__ import annotations

from dataclasses import dataclass

WIDE: int = 1
"""1: fingerprints have two words."""

RANKED: int = 1
"""1: the view forgets something. Of the states with one view, the one of the least rank is kept."""

SHARDED: int = 1
"""1: other tables than this search's decide what is new. Fingerprints go to the shards that own them."""

EDGES: int = 1
"""1: the steps and the new states are noted, for the behaviour graph."""

NOTES_SLOTS: int = 1
"""1: with a step the slot of its target is noted. So where fingerprints have one word and all are in one table."""

FUZZ_SCHEDULE: int = 1
"""1: the schedule is fuzzed. Threads wait at random, and batches have random sizes."""


@dataclass(frozen=True, slots=True)
class Specialization:
    """Which of these options a search uses."""

    wide: bool = False
    ranked: bool = False
    fuzz_schedule: bool = False
    sharded: bool = False
    edges: bool = False

    @property
    def values(self) -> dict[str, int]:
        """What stands for the names above."""
        return {
            "WIDE": int(self.wide),
            "RANKED": int(self.ranked),
            "SHARDED": int(self.sharded),
            "EDGES": int(self.edges),
            "NOTES_SLOTS": int(self.edges and not self.wide and not self.sharded),
            "FUZZ_SCHEDULE": int(self.fuzz_schedule),
        }
