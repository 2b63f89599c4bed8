"""The story of a violation has what its trace tells, and why it is one."""

from __future__ import annotations

from pathlib import Path

from support.specs.small import model_of
from support.views.stories import reading

from kmc.reference.search import Search
from kmc.story.counterexample import story_of

COUNTER = """
class State(Record):
    n: Int(0, 3)


@spec.init
def init():
    yield State(n=0)


@spec.action
def up(st):
    if st.n < 2:
        yield st.set(n=st.n + 1)
"""


def test_the_story_of_a_deadlock_says_so(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER, "CHECK_DEADLOCK TRUE")
    violation = Search(model).run().violation
    assert violation is not None
    story = story_of(model, violation, {"spec": "counter"})
    assert story.about == {"spec": "counter"}
    assert story.why is not None
    assert story.why.property is None
    assert story.why.sentence.startswith("No action is enabled in state 3")


def test_a_lasso_says_from_which_state_on_its_property_is_false() -> None:
    loop = reading("no_check_quorum").loop
    assert loop is not None
    assert loop.fails_from == 2
