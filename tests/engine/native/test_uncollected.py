"""Garbage is not collected in a block, and is afterwards where it was before."""

from __future__ import annotations

import gc
from contextlib import suppress

import pytest

from kmc.process import uncollected


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_is_collected_again_after_the_block(enabled: bool) -> None:
    was_enabled = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with suppress(KeyError), uncollected():
            assert not gc.isenabled()
            raise KeyError
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()
