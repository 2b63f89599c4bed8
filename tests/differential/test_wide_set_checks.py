"""Whole checks of specs with stored sets and maps of more possible elements than a word has bits, on all engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.drawing.states import random_state
from support.oracles.both_engines import beginning_with, compiled, interpreted
from support.oracles.results import told
from support.specs.small import model_of

from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import SpecError
from kmc.lang.assumed_range import AssumedRange
from kmc.result import Verdict
from kmc.runtime.codec import decode_row, encode_row
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _narrow_at_first() -> Iterator[None]:
    with beginning_with(AssumedRange(0, 15)):
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
    term: Int(0, 30)
    kind: Kind


class State(Record):
    term: Map[Server, Int(0, 30)]
    letters: Set[Letter]
    seen: PartialMap[Letter, Bool]
    leaders: Set[Int(0, 99)]


@spec.init
def init():
    yield State(term={s: 0 for s in Server}, letters=set(), seen={}, leaders=set())


@spec.action(fair=WEAK)
def ask(st, s: Server):
    if st.term[s] < Last:
        term = st.term[s] + 1
        sent = {Letter(src=s, dst=t, term=term, kind=Kind.ASK) for t in Server if t != s}
        yield st.set(term=st.term.set(s, term), letters=st.letters | sent)


@spec.action(fair=WEAK)
def answer(st, t: Server):
    for m in st.letters:
        if m.dst == t and m.kind == Kind.ASK and m not in st.seen:
            kind = Kind.GRANT if m.term > st.term[t] else Kind.DENY
            reply = Letter(src=t, dst=m.src, term=m.term, kind=kind)
            term = max(m.term, st.term[t])
            yield st.set(
                term=st.term.set(t, term), letters=st.letters - {m} | {reply}, seen=st.seen.add(m, kind == Kind.GRANT)
            )


@spec.action
def lead(st, s: Server):
    grants = {m for m in st.letters if m.dst == s and m.kind == Kind.GRANT and m.term == st.term[s]}
    if len(grants) > 0 and st.term[s] + 60 not in st.leaders:
        yield st.set(leaders=st.leaders | {st.term[s] + 60}, letters=st.letters - grants)


@spec.action
def lose(st):
    for m in st.letters:
        if m.kind == Kind.DENY:
            yield st.set(letters=st.letters - {m})


@spec.invariant
def Known(st):
    return all(m.term <= Last for m in st.letters) and all(l > 60 for l in st.leaders)


@spec.invariant
def AtMostOne(st):
    return len(st.leaders) < 2


@spec.reachable
def led(st):
    return 61 in st.leaders


@spec.action_property
def Kept(st, nxt):
    return st.seen.keys() <= nxt.seen.keys() and st.leaders <= nxt.leaders


@spec.liveness
def Asked():
    return eventually(lambda st: len(st.letters) > 0)


spec.symmetry("Symmetry", Server)
spec.view("NoLeaders", drop=["seen"])


@spec.abstraction
def forget(st):
    '''What was seen decides nothing but answers.'''
    return st.set(seen={m: True for m in st.seen})
"""
CFG = "CONSTANT Server = {a, b} INVARIANTS Known AtMostOne PROPERTY Kept CHECK_DEADLOCK FALSE "
MODELS = {
    "plain": CFG,
    "symmetric": CFG + "SYMMETRY Symmetry",
    "three": CFG.replace("{a, b}", "{a, b, c}") + "CONSTANT Last = 1 SYMMETRY Symmetry",
    "lively": CFG.replace("AtMostOne", "") + "CONSTANT Last = 1 SPECIFICATION Spec PROPERTY Asked",
    "viewed": CFG.replace("AtMostOne", "").replace("PROPERTY Kept", "") + "VIEW NoLeaders",
}


