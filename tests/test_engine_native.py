"""Where compiled loops are kept: apart for every state of the engine's files, since one loop holds code of several."""

from __future__ import annotations

from pathlib import Path

import pytest
from numba import config

from kmc.engine.native import digest_of, settle_loop


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "loops.py").write_text("from fields import WORD\n")
    (tmp_path / "fields.py").write_text("WORD = 8\n")
    return tmp_path


def test_a_changed_number_in_another_file_gives_another_folder(files: Path) -> None:
    before = digest_of(files)
    digest_of.cache_clear()
    (files / "fields.py").write_text("WORD = 4\n")
    assert digest_of(files) != before


def test_the_same_files_give_the_same_folder(files: Path) -> None:
    before = digest_of(files)
    digest_of.cache_clear()
    assert digest_of(files) == before


def test_numba_keeps_its_own_folder_for_the_loops_of_others() -> None:
    before = vars(config)["CACHE_DIR"]
    settle_loop(False, False)
    assert vars(config)["CACHE_DIR"] == before
