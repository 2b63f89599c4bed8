"""Copies of specs that tests change, at one place in a process."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder where each test makes its copy of a spec anew.

    A file with the same path and the same text as in the test before is not checked again.
    """
    return tmp_path_factory.mktemp("copies")
