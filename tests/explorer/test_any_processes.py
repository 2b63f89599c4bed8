"""A walk through a model shows its processes, moves and previews, whatever its processes are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.specs.odd_shapes import SHAPES
from support.specs.process_kinds import KINDS, process_model
from support.specs.small import model_of
from support.views.diagram_readers import read_json
from support.views.exploring import do, session_of

from kmc.explorer.session import ExplorerSession
from kmc.explorer.shown import disabled_data, frame_of, initial_data, view_of

STEPS = 6


def check_walk(session: ExplorerSession) -> set[str]:
    """The processes that a walk shows, which takes the last move of each state, and then goes back."""
    lanes: set[str] = set()
    for _ in range(STEPS):
        shown = read_json(json.dumps(view_of(session)))
        lanes |= {*shown["story"]["lanes"]}
        for move in shown["moves"]:
            assert move["actor"] is None or move["actor"] in lanes | {*shown["story"]["lanes"]} or move["label"]
        disabled_data(session)
        if not shown["moves"]:
            break
        do(session, "take", at=session.tree.at, move=shown["moves"][-1]["place"])
    do(session, "go", to=0)
    lanes |= {*view_of(session)["story"]["lanes"]}
    assert frame_of(session)["actions"]
    assert initial_data(session, 0)["states"]
    return lanes


@pytest.mark.parametrize("kind", KINDS)
def test_a_walk_shows_processes_of_any_kind(tmp_path: Path, kind: str) -> None:
    session = session_of(process_model(tmp_path, kind, "invariant"))
    assert check_walk(session) == {*KINDS[kind].lanes}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_walk_shows_a_spec_of_an_unusual_shape(tmp_path: Path, shape: str) -> None:
    source, cfg = SHAPES[shape]
    check_walk(session_of(model_of(tmp_path, "from kmc.lang import Pair, pair, spawned\n" + source, cfg)))
