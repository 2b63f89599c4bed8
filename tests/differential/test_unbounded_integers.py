"""Integers without declared bounds mean the same to all engines, however narrow the range is that a search begins with.

Every search here begins with 0..1 and forgets what earlier searches needed, so most of them start again several times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, note, seed, settings
from support.drawing.runs import STATES, depends_on_order, ended, said
from support.drawing.specs import Drawn, spec_of, specs
from support.oracles.results import TINY, told
from support.runs.stored import begun, continue_in_storage, left_in, searched
from support.specs.small import COUNTER, IMPORTS, TURNED_LIGHT, TURNED_LIGHT_CFG, model_of

from kmc.checking.check import check
from kmc.checking.model_choice import ChosenModel
from kmc.checking.request import CheckRequest, Engine
from kmc.compiler.ir.nodes import Expr
from kmc.compiler.values.code import Code, Origin
from kmc.compiler.view_order import fingerprint_order
from kmc.engine import assumed_integers
from kmc.engine.assumed_integers import RANGE, RememberedRange
from kmc.engine.check_model import check_native
from kmc.engine.files.run_directory import RunDirectory
from kmc.errors import SpecError
from kmc.frontend.model import Model
from kmc.lang.assumed_range import WIDEST, AssumedRange
from kmc.reference.search import Search
from kmc.reference.temporal.accepted_problem import accepted_problem
from kmc.result import Limits, Result, Verdict
from kmc.runtime.kernel_errors import RangeEnd
from kmc.shards.level.sharding import Sharding
from kmc.shards.on_one_machine import sharded
from kmc.shards.storage.run_in_storage import StoredRun

pytestmark = pytest.mark.slow

EXAMPLES = settings().max_examples // 5
"""20, and with `make fuzz` 400."""

SEED = 5

VIEWS = 5
"""The number of drawn specs with a view that are searched."""

_BOUNDED = re.compile(r"(?<!PartialMap\[)(?<!Set\[)Int\(-?\d{1,13}, -?\d{1,13}\)(?! *,? *\")")


@pytest.fixture(autouse=True)
def _narrow_at_first() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assumed_integers, "observed_range", lambda model, start=None: AssumedRange(0, 1))
        patch.setattr(RememberedRange, "read", lambda self: None)
        patch.setattr(RememberedRange, "write", lambda self, assumed: None)
        yield


def unbounded(drawn: Drawn) -> Drawn:
    """A drawn spec whose fields, and elements and values in them, are integers without bounds."""
    lines = [
        _BOUNDED.sub("int", line) if line.startswith("    ") and ": " in line else line
        for line in drawn.source.splitlines()
    ]
    return replace(drawn, source="\n".join(lines))


CLOCKS = """
from kmc.spec import WEAK, eventually

Server = constant("Server", IdentSet(symmetric=True), "Whose clock it is")
Last = constant("Last", Int(1, 1000), "Where clocks stop", 60)
Debt = constant("Debt", Int(0, 100000), "The largest debt", 100000)


class Tick(Message):
    source: Server
    dest: Server
    at: int


class State(Record):
    clock: Map[Server, int]
    debt: int
    seen: Seq[int, 1]
    last: int | None
    net: MessageSet[Tick]


@spec.init
def init():
    yield State(clock={s: 0 for s in Server}, debt=0, seen=[], last=None, net=set())


@spec.action(fair=WEAK)
def tick(st, s: Server):
    require(st.clock[s] < Last and len(st.net) == 0)
    for t in Server:
        if t != s:
            at = st.clock[s] + 7
            yield st.set(clock=st.clock.set(s, at), net=st.net.send(Tick(source=s, dest=t, at=at)))


@spec.receive(Tick, s="dest", fair=WEAK)
def hear(st, m, s):
    at = max(m.at, st.clock[s]) + 1
    yield st.set(
        clock=st.clock.set(s, at), debt=st.debt - at * 3, seen=[m.at], last=m.at, net=st.net.discard(m)
    )


@spec.invariant
def InDebt(st):
    return st.debt > -Debt


@spec.invariant
def Order(st):
    return all(o <= Last + 7 for o in st.seen) and (st.last is None or st.last > 0)