@pytest.mark.parametrize("name", MODELS)
def test_a_check_says_what_the_interpreter_says(name: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, BALLOTS, MODELS[name])
    wanted = interpreted(model)
    assert told(compiled(model)) == wanted
    assert told(compiled(model, fingerprint_bits=128, threads=2)) == wanted
    assert wanted["verdict"] is (Verdict.VIOLATION if name in ("plain", "symmetric") else Verdict.OK)


@pytest.mark.parametrize("name", ["plain", "symmetric"])
def test_a_check_in_shards_says_what_the_interpreter_says(name: str, tmp_path: Path) -> None:
    model = model_of(tmp_path, BALLOTS, MODELS[name])
    directory = RunDirectory.created(tmp_path, {})
    found = compiled(model, directory=directory, search_of=sharded(Sharding(3)))
    assert told(found) == interpreted(model)
    directory.discard()


NUMBERS = """
Last = constant("Last", Int(1, 9999), "The last number", 60)


class State(Record):
    at: int
    met: Set[int]
    last: PartialMap[int, Int(0, 3)]


@spec.init
def init():
    yield State(at=0, met={0}, last={})


@spec.action
def step(st):
    if st.at < Last:
        n = st.at + 7
        last = st.last.set(n, 1) if n in st.last else st.last.add(n, 0)
        yield st.set(at=n, met=st.met | {n} if n % 5 > 0 else st.met - {n - 7}, last=last)


@spec.action
def back(st):
    if len(st.met) > 2:
        yield st.set(met={-n for n in st.met if n > 10} | {LOWEST}, last={n: 2 for n in st.met})


@spec.invariant
def Few(st):
    return len(st.met) < 9 and max(st.met, default=0) < 500 and 3 not in st.last


@spec.reachable
def deep(st):
    return 28 in st.met and any(n > 40 for n in st.last)
"""


@pytest.mark.parametrize("last", [10, 60, 200])
def test_sets_of_int_widen_with_their_range(last: int, tmp_path: Path) -> None:
    cfg = f"CONSTANT Last = {last} INVARIANT Few CHECK_DEADLOCK FALSE"
    model, lines = model_of(tmp_path, NUMBERS.replace("LOWEST", "-1"), cfg), list[str]()
    found = compiled(model, lines)
    assert told(found) == interpreted(model)
    assert told(compiled(model, fingerprint_bits=128)) == told(found)
    assert len(lines) >= 1
    (tmp_path / "run").mkdir()
    directory = RunDirectory.created(tmp_path / "run", {})
    assert told(compiled(model, directory=directory, search_of=sharded(Sharding(2)))) == told(found)
    directory.discard()


def test_a_partial_map_of_int_is_refused_once_its_range_has_no_mask(tmp_path: Path) -> None:
    model = model_of(tmp_path, NUMBERS.replace("LOWEST", "-900"), "CONSTANT Last = 60 CHECK_DEADLOCK FALSE")
    with pytest.raises(SpecError) as caught:
        compiled(model)
    assert caught.value.code == "KMC804"
    assert "at most 1,024 possible keys; int has 4,352" in str(caught.value)
    assert interpreted(model)["verdict"] is Verdict.OK


def test_an_element_outside_of_its_type_is_the_same_error(tmp_path: Path) -> None:
    source = """
class State(Record):
    s: Set[Int(-5, 94)]


@spec.init
def init():
    yield State(s={0, 90})


@spec.action
def shift(st):
    yield st.set(s={x + 3 for x in st.s})


@spec.action
def join(st):
    if 93 in st.s:
        yield st.set(s=st.s | {x + 1 for x in st.s if x > 92} | {-6})
"""
    model = model_of(tmp_path, source, "CHECK_DEADLOCK FALSE")
    wanted = interpreted(model)
    assert wanted["verdict"] is Verdict.ERROR
    assert told(compiled(model)) == wanted


def test_a_row_holds_its_state(tmp_path: Path) -> None:
    from random import Random

    model = model_of(tmp_path, BALLOTS, CFG)
    chance = Random(3)
    for _ in range(50):
        state = random_state(model, chance)
        assert decode_row(encode_row(state), model.spec.state_class) == state
