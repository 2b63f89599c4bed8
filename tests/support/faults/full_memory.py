"""Memory that is used up at once, whatever the process takes: a search that its limit of memory stops."""

from __future__ import annotations

import pytest

from kmc.engine.stores import memory_budget
from kmc.reference import value_search

LIMIT = "64G"
"""A limit that no search is too large for at its beginning."""


def use_up_memory(patch: pytest.MonkeyPatch) -> None:
    """Until the patch ends, searches of both engines find all their memory in use."""
    for module in (memory_budget, value_search):
        patch.setattr(module, "memory_bytes", lambda: 1 << 50)
