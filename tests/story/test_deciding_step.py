"""The explanation of an invariant names the step that made it fail, and what the process was before."""

from __future__ import annotations

from dataclasses import replace

from support.views.stories import hand_made_story, step, story_of_finding

from kmc.lang.tla import Tla, TlaMap
from kmc.story.explain.deciding_step import deciding_step
from kmc.story.parts.story import Change, ComparedValue, LaneColumn, Story, Why


def told(changes: tuple[Change, ...], *compared: str, story: Story | None = None) -> str:
    """What is said of a last step with these changes, where the property compares these expressions."""
    story = story or hand_made_story()
    last = replace(story.steps[-1], changes=changes)
    why = Why("P", "", "", (), tuple(ComparedValue(name, "?") for name in compared), "P fails.")
    return deciding_step(replace(story, steps=(*story.steps[:-1], last)), why)


ROLE = Change(("role", "a"), "a", "Leader", "Gone")


def test_an_illegal_state_is_told_with_the_step_and_what_the_server_was_before() -> None:
    story = story_of_finding("kraft", "restarts")
    assert story.why is not None
    assert story.why.step == (
        "Step 7, HandleBeginQuorumRequest n1 -> n2, epoch 2, changes state of n2 from Follower to IllegalState. "
        "In state 6, n2 has epoch 2, leader none, high watermark 0."
    )


def test_a_property_that_compares_other_places_too_is_not_told_what_the_process_was() -> None:
    assert told((ROLE,), "role of a", "role of b") == "Step 4, Append(a), changes role of a from Leader to Gone."


def test_a_field_of_a_record_is_known_by_its_name() -> None:
    field = Change(("nodes", "a", "role"), "a", "Leader", "Gone")
    assert told((field,), "role of a", "x").endswith("changes nodes.role of a from Leader to Gone.")


def test_elements_and_entries_are_added_and_removed() -> None:
    changes = (
        Change(("acked",), None, None, "v1", of_set=True),
        Change(("acked",), None, "v2", None, of_set=True),
        Change(("won", "a"), None, None, "1"),
    )
    assert told(changes, "acked", "won[a]") == (
        "Step 4, Append(a), adds v1 to acked; removes v2 from acked; sets won.a to 1."
    )


def test_what_is_not_compared_too_long_or_of_a_lasso_is_not_told() -> None:
    assert told((ROLE,), "epoch of a") == ""
    assert told((), "role of a") == ""
    assert told((replace(ROLE, new="x" * 99),), "role of a") == ""
    assert told((ROLE,), "role of a", story=hand_made_story(loop=True)) == ""


def test_processes_that_are_numbers_or_pairs_are_told_by_their_names() -> None:
    for name in ("-2", "{n1, n2}", "{host: n1, port: 1}"):
        state: dict[str, Tla] = {"role": TlaMap(((name, "Up"),)), "epoch": TlaMap(((name, 7),))}
        story = replace(
            hand_made_story(name),
            columns=(LaneColumn("role", "role"), LaneColumn("epoch", "epoch")),
            steps=(step(1, "Initial state", None, state), step(2, "Go", name, state)),
        )
        said = told((Change(("role", name), name, "Up", "Down"),), f"role of {name}", story=story)
        expected = f"changes role of {name} from Up to Down. In state 1, {name} has epoch 7."
        assert said.endswith(expected)


def test_a_counterexample_without_processes_names_the_step() -> None:
    story = story_of_finding("die_hard", "solution")
    assert story.why is not None
    assert story.why.step == "Step 7, BigToSmall, changes big from 5 to 4."
