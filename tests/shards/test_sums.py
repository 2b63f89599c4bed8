"""A sharded search that loses rows or candidates says so, and gives no result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.specs.shipped import shipped_model

from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import InternalError
from kmc.result import Limits
from kmc.shards.files.frontier_file import FrontierReader
from kmc.shards.level import expander, merger
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded


def explored(folder: Path) -> None:
    directory = RunDirectory.created(folder, {})
    try:
        check_native(
            shipped_model("kraft", "smoke"), Limits(depth=9), directory=directory, search_of=sharded(Sharding(2))
        )
    finally:
        directory.discard()


@pytest.mark.slow
@pytest.mark.usefixtures("rows")
def test_a_lost_candidate_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    merge = merger.Merger.answer

    def forgetful(self: Any, task: Any, sent: Any) -> Any:
        return merge(self, task, [entries[1:] for entries in sent])

    monkeypatch.setattr(merger.Merger, "answer", forgetful)
    with pytest.raises(InternalError, match="not all candidates of level 1") as caught:
        explored(tmp_path)
    assert caught.value.code == "KMC928"


@pytest.mark.usefixtures("rows")
def test_a_state_that_was_not_expanded_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expand = expander.Expander.expand

    def lazy(self: Any, source: Any, task: Any) -> Any:
        return expand(self, source, replace(task, rows=replace(task.rows, segments=task.rows.segments[1:])))

    monkeypatch.setattr(expander.Expander, "expand", lazy)
    with pytest.raises(InternalError, match=r"not all .* states of level . were expanded") as caught:
        explored(tmp_path)
    assert caught.value.code == "KMC928"


@pytest.mark.slow
@pytest.mark.usefixtures("rows")
def test_rows_that_do_not_match_the_bits_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    segment_of = FrontierReader.segment

    def shifted(self: Any, number: int) -> Any:
        found = segment_of(self, number)
        return replace(found, sent_until=found.sent_until + (found.sent_until > 0))

    monkeypatch.setattr(FrontierReader, "segment", shifted)
    with pytest.raises(InternalError, match="not those that were sent") as caught:
        explored(tmp_path)
    assert caught.value.code == "KMC927"