@spec.reachable
def late(st):
    return any(st.clock[s] > 40 for s in Server)


@spec.action_property
def Rises(st, nxt):
    return all(nxt.clock[s] >= st.clock[s] for s in Server)


@spec.liveness
def Ends():
    return eventually(lambda st: any(st.clock[s] > 55 for s in Server))


@spec.liveness
def Rests():
    return eventually(lambda st: st.debt < -3000)


spec.symmetry("Symmetry", Server)
"""

CFG = "CONSTANT Server = {a, b} INVARIANTS InDebt Order PROPERTY Rises CHECK_DEADLOCK FALSE "


def interpreted(model: Model, **options: Any) -> Result:
    """The interpreter's result."""
    limits = options.pop("limits", Limits())
    return Search(model, limits, view_order=fingerprint_order, problem=accepted_problem(model), **options).run()


def compiled(model: Model, lines: list[str], **options: Any) -> Result:
    """The native engine's result; `lines` gets what it says of restarts."""
    limits = options.pop("limits", Limits())
    return check_native(model, limits, problem=accepted_problem(model), note=lines.append, **options)


def but_for_lassos(result: Result) -> dict[str, Any]:
    """What engines say alike: of several shortest lassos each shows one."""
    figures = told(result)
    return figures if result.verdict is not Verdict.LIVENESS else {**figures, "trace": len(figures["trace"])}


def begun_in(folder: Path) -> RunDirectory:
    """A run that can be resumed, in a new folder."""
    folder.mkdir()
    return RunDirectory.created(folder, {})


@pytest.mark.hypothesis
def test_a_random_spec_means_the_same_with_integers_without_bounds() -> None:
    counts: Counter[str] = Counter()

    @settings(max_examples=EXAMPLES, phases=[Phase.explicit, Phase.reuse, Phase.generate])
    @given(specs())
    def compare(drawn: Drawn) -> None:
        drawn = unbounded(drawn)
        note(str(drawn))
        with TemporaryDirectory() as folder:
            model, limits, lines = model_of(Path(folder), drawn.source, drawn.cfg), Limits(states=STATES), list[str]()
            search = Search(model, limits, keep_going=drawn.keep_going, view_order=fingerprint_order)
            wanted = ended(search.run)
            try:
                run = partial(
                    check_native, model, limits, keep_going=drawn.keep_going, settings=TINY, note=lines.append
                )
                found = ended(run)
            except SpecError as error:
                counts[f"refused {error.code}"] += 1
                return
            if not drawn.world.safe and depends_on_order(drawn, model, limits, wanted):
                counts["of order"] += 1
                return
            assert said(found) == said(wanted)
            counts["started again" if lines else "in the first range"] += 1

    run = seed(SEED)(compare) if settings().derandomize else compare
    run()
    assert counts["started again"] > EXAMPLES // 3


@pytest.mark.parametrize(
    "cfg",
    [
        CFG,
        CFG + "SYMMETRY Symmetry",
        CFG + "CONSTANT Debt = 500",
        CFG + "CONSTANT Debt = 500 SYMMETRY Symmetry",
        CFG + "SPECIFICATION Spec PROPERTY Ends",
        CFG + "SPECIFICATION Spec PROPERTY Rests",
    ],
)
def test_a_search_starts_again_until_all_integers_have_room(cfg: str, tmp_path: Path) -> None:
    model, lines = model_of(tmp_path, CLOCKS, cfg), list[str]()
    wanted = but_for_lassos(interpreted(model))
    assert but_for_lassos(compiled(model, lines)) == wanted
    assert len(lines) > 2, "both ends left the range, one of them twice"
    assert but_for_lassos(compiled(model, [], fingerprint_bits=128, threads=2)) == wanted


@pytest.mark.parametrize("cfg", [CFG, CFG + "CONSTANT Debt = 500", CFG + "SPECIFICATION Spec PROPERTY Rests"])
def test_a_search_in_shards_starts_again(cfg: str, tmp_path: Path) -> None:
    model, lines = model_of(tmp_path, CLOCKS, cfg), list[str]()
    directory = begun_in(tmp_path / "run")
    found = compiled(model, lines, directory=directory, search_of=sharded(Sharding(3)))
    assert but_for_lassos(found) == but_for_lassos(interpreted(model))
    assert len(lines) > 2
    directory.discard()


