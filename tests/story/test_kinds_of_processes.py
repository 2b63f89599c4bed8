"""Processes of any kind have lanes with names, and every view of every failure tells their messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.process_kinds import FAILURES, KINDS, process_model, violation_of
from support.views.read_back import check_regression, told_in_every_view


def check_kind(folder: Path, kind: str, failure: str) -> None:
    """AssertionError unless a failure among processes of this kind is told whole."""
    model = process_model(folder, kind, failure, "bag" if failure == "loss" else "set")
    violation = violation_of(model)
    story = told_in_every_view(model, violation)
    assert story.lanes == KINDS[kind].lanes
    assert len(story.messages) == 3
    deliveries = [(step.actor, story.message(step.received)) for step in story.steps if step.received is not None]
    assert deliveries
    assert all(actor == message.dest for actor, message in deliveries)
    check_regression(model, violation, folder)


@pytest.mark.parametrize("kind", ["numbers", "two types with one name"])
def test_every_view_tells_numbers_and_equal_names(tmp_path: Path, kind: str) -> None:
    check_kind(tmp_path, kind, "invariant")


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_view_tells_processes_of_any_kind(tmp_path: Path, kind: str, failure: str) -> None:
    check_kind(tmp_path, kind, failure)
