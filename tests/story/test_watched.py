"""Expressions along a trace: their values stand in every state, and a step's changes of them come first."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import COUNTER, model_of
from support.views.stories import shipped_model

from kmc.cli.saved.traced_story import watching
from kmc.errors import CommandLineError
from kmc.reference.search import Search
from kmc.story.counterexample import story_of
from kmc.story.parts.in_words import in_words
from kmc.story.parts.story import Story
from kmc.story.watched import NO_VALUE, expressions_of, watched
from kmc.trace.files import read_trace
from kmc.views.page.data import page_data
from kmc.views.text_options import TextOptions
from kmc.views.text_view import VIEWS, text_view

VIEWS_DATA = Path(__file__).parents[1] / "data" / "views"


def solved(*texts: str) -> Story:
    """The solution of die_hard, a spec without processes, with these expressions."""
    model = shipped_model("die_hard", "solution")
    violation = Search(model).run().violation
    assert violation is not None
    states = [step.state for step in violation.trace.steps]
    return watched(story_of(model, violation), expressions_of(model.spec, texts), states)


def test_an_expression_has_its_value_in_every_state() -> None:
    story = solved("st.big + st.small", " big > 3 ", "big > 3")
    assert story.watched == ("st.big + st.small", "big > 3")
    assert story.variables[:2] == story.watched
    assert [in_words(step.variables["st.big + st.small"]) for step in story.steps] == list("0552277")
    assert [change.old for change in story.steps[1].changes][:2] == ["0", "false"]


def test_it_stands_in_every_text_view_and_on_the_page() -> None:
    story = solved("st.big + st.small")
    for view in ("steps", "changes", "states"):
        assert "st.big + st.small" in "".join(line.text for line in text_view(story, view, TextOptions(100)))
    steps = [line.text for line in text_view(story, "steps", TextOptions(100))]
    assert any("1  Initial state: st.big + st.small = 0" in text for text in steps)
    assert any("FillBigJug: st.big + st.small 0 -> 5" in text for text in steps)
    assert page_data(story)["watched"] == ["st.big + st.small"]
    assert set(VIEWS) >= {"steps", "changes", "states"}


def test_a_state_without_a_value_says_so_and_the_trace_is_told(tmp_path: Path) -> None:
    story = solved("10 // st.small")
    assert in_words(story.steps[0].variables["10 // st.small"]) == NO_VALUE
    assert in_words(story.steps[2].variables["10 // st.small"]) == "3"
    assert len(story.steps) == 7


@pytest.mark.slow
def test_the_step_that_closes_a_cycle_changes_the_expression_back() -> None:
    file = read_trace(VIEWS_DATA / "no_check_quorum.itf.json")
    from kmc.cli.saved.traced_story import traced_story

    text = "len({s for s in ServerId if s in st.servers and st.servers[s].state == ServerState.PROSPECTIVE})"
    story = watching(traced_story(file), file, None, None, [text])
    assert story.loop is not None
    assert story.loop.closing is not None
    assert [in_words(step.variables[text]) for step in story.steps] == ["0", "0", "0", "1", "0", "0"]
    first = story.loop.closing.changes[0]
    assert (first.path, first.old, first.new) == ((text,), "0", "1")


def test_an_expression_over_a_step_and_a_wrong_name_are_refused(tmp_path: Path) -> None:
    spec = model_of(tmp_path, COUNTER).spec
    for text, code in (("nxt.n > st.n", "KMC649"), ("st.n +", "KMC640"), ("nothing", "KMC641")):
        with pytest.raises(CommandLineError) as raised:
            expressions_of(spec, [text])
        assert raised.value.code == code