def test_a_range_that_is_left_behind_a_failure_is_widened_too(tmp_path: Path) -> None:
    model, lines = model_of(tmp_path, CLOCKS, CFG + "CONSTANT Debt = 40"), list[str]()
    found = compiled(model, lines, keep_going=True)
    assert told(found) == told(interpreted(model, keep_going=True))
    assert lines[-1].split()[-1].startswith("-4096..")


def test_a_restart_names_the_line_and_both_ranges(tmp_path: Path) -> None:
    source = COUNTER.replace("n: Int(0, 100)", "n: int")
    model, lines = model_of(tmp_path, source, "CONSTANT Limit = 20 CHECK_DEADLOCK FALSE"), list[str]()
    assert compiled(model, lines).counters.distinct == 21
    line = next(place for place, text in enumerate((IMPORTS + source).splitlines(), 1) if "st.n + 1" in text)
    assert lines == [f"spec.py:{line}: an int is above 0..1, which was assumed; the search starts again with 0..31."]


def test_an_abstraction_bounds_a_counter_without_end(tmp_path: Path) -> None:
    model = model_of(tmp_path, TURNED_LIGHT.replace("turns: Int(0, 200)", "turns: int"), TURNED_LIGHT_CFG)
    results = [check(CheckRequest(ChosenModel(model, None), engine=engine)).result for engine in Engine]
    assert told(results[0]) == told(results[1])
    assert results[0].counters.distinct == 2


def test_a_counter_is_an_image_of_a_counter(tmp_path: Path) -> None:
    abstract = COUNTER.replace("n: Int(0, 100)", "n: int")
    (tmp_path / "abstract.py").write_text(IMPORTS + abstract, encoding="utf-8")
    refined = "from ..abstract import State as Abstract\n" + abstract.replace("st.n + 1", "st.n + 2")
    refined += '\n\n@spec.refines("abstract")\ndef Halves(st):\n    return Abstract(n=st.n // 2 * SCALE)\n'
    for scale, verdict in ((1, Verdict.OK), (40, Verdict.VIOLATION)):
        source = refined.replace("SCALE", str(scale))
        model = model_of(tmp_path / f"by_{scale}", source, "CONSTANT Limit = 60 PROPERTY Halves CHECK_DEADLOCK FALSE")
        lines: list[str] = []
        found = compiled(model, lines)
        assert told(found) == told(interpreted(model))
        assert found.verdict is verdict
        assert lines


def test_a_search_without_the_check_of_the_range_goes_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checked = Code.check

    def unchecked(code: Code, condition: Expr, node: Origin, assumed: RangeEnd | None = None) -> None:
        if assumed is None:
            checked(code, condition, node)

    source = COUNTER.replace("n: Int(0, 100)", "n: int")
    model = model_of(tmp_path, source, "CONSTANT Limit = 20 CHECK_DEADLOCK FALSE")
    assert interpreted(model).counters.distinct == 21
    monkeypatch.setattr(Code, "check", unchecked)
    assert compiled(model, []).counters.distinct < 21


def test_a_run_is_resumed_in_its_own_range(tmp_path: Path) -> None:
    model, lines = model_of(tmp_path, CLOCKS, CFG), list[str]()
    wanted = told(interpreted(model))
    every_level = replace(TINY, save_seconds=0.0)
    directory = begun_in(tmp_path / "run")
    compiled(model, lines, directory=directory, limits=Limits(depth=12), settings=every_level)
    saved = directory.manifest.digests[RANGE]
    assert lines[-1].endswith(f"with {saved}.")
    assert directory.manifest.levels == 12
    directory.close()
    again = RunDirectory.opened(tmp_path / "run")
    lines.clear()
    assert told(compiled(model, lines, directory=again, settings=every_level)) == wanted
    assert not [line for line in lines if " 0..1," in line], "it began with the saved range"
    again.discard()


