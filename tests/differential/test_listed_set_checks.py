"""Whole checks of specs with stored sets that are lists: on all engines, and with lists that outgrow their room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.drawing.states import random_state
from support.oracles.both_engines import beginning_with, compiled, interpreted
from support.oracles.results import told
from support.specs.small import model_of

from kmc.compiler.view_order import fingerprint_order
from kmc.engine import assumed_integers
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import SpecError
from kmc.lang.assumed_range import NARROWEST, AssumedRange, AssumedRangeLeft, assuming
from kmc.result import Verdict
from kmc.runtime.codec import decode_row, encode_row
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _narrow_at_first() -> Iterator[None]:
    with beginning_with(AssumedRange(0, 15, 2)):
        yield


BALLOTS = """
from kmc.spec import WEAK, eventually

Server = constant("Server", IdentSet(symmetric=True), "Who votes")
Last = constant("Last", Int(1, 30), "The last term", 2)


class Kind(Enum):
    ASK, GRANT, DENY = range(3)


class Letter(Record):
    src: Server
    dst: Server
    term: Int(0, 3000)
    kind: Kind


class Log(Record):
    open: Bool
    read: Set[Letter]


class State(Record):
    term: Map[Server, Int(0, 3000)]
    letters: Set[Letter]
    seen: Map[Server, Log]
    leaders: Set[Int(0, 9999)]
    camps: Set[Set[Letter]]
    past: Seq[Set[Letter], 2]
    last: Opt[Set[Letter]]


@spec.init
def init():
    yield State(
        term={s: 0 for s in Server}, letters=set(), seen={s: Log(open=False, read=set()) for s in Server},
        leaders=set(), camps=set(), past=[], last=None,
    )


@spec.action(fair=WEAK)
def ask(st, s: Server):
    if st.term[s] < Last:
        term = st.term[s] + 1
        sent = {Letter(src=s, dst=t, term=term, kind=Kind.ASK) for t in Server if t != s}
        yield st.set(term=st.term.set(s, term), letters=st.letters | sent)


@spec.action(fair=WEAK)
def answer(st, t: Server):
    for m in st.letters:
        if m.dst == t and m.kind == Kind.ASK and m not in st.seen[t].read:
            kind = Kind.GRANT if m.term > st.term[t] else Kind.DENY
            reply = Letter(src=t, dst=m.src, term=m.term, kind=kind)
            log = st.seen[t]
            yield st.set(
                term=st.term.set(t, max(m.term, st.term[t])), letters=st.letters - {m} | {reply},
                seen=st.seen.set(t, log.set(read=log.read | {m}, open=kind == Kind.GRANT)),
            )


@spec.action
def lead(st, s: Server):
    grants = {m for m in st.letters if m.dst == s and m.kind == Kind.GRANT and m.term == st.term[s]}
    if len(grants) > 0 and st.term[s] + 4000 not in st.leaders:
        yield st.set(leaders=st.leaders | {st.term[s] + 4000}, letters=st.letters - grants, last=grants)


@spec.action
def lose(st):
    for m in st.letters:
        if m.kind == Kind.DENY:
            past = [st.letters] if len(st.past) > 1 else st.past.append(st.letters & st.seen[m.dst].read)
            yield st.set(letters=st.letters - {m}, past=past, camps=st.camps | {{m}})


@spec.invariant
def Known(st):
    return all(m.term <= Last for m in st.letters) and all(l > 4000 for l in st.leaders)


@spec.invariant
def AtMostOne(st):
    return len(st.leaders) < 2 or st.last == set()


@spec.reachable
def led(st):
    return 4001 in st.leaders


@spec.action_property
def Kept(st, nxt):
    return all(st.seen[s].read <= nxt.seen[s].read for s in Server) and st.leaders <= nxt.leaders


@spec.liveness
def Asked():
    return eventually(lambda st: st.letters != set())


spec.symmetry("Symmetry", Server)
spec.view("NoCamps", drop=["camps"])
"""
CFG = "CONSTANT Server = {a, b} INVARIANTS Known AtMostOne PROPERTY Kept CHECK_DEADLOCK FALSE "
MODELS = {
    "plain": CFG,
    "symmetric": CFG + "SYMMETRY Symmetry",
    "three": CFG.replace("{a, b}", "{a, b, c}") + "CONSTANT Last = 1 SYMMETRY Symmetry",
    "lively": CFG.replace("AtMostOne", "") + "CONSTANT Last = 1 SPECIFICATION Spec PROPERTY Asked",
    "viewed": CFG.replace("AtMostOne", "").replace("PROPERTY Kept", "") + "CONSTANT Last = 1 VIEW NoCamps",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_check_says_what_the_interpreter_says(name: str, tmp_path: Path) -> None:
    model, lines = model_of(tmp_path, BALLOTS, MODELS[name]), list[str]()
    wanted = interpreted(model)
    assert told(compiled(model, lines)) == wanted
    assert told(compiled(model, fingerprint_bits=128, threads=2)) == wanted
    assert len(lines) > 0 or name in ("lively", "viewed")
    assert all("a set has more than" in line for line in lines)


@pytest.mark.parametrize("name", ["plain", "symmetric"])
def test_a_check_in_shards_says_what_the_interpreter_says(name: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, BALLOTS, MODELS[name])
    directory = RunDirectory.created(tmp_path, {})
    found = compiled(model, directory=directory, search_of=sharded(Sharding(3)))
    assert told(found) == interpreted(model)
    directory.discard()


GROWING = """
Last = constant("Last", Int(1, 999), "The last number", 20)


