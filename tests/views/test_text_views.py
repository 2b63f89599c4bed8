"""Text views of a story fit their width and look as the golden files show, at 80, 100 and 160 columns.

KMC_UPDATE_GOLDEN=1 writes what is drawn now into tests/data/views; read the difference before you commit it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from support.views.stories import hand_made_story, reading

from kmc.cli.saved.traced_story import traced_story
from kmc.lang.tla import TlaMap
from kmc.story.parts.story import ComparedValue, Story, Why
from kmc.text_lines import DIM, TextLine
from kmc.trace.files import read_trace
from kmc.views.text_options import TextOptions
from kmc.views.text_view import VIEWS, text_step, text_view

DATA = Path(__file__).parents[1] / "data" / "views"
STEPS = {"own_vote_elects": 4, "changes_without_own_record": 16, "no_fetches": 5, "broken": 4, "big_jug": 3}
"""The traces, and the step that is shown whole: kip_996, kip_642, a lasso of kraft, two_phase_commit, die_hard."""
WIDTHS = (80, 100, 160)
SMALL = ("broken", "big_jug")


@cache
def story(name: str) -> Story:
    """The story of the trace of this name."""
    return traced_story(read_trace(DATA / f"{name}.itf.json"))


def views(name: str, options: TextOptions) -> Iterator[tuple[str, list[TextLine]]]:
    """Each view of a trace by its name; whole states of small ones only."""
    for view in VIEWS:
        if view != "states" or name in SMALL:
            yield view, list(text_view(story(name), view, options))
    yield f"step {STEPS[name]}", list(text_step(story(name), STEPS[name], options))


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_trace_is_shown_as_the_golden_file_says(name: str, width: int) -> None:
    parts = [
        "\n".join([f"=== {view}", *(found.text for found in lines)]) for view, lines in views(name, TextOptions(width))
    ]
    text = "\n\n".join(parts) + "\n"
    path = DATA / f"{name}.{width}.txt"
    if os.environ.get("KMC_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [40, 57, *WIDTHS])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    wide = [
        (name, view, found.text)
        for name in STEPS
        for view, lines in views(name, TextOptions(width))
        for found in lines
        if len(found.text) > width or "\n" in found.text
    ]
    assert wide == []


def test_a_step_that_does_not_matter_is_dim_and_says_so() -> None:
    whole = story("broken")
    steps = list(whole.steps)
    steps[2] = replace(steps[2], matters=False, note="The violation happens without it.")
    lesser = replace(whole, steps=tuple(steps))
    for view, said in (("steps", "(not needed): rms"), ("changes", "(not needed: the violation happens without it)")):
        (shown,) = [
            found
            for found in text_view(lesser, view, TextOptions(100))
            if said in found.text and "RmChooseToAbort(r3)" in found.text
        ]
        assert {piece.tone for piece in shown.pieces if piece.text.strip(": ")} == {DIM}


def test_an_instance_without_a_name_is_its_value() -> None:
    whole = story("broken")
    assert whole.why is not None
    told = replace(whole, why=replace(whole.why, instance=(("", "r2"), ("rm", "r3"))))
    assert "  for:        r2, rm = r3" in [found.text for found in text_view(told, "steps", TextOptions(100))]


def test_a_single_state_says_why_the_property_fails() -> None:
    lines = [line.text for line in text_step(story("broken"), 2, TextOptions(width=160))]
    assert lines[0] == "Consistent fails: rms of r2 is Committed; rms of r3 is Aborted."
    assert lines[2].startswith("2  ")


def test_values_that_the_sentence_lists_are_not_told_again() -> None:
    told = ComparedValue("Up(n1)", "n is 2")
    other = ComparedValue("n", "2")
    why = Why(None, "", "", (), (told, other), "No action is enabled in state 3: Up(n1): n is 2.")
    assert why.beside_the_sentence() == (other,)


def test_the_instances_of_a_fair_action_stand_indented_below_it() -> None:
    lines = [line.text for line in text_view(story("no_check_quorum"), "steps", TextOptions(width=100))]
    place = lines.index("  WF of VoterFetchTimeout: 2 instances")
    assert lines[place + 1] == "    WF_vars(VoterFetchTimeout(s2)): taken in the step back to state 4"


def test_a_star_marks_a_value_that_differs_only_where_it_is_cut() -> None:
    values = ("a_name_that_is_long_1", "a_name_that_is_long_2")
    whole = hand_made_story()
    steps = tuple(
        replace(step, variables={**step.variables, "role": TlaMap((("a", value), ("b", "Follower")))}, changes=())
        for step, value in zip(whole.steps, (values[0], *values, values[1]), strict=True)
    )
    lines = [found.text for found in text_view(replace(whole, steps=steps), "table", TextOptions(100))]
    stars = [line.split("|")[0].count("*") for line in lines if re.match(r"\d ", line)]
    assert stars[:1] + stars[2:3] == [0, 1]


def test_a_table_of_one_process_fits_a_narrow_terminal() -> None:
    whole = hand_made_story()
    column = whole.columns[0]
    wide = replace(whole, columns=tuple(replace(column, title=f"column {number}") for number in range(8)))
    assert max(len(found.text) for found in text_view(wide, "table", TextOptions(38))) <= 38


def test_in_a_cycle_no_change_is_counted_instead_of_told() -> None:
    lines = [line.text for line in text_view(reading("no_check_quorum"), "steps", TextOptions(80))]
    begin = next(number for number, text in enumerate(lines) if text.startswith("| 5  "))
    cycle = " ".join(text.strip() for text in lines[begin : lines.index("", begin)])
    assert "more" not in cycle.replace("any more", "")
    assert "fetch_state.pending_fetch none -> {type: FetchRequest" in cycle
    assert "back: state Follower -> Prospective" in cycle
    assert "source: s2, dest: s1} -> none; votes_recv + {s2}" in cycle
    assert max(map(len, lines)) <= 80
