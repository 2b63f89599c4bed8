"""The tree of visited states: branches, the way on, bookmarks, undo."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import pytest

from kmc.errors import CommandLineError
from kmc.explorer.state_tree import VISITED_MAX, StateTree, TreeHistory, VisitedState
from kmc.result import TraceStep


def taken(tree: StateTree, *states: Any) -> StateTree:
    return tree.after_steps([(TraceStep(state, "A", f"A({state})"), None) for state in states])


def states(visited: Iterable[VisitedState]) -> list[Any]:
    return [each.state for each in visited]


def numbers(tree: StateTree) -> list[int]:
    return [visited.number for visited in tree.line()]


def test_a_step_that_was_taken_before_leads_to_the_state_it_made() -> None:
    tree = taken(StateTree(), "a", "b", "c")
    again = taken(tree.moved(0), "b", "c")
    assert again.at == tree.at
    assert len(again.visited) == 3


def test_a_step_that_receives_another_message_is_another_branch() -> None:
    state: Any = "b"
    step = TraceStep(state, "A", "A")
    tree = taken(StateTree(), "a")
    both = tree.after_steps([(step, "m1")]).moved(0).after_steps([(step, "m2")])
    assert [both.visited[n].message for n in both.branches[0]] == ["m1", "m2"]


def test_equal_states_of_different_branches_stay_apart() -> None:
    tree = taken(taken(StateTree(), "a", "b", "x").moved(0), "c", "x")
    assert len(tree.visited) == 5
    assert states(tree.path(tree.at)) == ["a", "c", "x"]


def test_the_line_goes_on_as_the_person_went_last() -> None:
    tree = taken(taken(StateTree(), "a", "b", "c").moved(0), "d")
    assert numbers(tree.moved(0)) == [0, 3]
    assert numbers(tree.moved(1).moved(0)) == [0, 1, 2]
    assert numbers(tree.moved(2).moved(0)) == [0, 1, 2]


def test_undo_goes_back_and_keeps_what_was_visited() -> None:
    first = TreeHistory().then(taken(StateTree(), "a"))
    second = first.then(taken(first.present, "b"))
    undone = second.undone().present
    assert (undone.at, undone.onward) == (first.present.at, first.present.onward)
    assert (undone.visited, undone.branches) == (second.present.visited, second.present.branches)
    assert second.undone().redone().present is second.present
    other = taken(undone, "c")
    assert states(other.visited[number] for number in other.branches[0]) == ["b", "c"]
    assert TreeHistory().undone() == TreeHistory().redone() == TreeHistory()


def test_a_command_after_undo_forgets_what_was_undone() -> None:
    history = TreeHistory().then(taken(StateTree(), "a")).undone().then(taken(StateTree(), "b"))
    assert history.redone() == history


def test_a_command_that_changes_nothing_is_not_undone() -> None:
    history = TreeHistory().then(taken(StateTree(), "a"))
    assert history.then(history.present.moved(0)) is history


def test_an_empty_name_removes_a_bookmark() -> None:
    tree = taken(StateTree(), "a").named(0, "here")
    assert dict(tree.bookmarks) == {0: "here"}
    assert dict(tree.named(0, "").bookmarks) == {}


def test_undo_and_redo_walk_the_list_of_all_places_on_random_commands() -> None:
    chance = random.Random(642)
    history, trees, place = TreeHistory().then(taken(StateTree(), "a")), [StateTree(), taken(StateTree(), "a")], 1
    for _ in range(400):
        kind = chance.choice(["take", "go", "name", "undo", "redo"])
        if kind in ("undo", "redo"):
            history = history.undone() if kind == "undo" else history.redone()
            place = max(0, place - 1) if kind == "undo" else min(len(trees) - 1, place + 1)
        elif history.present.visited:
            tree, number = history.present, chance.randrange(len(history.present.visited))
            match kind:
                case "take":
                    made = taken(tree, chance.choice("abc"))
                case "go":
                    made = tree.moved(number)
                case _:
                    made = tree.named(number, chance.choice(["x", ""]))
            if made != tree:
                trees, place = [*trees[: place + 1], made], place + 1
            history = history.then(made)
        now, then = history.present, trees[place]
        assert (now.at, now.bookmarks, now.onward) == (then.at, then.bookmarks, then.onward)
        assert now.visited[: len(then.visited)] == then.visited
        assert len(now.visited) == max(map(len, (tree.visited for tree in [*history.past, *history.future, now])))
        assert (len(history.past), len(history.future)) == (place, len(trees) - 1 - place)
        line = [visited.number for visited in history.present.line()]
        assert history.present.at is None or history.present.at in line
        assert all(history.present.visited[b].parent == a for a, b in pairwise(line))


def test_a_tree_has_a_limit() -> None:
    tree = taken(StateTree(), *map(str, range(VISITED_MAX)))
    with pytest.raises(CommandLineError, match="KMC672"):
        taken(tree, "one more")