class State(Record):
    met: Set[Int(0, 99999)]
    size: Int(0, 999)


@spec.init
def init():
    yield State(met={7}, size=1)


def with_met(st, met):
    return st.set(met=met, size=len(met))


@spec.action
def step(st):
    if len(st.met) < Last:
        yield with_met(st, st.met | {max(st.met) + 2003})


@spec.action
def halve(st):
    yield with_met(st, {n for n in st.met if n % 2 == len(st.met) % 2} | {7})


spec.view("Sizes", drop=["met"])
"""


@pytest.mark.parametrize("last", [2, 3, 17, 33])
def test_a_set_that_outgrows_its_list_starts_the_search_again(last: int, tmp_path: Path) -> None:
    model, lines = model_of(tmp_path, GROWING, f"CONSTANT Last = {last} CHECK_DEADLOCK FALSE"), list[str]()
    assert told(compiled(model, lines)) == interpreted(model)
    room = [int(line.rstrip(".").split()[-1]) for line in lines]
    assert room == [size for size in (4, 8, 16, 32, 64) if size < 2 * last]


def test_lists_have_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(tmp_path, GROWING, "CONSTANT Last = 400 CHECK_DEADLOCK FALSE")
    monkeypatch.setattr(assumed_integers, "observed_range", lambda model, start=None: AssumedRange(0, 15, 512))
    with pytest.raises(SpecError) as caught:
        compiled(model)
    assert caught.value.code == "KMC804"
    assert "at most 256 members and 512 words; Set[0..99999] needs 512 and 172" in str(caught.value)


def test_a_model_with_a_view_has_lists_of_one_size(tmp_path: Path) -> None:
    small = model_of(tmp_path / "small", GROWING, "CONSTANT Last = 30 VIEW Sizes CHECK_DEADLOCK FALSE")
    assert told(compiled(small)) == interpreted(small)
    large = model_of(tmp_path / "large", GROWING, "CONSTANT Last = 40 VIEW Sizes CHECK_DEADLOCK FALSE")
    with pytest.raises(SpecError, match="a set has more than 32 members") as caught:
        compiled(large)
    assert caught.value.code == "KMC808"
    assert interpreted(large)["verdict"] is Verdict.OK


def test_of_one_view_the_interpreter_orders_states_whose_sets_have_no_room_by_their_values(tmp_path: Path) -> None:
    model = model_of(tmp_path, GROWING, "CONSTANT Last = 40 VIEW Sizes CHECK_DEADLOCK FALSE")
    order, state_class = fingerprint_order(model), model.spec.state_class
    assert order is not None
    states: list[Any] = [state_class(met=frozenset(range(first, 33)), size=0) for first in (0, 20, 31)]
    assert max(states, key=order) == states[0]


NUMBERS = """
class State(Record):
    at: int
    met: Set[int]


@spec.init
def init():
    yield State(at=0, met={0})


@spec.action
def step(st):
    if st.at < 40:
        yield st.set(at=st.at + 7, met=st.met | {st.at * st.at * st.at})


@spec.action
def back(st):
    if len(st.met) > 2:
        yield st.set(met={-n for n in st.met if n > 10} | {-900})
"""


def test_a_set_of_int_is_a_list_once_its_range_has_no_mask(tmp_path: Path) -> None:
    model, lines = model_of(tmp_path, NUMBERS, "CHECK_DEADLOCK FALSE"), list[str]()
    wanted = interpreted(model)
    assert wanted["verdict"] is Verdict.OK
    assert told(compiled(model, lines)) == wanted
    assert {"members" in line for line in lines} == {False, True}


def test_a_row_holds_its_state_and_equal_states_have_equal_rows(tmp_path: Path) -> None:
    model = model_of(tmp_path, BALLOTS, CFG)
    chance = Random(3)
    for _ in range(50):
        state = random_state(model, chance)
        row = encode_row(state)
        assert decode_row(row, model.spec.state_class) == state
        letters = list(state.letters)
        chance.shuffle(letters)
        assert encode_row(state.set(letters=frozenset(letters))) == row


def test_a_state_with_a_set_that_has_no_room_has_no_row(tmp_path: Path) -> None:
    model = model_of(tmp_path, GROWING, "CONSTANT Last = 9 CHECK_DEADLOCK FALSE")
    state_class: Any = model.spec.state_class
    state = state_class(met=frozenset(range(NARROWEST.members + 1)), size=0)
    with assuming(NARROWEST), pytest.raises(AssumedRangeLeft) as caught:
        encode_row(state)
    assert caught.value.members
