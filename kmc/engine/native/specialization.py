"""Options that are constants when a loop is compiled: code for options that a search does not use is omitted.

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
"""1: the steps and the new states are recorded, for the behaviour graph."""

NOTES_SLOTS: int = 1
"""1: each recorded step contains the slot of its target. This needs one-word fingerprints that are all in one table."""

FUZZ_SCHEDULE: int = 1
"""1: the schedule is fuzzed. Threads wait at random, and batches have random sizes."""

COMPRESSES: int = 1
"""1: the processor has an instruction that writes some of 32 codes one behind another. This depends on the machine,
not on the search."""


@dataclass(frozen=True, slots=True)
class Specialization:
    """The options that a search uses."""

    wide: bool = False
    ranked: bool = False
    fuzz_schedule: bool = False
    sharded: bool = False
    edges: bool = False

    @property
    def values(self) -> dict[str, int]:
        """The values that replace the names above."""
        return {
            "WIDE": int(self.wide),
            "RANKED": int(self.ranked),
            "SHARDED": int(self.sharded),
            "EDGES": int(self.edges),
            "NOTES_SLOTS": int(self.edges and not self.wide and not self.sharded),
            "FUZZ_SCHEDULE": int(self.fuzz_schedule),
        }
