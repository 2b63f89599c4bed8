"""Two traces side by side: what they share once, where they part, and a column for each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.views.stories import hand_made_story

from kmc.cli.saved.traced_story import traced_story
from kmc.lang.tla import TlaSet
from kmc.story.parts.story import Story
from kmc.trace.files import read_trace
from kmc.views.beside import beside_lines, differences
from kmc.views.text_options import TextOptions

WIDTH = 100
NAMES = ("left.json", "right.json")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    """The solution of the puzzle with the jugs, in seven states."""
    folder = tmp_path_factory.mktemp("runs")
    kmc("check", "die_hard", "solution", "--engine", "python", "--run-dir", str(folder))
    (path,) = folder.glob("*/trace.itf.json")
    return traced_story(read_trace(path))


def lines(left: Story, right: Story) -> list[str]:
    """The view as text."""
    found = [line.text for line in beside_lines(left, right, NAMES, TextOptions(WIDTH))]
    assert all(len(text) <= WIDTH for text in found)
    return found


def test_a_trace_beside_itself_is_equal(story: Story) -> None:
    found = lines(story, story)
    assert found[0] == "The first 7 states are the same:"
    assert found[-1] == "The traces are equal."


def test_a_trace_beside_its_beginning_goes_on(story: Story) -> None:
    found = lines(replace(story, steps=story.steps[:4]), story)
    assert found[0] == "The first 4 states are the same:"
    assert "left.json ends there, and right.json goes on:" in found
    after = found[found.index("left.json ends there, and right.json goes on:") + 1 :]
    assert [text.partition(" | ")[0].strip() for text in after] == ["left.json", "ends", "ends", "ends"]
    assert "left.json ends there, and right.json goes on:" not in lines(story, replace(story, steps=story.steps[:4]))


def test_the_state_in_which_they_part_says_what_differs(story: Story) -> None:
    other = replace(story.steps[2], label="Spill", variables={**story.steps[2].variables, "big": 1})
    found = lines(story, replace(story, steps=(*story.steps[:2], other)))
    assert found[0] == "The first 2 states are the same:"
    (parting,) = (text for text in found if text.startswith("They part in state 3: "))
    assert "big is 2 or 1" in parting
    assert "Spill" in found[found.index(parting) + 2]


def test_another_step_to_an_equal_state_parts_them_too(story: Story) -> None:
    other = replace(story.steps[2], label="Spill")
    found = lines(story, replace(story, steps=(*story.steps[:2], other)))
    assert found[0] == "The first 2 states are the same:"
    assert "They part in state 3, by another step to an equal state" in found


def test_of_many_differences_some_are_named_and_the_others_counted(story: Story) -> None:
    many = tuple(f"v{number}" for number in range(9))

    def holding(value: int) -> Story:
        wide = replace(story.steps[0], variables={**story.steps[0].variables, **dict.fromkeys(many, value)})
        return replace(story, steps=(wide,), variables=(*story.variables, *many))

    found = " ".join(" ".join(lines(holding(1), holding(2))).split())
    assert "v5 is 1 or 2; and 3 more" in found
    assert "v6 is" not in found.partition("left.json")[0]


def test_traces_with_nothing_in_common_begin_in_columns(story: Story) -> None:
    first = replace(story.steps[0], variables={**story.steps[0].variables, "big": 5})
    found = lines(story, replace(story, steps=(first, *story.steps[1:])))
    assert found[0] == "They part in state 1: big is 0 or 5"


def test_the_command_shows_two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for model in ("solution", "aimless"):
        kmc("check", "die_hard", model, "--engine", "python")
    first, second = sorted(Path(".kmc/runs").iterdir(), key=lambda path: "solution" in path.name)
    ran = kmc("trace", str(first), "--beside", str(second))
    assert ran.exit_code == 0, ran.output
    assert ran.stdout.startswith("The first 2 states are the same:\n+ 1  Initial state\n")
    assert "ends there, and" in ran.stdout
    assert kmc("trace", str(first), "--beside", str(second), "--table").exit_code == 2


def test_the_command_writes_a_page_beside_the_page_of_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for model in ("solution", "aimless"):
        kmc("check", "die_hard", model, "--engine", "python", "--run-dir", model)
    first, second = (next(Path(model).iterdir()) for model in ("solution", "aimless"))
    ran = kmc("trace", str(first), "--beside", str(second), "--html")
    assert ran.stdout == f"Page: {first}/trace-beside.html\n"
    text = (first / "trace-beside.html").read_text(encoding="utf-8")
    assert kmc("trace", str(first), "--beside", str(second), "--html", "out.html").exit_code == 0
    assert Path("out.html").read_text(encoding="utf-8") == text
    assert kmc("trace", str(first), "--beside", str(second), "--format", "html").stdout.strip() == text.strip()
    assert "<h1>Two traces that share their first" in text
    for wrong in (["--format", "itf"], ["--html", "out.html", "--table"], ["--step", "2"]):
        assert kmc("trace", str(first), "--beside", str(second), *wrong).exit_code == 2


def test_messages_come_last_among_the_differences() -> None:
    left, right = hand_made_story(), hand_made_story()
    first = {**right.steps[0].variables, "net": TlaSet(("m",)), "extra": 1}
    found = differences(left, replace(right, steps=(replace(right.steps[0], variables=first), *right.steps[1:])), 0)
    assert [change.path[0] for change in found] == ["extra", "net"]
