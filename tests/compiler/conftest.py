"""The tests of the compiler run what a user runs: optimised kernels."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _as_for_a_user(optimised_kernels: None) -> None:
    """Every test of this folder compiles with LLVM's optimisations."""
