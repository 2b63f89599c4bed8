"""A step that only takes a message from the network says so, however the spec writes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.views.stories import lossy_story

from kmc.views.text_options import TextOptions
from kmc.views.text_view import text_view


@pytest.mark.parametrize(
    ("way", "step", "change"),
    [
        ("receives", "3  Lose c1 -> c1: only takes m1 from the network", ["    only takes m1 from the network"]),
        ("loses", "3  Lose: loses Write from c1 to c1", ["    loses m1 Write c1 -> c1"]),
        ("changes", "3  Lose: net - {{type: Write, source: c1, dest: c1}}",
         ["        net  - {{type: Write, source: c1, dest: c1}}"]),
    ],
)  # fmt: skip
def test_the_message_that_a_step_takes_is_told(tmp_path: Path, way: str, step: str, change: list[str]) -> None:
    story = lossy_story(tmp_path, way)
    lines = [found.text for found in text_view(story, "steps", TextOptions(100))]
    assert lines[2] == step
    lines = [found.text for found in text_view(story, "changes", TextOptions(100))]
    place = next(number for number, line in enumerate(lines) if line.startswith("3  Lose"))
    assert lines[place + 1 : place + 2] == change
    assert not any("changes nothing" in line for line in lines)
