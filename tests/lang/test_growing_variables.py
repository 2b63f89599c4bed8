"""`GrowthWatch`: which integers of the states rise with the levels, and which have an end in sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.specs.small import model_of

from kmc.frontend.growing_variables import GrowthWatch
from kmc.lang.seqs import seq_literal
from kmc.reference.states.initial import initial_states

SOURCE = """
Server = constant("Server", IdentSet(), "Who counts")


class Ping(Message):
    number: Int(0, 10_000)
    source: Server
    dest: Server


class Clock(Record):
    hour: Int(0, 10_000)


class State(Record):
    n: Int(0, 10_000)
    small: Int(0, 40)
    clocks: Map[Server, Clock]
    maybe: Opt[Int(0, 10_000)]
    log: Seq[Int(0, 10_000), 1_000]
    seen: Set[Int(0, 40)]
    messages: MessageSet[Ping, 4]


@spec.init
def init():
    yield State(
        n=0, small=0, clocks={s: Clock(hour=0) for s in Server}, maybe=None, log=[], seen=set(), messages=set()
    )


@spec.action
def step(st):
    yield st
"""


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The initial state."""
    (state,) = initial_states(model_of(tmp_path_factory.mktemp("spec"), SOURCE, "CONSTANT Server = {a, b}"))
    return state


def sample_of(level: int, state_of: Callable[[int], Any]) -> Callable[[int], list[Any]]:
    """The samples of a level, which has one state."""
    return lambda _: [state_of(level)]


def seen(levels: int, state_of: Callable[[int], Any], every: int = 1) -> dict[str, tuple[int, int]]:
    """What grows after so many levels, each of one state: its largest value and bound."""
    watch = GrowthWatch(share=0)
    for level in range(1, levels + 1, every):
        watch.level_made(level, sample_of(level, state_of))
    return {found.name: (found.value, found.bound) for found in watch.growing}


@pytest.mark.parametrize("every", [1, 3, 7])
def test_a_counter_that_rises_with_the_levels_has_no_end_in_sight(every: int, first: Any) -> None:
    last = range(1, 101, every)[-1]
    assert seen(100, lambda level: first.set(n=level - 1), every) == {"n": (last - 1, 10_000)}


def test_one_that_rises_now_and_then_is_found_too(first: Any) -> None:
    assert seen(100, lambda level: first.set(n=level // 10)) == {"n": (10, 10_000)}


@pytest.mark.parametrize(
    "state_of",
    [
        lambda first, level: first,
        # It has stopped: its guard bounds it.
        lambda first, level: first.set(n=min(level, 70)),
        # Its type ends before long.
        lambda first, level: first.set(small=level // 3),
        # It rose by leaps.
        lambda first, level: first.set(n=0 if level < 60 else 50),
    ],
)
def test_a_counter_that_is_bounded_is_not_taken_for_endless(state_of: Callable[[Any, int], Any], first: Any) -> None:
    assert seen(100, lambda level: state_of(first, level)) == {}


def test_a_few_levels_tell_nothing(first: Any) -> None:
    assert seen(20, lambda level: first.set(n=level)) == {}
    assert seen(0, lambda level: first) == {}


def test_integers_are_found_wherever_they_are(first: Any) -> None:
    (clock, *_) = first.clocks.values()
    key = next(iter(first.clocks))

    def state_of(level: int) -> Any:
        return first.set(
            clocks=first.clocks.set(key, clock.set(hour=level)),
            maybe=level,
            log=seq_literal(range(level)),
            seen=frozenset({level % 40}),
        )

    assert seen(60, state_of) == {
        "clocks[*].hour": (60, 10_000),
        "maybe": (60, 10_000),
        "len(log)": (60, 1_000),
        "log[*]": (59, 10_000),
    }


def test_it_pauses_longer_than_it_works(first: Any) -> None:
    now, asked = [0.0], []

    def sample(count: int) -> list[Any]:
        asked.append(count)
        now[0] += 0.01
        return [first]

    watch = GrowthWatch(lambda: now[0], share=50)
    for level in range(1, 301):
        now[0] += 0.01
        watch.level_made(level, sample)
    # Three seconds, the first half second of them unwatched.
    assert 4 <= len(asked) <= 6