@pytest.mark.parametrize("shards", [None, 2])
def test_a_resumed_run_that_leaves_its_range_begins_again(shards: int | None, tmp_path: Path) -> None:
    model, lines = model_of(tmp_path, CLOCKS, CFG), list[str]()
    place = {} if shards is None else {"search_of": sharded(Sharding(shards))}
    directory = begun_in(tmp_path / "run")
    compiled(model, [], directory=directory, limits=Limits(depth=3), **place)
    directory.close()
    again = RunDirectory.opened(tmp_path / "run")
    assert told(compiled(model, lines, directory=again, **place)) == told(interpreted(model))
    assert lines
    assert not again.resumed
    again.discard()


def test_a_search_whose_files_lie_in_a_storage_begins_again_there(tmp_path: Path) -> None:
    model, address = model_of(tmp_path / "spec", CLOCKS, CFG), f"file://{tmp_path}/storage/run"
    wanted = told(interpreted(model))
    search_of = sharded(Sharding(2))
    searched(model, begun(tmp_path / "run", address), search_of, depth=2)
    manifest = StoredRun(address).manifest()
    assert manifest is not None
    assert manifest.levels == 2
    assert searched(model, continue_in_storage(tmp_path / "other", address), search_of) == wanted
    assert left_in(address) == []


def test_the_range_does_not_decide_which_state_of_a_view_is_kept(tmp_path: Path) -> None:
    drawn = unbounded(spec_of(Random(2954384581175634)))
    model, limits = model_of(tmp_path, drawn.source, drawn.cfg), Limits(states=STATES)
    assert model.view is not None
    found = compiled(model, [], limits=limits, keep_going=drawn.keep_going)
    assert told(found) == told(interpreted(model, limits=limits, keep_going=drawn.keep_going))


def test_a_random_view_keeps_the_states_that_the_interpreter_keeps() -> None:
    drawn = (unbounded(spec_of(Random(seed))) for seed in count(1))
    for one in islice((one for one in drawn if " VIEW " in one.cfg), VIEWS):
        with TemporaryDirectory() as folder:
            model, limits = model_of(Path(folder), one.source, one.cfg), Limits(states=STATES)
            search = Search(model, limits, keep_going=one.keep_going, view_order=fingerprint_order)
            wanted = ended(search.run)
            try:
                found = ended(partial(check_native, model, limits, keep_going=one.keep_going, settings=TINY))
            except SpecError:
                continue
            assert said(found) == said(wanted) or depends_on_order(one, model, limits, wanted), str(one)


@pytest.mark.parametrize("name", ["Ends", "Rests"])
def test_a_lasso_does_not_depend_on_earlier_searches(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(tmp_path, CLOCKS, CFG + f"SPECIFICATION Spec PROPERTY {name}")
    monkeypatch.setattr(RememberedRange, "read", lambda self: AssumedRange(-(16**6), 16**7 - 1))
    first, lines = compiled(model, []), list[str]()
    monkeypatch.setattr(RememberedRange, "read", lambda self: None)
    assert told(compiled(model, lines)) == told(first)
    assert lines


def test_the_ends_of_ranges_are_powers_of_16() -> None:
    assert AssumedRange(0, 15).raised() == AssumedRange(0, 255)
    assert AssumedRange(0, 15).lowered() == AssumedRange(-16, 15)
    assert AssumedRange(-16, 15).lowered() == AssumedRange(-256, 15)
    assert AssumedRange(0, 15).with_room_for(3) == AssumedRange(0, 15)
    assert AssumedRange(0, 15).with_room_for(4) == AssumedRange(0, 255)
    assert AssumedRange(0, 15).with_room_for(-100) == AssumedRange(-4096, 15)
    assert AssumedRange(0, 16**13 - 1).raised().high == 1 << 52
    assert all(AssumedRange.parsed(str(one)) == one for one in (AssumedRange(-16, 15), WIDEST))
    assert AssumedRange.parsed("all") is None


def test_numbers_of_a_model_with_a_view_are_multiplied(tmp_path: Path) -> None:
    source = """
class State(Record):
    n: int
    h: int


@spec.init
def init():
    yield State(n=1, h=0)


@spec.action
def step(st):
    yield st.set(n=(st.n * 5 + st.n) % 41, h=st.h + st.n)


spec.view("V", drop=["h"])
"""
    model = model_of(tmp_path, source, "VIEW V CHECK_DEADLOCK FALSE")
    assert told(compiled(model, [])) == told(interpreted(model))
