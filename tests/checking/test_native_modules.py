"""Modules on the native engine: the interpreter's figures and verdicts, in the names of the module, from a cache.

Most tests let the interpreter of kmc's language search the translated spec, so that they compile nothing: what is
tested here is translated, read back and started again around the search.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kmc.checking.modules import native_search, native_translation
from kmc.checking.modules.check_module import ModuleRequest, check_loaded_module, check_module, load_module
from kmc.checking.outcome import Outcome
from kmc.checking.request import Engine
from kmc.checking.surroundings import Surroundings
from kmc.engine import check_model
from kmc.errors import InternalError, SpecError
from kmc.frontend.model import Model
from kmc.reference.search import Search
from kmc.result import Limits, Result
from kmc.tla.shapes.observation import ObservedExtent
from kmc.tla.translate import actions
from kmc.tla.translate.decoding import Decoder

CHECKED = Path(__file__).parents[1] / "data" / "tla" / "checked"
COUNTER = """---- MODULE Counter ----
EXTENDS Naturals, Sequences
VARIABLES n, log
Init == n = 0 /\\ log = <<>>
Up == n < 40 /\\ n' = n + 1 /\\ log' = IF n % 8 = 0 THEN Append(log, n) ELSE log
Next == Up
Small == n < 90
Never == n # 33
Begun == n # 0
Boxed == [boxed |-> n + 3] # [boxed |-> n * 2 + 50]
Bad == n = 33 => log[9] > 0
Rises == [][n' = n + 1]_n
Start == n = 0 /\\ []Small
Late == n = 1 /\\ []Small
====
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this test's own."""
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "modules"


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of kmc's language searches instead of compiled code."""

    def search(model: Model, limits: Limits, *, keep_going: bool, **_: Any) -> Result:
        return Search(model, limits, keep_going=keep_going).run()

    monkeypatch.setattr(check_model, "check_native", search)


def checked(
    path: Path, configuration: str, engine: Engine = Engine.NATIVE, around: Surroundings | None = None, **more: Any
) -> Outcome:
    """Check a module with the `.cfg` file of a name beside it."""
    request = ModuleRequest(path, path.with_name(f"{configuration}.cfg"), engine=engine, **more)
    return check_loaded_module(request, load_module(request), around or Surroundings())


@pytest.fixture
def counter(tmp_path: Path) -> Callable[..., Outcome]:
    """A check of the counter with some lines of a `.cfg` file, natively."""
    path = tmp_path / "Counter.tla"
    path.write_text(COUNTER)

    def check(*lines: str, engine: Engine = Engine.NATIVE, **more: Any) -> Outcome:
        text = "\n".join(("INIT Init", "NEXT Next", "CHECK_DEADLOCK FALSE", *lines))
        path.with_suffix(".cfg").write_text(text)
        return checked(path, "Counter", engine, **more)

    return check


@pytest.fixture
def little_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types come from a few states only."""
    monkeypatch.setattr(native_search, "EXTENT", ObservedExtent(states_max=3, steps_max=0))


def figures(outcome: Outcome) -> tuple[object, ...]:
    result = outcome.result
    counters = result.counters
    return (
        outcome.status,
        (counters.generated, counters.distinct, counters.depth, counters.left),
        (result.initial, result.levels, result.generated_by_action, result.never_fired, result.cut),
        result.properties,
    )


def assert_same_violation(ours: Outcome, theirs: Outcome) -> None:
    one, other = ours.result.violation, theirs.result.violation
    assert one is not None
    assert other is not None
    assert (one.name, one.trace, str(one.error)) == (other.name, other.trace, str(other.error))


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("module", "configuration"),
    [
        ("Tower", "TowerHolds"),
        ("Tower", "Tower"),
        ("Pool", "Pool"),
        ("Pool", "PoolSymmetry"),
        ("Broken", "Broken"),
        ("Broken", "BrokenAssert"),
        ("Broken", "BrokenInvariant"),
    ],
)
def test_figures_are_those_of_the_interpreter(module: str, configuration: str) -> None:
    path = CHECKED / f"{module}.tla"
    ours, theirs = checked(path, configuration), checked(path, configuration, Engine.PYTHON)
    assert figures(ours) == figures(theirs)
    assert (ours.result.violation is None) == (theirs.result.violation is None)
    if theirs.result.violation is not None:
        assert_same_violation(ours, theirs)


@pytest.mark.usefixtures("interpreted", "little_seen")
class TestNarrowTypes:
    def test_a_value_outside_of_its_type_starts_the_search_again(self, counter: Callable[..., Outcome]) -> None:
        notes: list[str] = []
        outcome = counter("INVARIANT Small", around=Surroundings(note=notes.append))
        assert figures(outcome) == figures(counter("INVARIANT Small", engine=Engine.PYTHON))
        assert 0 < len(notes) < 8
        assert notes[0].startswith("Counter.tla:5: ")
        assert notes[0].endswith("the search starts again with wider types.")

    def test_a_value_that_only_an_invariant_computes_starts_it_again(self, counter: Callable[..., Outcome]) -> None:
        outcome = counter("INVARIANT Boxed")
        assert figures(outcome) == figures(counter("INVARIANT Boxed", engine=Engine.PYTHON))

    def test_wide_types_are_kept(self, counter: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch) -> None:
        first, again = list[str](), list[str]()
        outcome = counter("INVARIANT Small", around=Surroundings(note=first.append))
        monkeypatch.setattr(native_translation, "observe", None)
        assert figures(counter("INVARIANT Small", around=Surroundings(note=again.append))) == figures(outcome)
        assert first
        assert not again

    def test_values_that_grow_without_end_are_refused(
        self, counter: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(native_search, "_BITS_MAX", 0)
        with pytest.raises(SpecError, match="values that keep outgrowing the types") as refused:
            counter("INVARIANT Small")
        assert refused.value.code == "KMC812"
        assert refused.value.span is not None
        assert refused.value.span.line == 5


@pytest.mark.usefixtures("interpreted")
class TestProperties:
    def test_a_violation_has_the_trace_of_the_module(self, counter: Callable[..., Outcome]) -> None:
        outcome = counter("INVARIANTS Small Never")
        assert outcome.status == 12
        assert outcome.result.violation is not None
        assert outcome.result.violation.name == "Never"
        assert [step.label for step in outcome.result.violation.trace.steps] == ["Initial predicate", *["Up"] * 33]
        assert outcome.result.violation.trace.steps[-1].state == (33, (0, 8, 16, 24, 32))

    def test_an_error_is_shown_where_the_module_has_it(self, counter: Callable[..., Outcome]) -> None:
        outcome = counter("INVARIANT Bad")
        theirs = counter("INVARIANT Bad", engine=Engine.PYTHON)
        assert figures(outcome) == figures(theirs)
        assert outcome.result.violation is not None
        assert theirs.result.violation is not None
        assert str(outcome.result.violation.error) == str(theirs.result.violation.error)
        assert "Counter.tla:11:" in str(outcome.result.violation.error)

    @pytest.mark.parametrize("line", ["PROPERTY Rises", "PROPERTY Start", "PROPERTY Late"])
    def test_parts_of_properties_are_judged(self, line: str, counter: Callable[..., Outcome]) -> None:
        assert figures(counter(line)) == figures(counter(line, engine=Engine.PYTHON))

    @pytest.mark.parametrize("lines", ["INVARIANT Small", "PROPERTY Start"])
    def test_a_time_limit_ends_it_before_the_search(self, lines: str, counter: Callable[..., Outcome]) -> None:
        outcome = counter(lines, limits=Limits(seconds=0.0))
        assert outcome.status == 20
        assert outcome.result.counters.distinct == 0
        assert {one.verdict for one in outcome.result.properties} == {"not checked"}

    def test_limits_end_the_search(self, counter: Callable[..., Outcome]) -> None:
        assert counter(limits=Limits(depth=3)).status == 20


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "value",
    [
        "CASE n = 0 -> 1 [] n = 1 -> 2",
        "bag[[a |-> n]]",
        'IF n = 2 /\\ n = "two" THEN 1 ELSE n + 1',
        "n + 1 + 0 * (n % (1 - 2 * n))",
    ],
)
def test_a_translation_stops_where_the_module_does(value: str, tmp_path: Path) -> None:
    path = tmp_path / "Stops.tla"
    path.write_text(
        "---- MODULE Stops ----\nEXTENDS Naturals, TLC\nVARIABLES n, bag\n"
        "Init == n = 0 /\\ bag = [m \\in {[a |-> 0], [a |-> 1]} |-> m.a + 1]\n"
        f"Next == n' = ({value}) /\\ UNCHANGED bag\n====\n"
    )
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n")
    ours, theirs = checked(path, "Stops"), checked(path, "Stops", Engine.PYTHON)
    assert figures(ours) == figures(theirs)
    assert_same_violation(ours, theirs)


@pytest.mark.usefixtures("little_seen")
def test_a_type_that_is_too_narrow_behind_a_violation_starts_it_again(counter: Callable[..., Outcome]) -> None:
    outcome = counter("INVARIANT Begun", keep_going=True)
    assert outcome.result.counters.distinct == 41
    assert figures(outcome) == figures(counter("INVARIANT Begun", engine=Engine.PYTHON, keep_going=True))


@pytest.mark.usefixtures("interpreted")
class TestFaults:
    def test_an_altered_translation_is_not_used(self, counter: Callable[..., Outcome], cache: Path) -> None:
        counter()
        (spec,) = cache.rglob("spec.py")
        text = spec.read_text()
        spec.write_text(text.replace("< 40", "< 20"))
        assert counter().result.counters.distinct == 41
        assert spec.read_text() == text

    def test_a_cfg_file_that_no_path_names_is_translated_anew_when_it_changes(self, tmp_path: Path) -> None:
        path = tmp_path / "Counter.tla"
        path.write_text(COUNTER.replace("VARIABLES", "CONSTANT N\nVARIABLES").replace("n < 40", "n < N"))
        for high in (3, 5):
            text = f"INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\nCONSTANT N = {high}\n"
            path.with_suffix(".cfg").write_text(text)
            outcome = check_module(ModuleRequest(path, engine=Engine.NATIVE))
            assert outcome.result.counters.distinct == high + 1

    def test_a_comment_that_looks_like_a_constant_of_the_command_line_has_another_key(self, tmp_path: Path) -> None:
        path = tmp_path / "Given.tla"
        path.write_text(
            "---- MODULE Given ----\nEXTENDS Naturals\nCONSTANT N\nVARIABLE n\n"
            "Init == n = 0\nNext == n' = (n + 1) % N\n====\n"
        )
        configuration = path.with_suffix(".cfg")

        def states(comment: str, sets: tuple[str, ...] = ()) -> int:
            configuration.write_text(f"{comment}INIT Init\nNEXT Next\nCONSTANT N = 2\n")
            request = ModuleRequest(path, configuration, sets, engine=Engine.NATIVE)
            return check_module(request).result.counters.distinct

        assert states("", ("N=5",)) == 5
        assert states("\\* --set N=5\n") == 2

    def test_a_record_that_cannot_be_read_is_not_used(self, counter: Callable[..., Outcome], cache: Path) -> None:
        counter()
        (record,) = cache.rglob("translation.json")
        for text in ("", "{}", json.dumps([1]), '{"digest": "..", "format": 1}'):
            record.write_text(text)
            assert counter().result.counters.distinct == 41

    def test_states_that_are_read_back_wrongly_do_not_replay(
        self, counter: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        right = Decoder.value

        def wrong(self: Decoder, value: Any) -> Any:
            return 7 if type(value) is int and value == 8 else right(self, value)

        monkeypatch.setattr(Decoder, "value", wrong)
        with pytest.raises(InternalError, match="KMC941"):
            counter("INVARIANT Never")

    def test_a_translation_that_fails_where_the_module_does_not_is_an_internal_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "Lazy.tla"
        path.write_text(
            "---- MODULE Lazy ----\nEXTENDS Naturals, Sequences\nVARIABLES q, n\nInit == q = <<>> /\\ n = 0\n"
            "Next == /\\ Len(q) < 2\n        /\\ LET last == q[Len(q)] + 1\n"
            "           IN n' = (IF q = <<>> THEN 0 ELSE last + last) /\\ q' = Append(q, n)\n====\n"
        )
        path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
        assert checked(path, "Lazy").status == 0
        monkeypatch.setattr(actions, "is_total", lambda *_, **__: True)
        monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "other"))
        with pytest.raises(InternalError) as fault:
            checked(path, "Lazy")
        assert (fault.value.code, fault.value.span and fault.value.span.line) == ("KMC943", 6)


def test_a_value_without_a_translation_is_refused_in_its_module(tmp_path: Path) -> None:
    path = tmp_path / "FarKeys.tla"
    path.write_text(
        "---- MODULE FarKeys ----\nEXTENDS Naturals\nVARIABLE f\nInit == f = [i \\in {1, 100000} |-> 0]\n"
        "Next == \\E i \\in DOMAIN f : f' = [f EXCEPT ![i] = 1 - @]\n====\n"
    )
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n")
    with pytest.raises(SpecError) as refused:
        checked(path, "FarKeys")
    assert refused.value.code == "KMC812"
    assert refused.value.span is not None
    assert Path(refused.value.span.path).name == "FarKeys.tla"


def test_functions_on_pairs_of_numbers_that_were_seen_are_searched() -> None:
    assert figures(checked(CHECKED / "Grid.tla", "GridHolds")) == figures(
        checked(CHECKED / "Grid.tla", "GridHolds", Engine.PYTHON)
    )


@pytest.fixture
def unwritable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache that cannot be written: a file is in its place."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "file"))


@pytest.mark.usefixtures("interpreted", "unwritable")
def test_a_check_without_a_cache_has_the_same_figures() -> None:
    assert checked(CHECKED / "Tower.tla", "TowerHolds").result.counters.distinct > 0


def test_a_record_of_one_of_several_classes_changes_and_functions_of_many_keys_begin(tmp_path: Path) -> None:
    path = tmp_path / "Shop.tla"
    path.write_text(
        "---- MODULE Shop ----\nEXTENDS Naturals\nVARIABLES s, seats\nTop == [top |-> 1]\n"
        'Init == s = Top /\\ seats \\in [1..20 -> {"free"}]\n'
        "Open == s = Top /\\ s' = [left |-> 2, by |-> 1] /\\ UNCHANGED seats\n"
        "Sell == /\\ s # Top /\\ s.by = 1\n"
        "        /\\ s' = (IF s.left = 0 THEN Top ELSE [s EXCEPT !.left = @ - 1])\n"
        '        /\\ seats\' = [seats EXCEPT ![s.left + 1] = "sold"]\n'
        "Next == Open \\/ Sell\n====\n"
    )
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n")
    assert figures(checked(path, "Shop", threads=1)) == figures(checked(path, "Shop", Engine.PYTHON))


def test_a_computed_function_is_tested_key_by_key(tmp_path: Path) -> None:
    """Compiled code compares no two of them, and each value may lack its field."""
    path = tmp_path / "Votes.tla"
    path.write_text(
        "---- MODULE Votes ----\nEXTENDS Naturals\nVARIABLE sent\nInit == sent = {}\n"
        'Next == \\E a \\in 1..2 : \\/ sent\' = sent \\union {[type |-> "2b", acc |-> a, val |-> a]}\n'
        '                        \\/ sent\' = sent \\union {[type |-> "1a", bal |-> a]}\n'
        'Votes == [a \\in 1..2 |-> {m.val : m \\in {n \\in sent : n.type = "2b" /\\ n.acc = a}}]\n'
        "Typed(votes) == votes \\in [1..2 -> SUBSET (1..2)]\nInv == Typed(Votes)\n====\n"
    )
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nINVARIANT Inv\n")
    assert figures(checked(path, "Votes")) == figures(checked(path, "Votes", Engine.PYTHON))


QUEUE = """---- MODULE Queue ----
EXTENDS Naturals, Sequences
VARIABLES n, queue, kept
Init == n = 0 /\\ queue = <<>> /\\ kept = {}
Sum == IF queue = <<>> THEN 0 ELSE Head(queue) + 1
Next == \\/ n < 9 /\\ n' = n + 1 + Sum /\\ UNCHANGED <<queue, kept>>
        \\/ queue # <<>> /\\ queue' = Tail(queue) /\\ UNCHANGED <<n, kept>>
Inv == (\\A k \\in kept : k < 90) /\\ (INV)
====
"""


def queue_with(invariant: str, folder: Path) -> Path:
    """A module whose queue is always empty."""
    path = folder / "Queue.tla"
    path.write_text(QUEUE.replace("INV", invariant))
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nINVARIANT Inv\nCHECK_DEADLOCK FALSE\n")
    return path


def test_elements_that_were_never_seen_are_numbers_where_truth_values_do_not_compile(tmp_path: Path) -> None:
    path = queue_with("Sum # 5", tmp_path)
    theirs = figures(checked(path, "Queue", Engine.PYTHON))
    assert figures(checked(path, "Queue")) == theirs
    assert figures(checked(path, "Queue")) == theirs, "from the translation in the cache"


def test_a_refusal_that_numbers_do_not_mend_is_that_of_the_first_translation(tmp_path: Path) -> None:
    path = queue_with("n > 90 => Head(queue)", tmp_path)
    with pytest.raises(SpecError) as refused:
        checked(path, "Queue")
    assert refused.value.code == "KMC812"
    assert "a Bool, not a number" in str(refused.value.notes)


ROLLS = """---- MODULE Rolls ----
EXTENDS Naturals, FiniteSets, Sequences, TLC
CONSTANT P
VARIABLES rolls, camps, queue, clock
Init == rolls = [p \\in P |-> {}] /\\ camps = {} /\\ queue = <<>> /\\ clock = 0
Sign(p, q) == /\\ clock < 3
              /\\ rolls' = [rolls EXCEPT ![p] = @ \\union {[by |-> q, at |-> clock, code |-> 1000 * Cardinality(@)]}]
              /\\ clock' = clock + 1
              /\\ UNCHANGED <<camps, queue>>
Camp(p) == /\\ rolls[p] # {} /\\ Cardinality(camps) < 2
           /\\ camps' = camps \\union {{<<r.by, r.code>> : r \\in rolls[p]}}
           /\\ UNCHANGED <<rolls, queue, clock>>
Move(p, q) == /\\ p # q /\\ rolls[p] \\subseteq rolls[q] /\\ rolls[p] # rolls[q] /\\ Len(queue) < 1
              /\\ queue' = Append(queue, rolls[q] \\ rolls[p])
              /\\ rolls' = [rolls EXCEPT ![q] = rolls[p] \\intersect @]
              /\\ UNCHANGED <<camps, clock>>
Next == \\E p, q \\in P : Sign(p, q) \\/ Camp(p) \\/ Move(p, q)
Small == \\A p \\in P : \\A r \\in rolls[p] : r.at < 3 /\\ r.code \\in 0..2000
Perms == Permutations(P)
====
"""


@pytest.mark.parametrize("symmetry", ["", "SYMMETRY Perms\n"])
def test_sets_of_many_possible_elements_are_stored(symmetry: str, tmp_path: Path) -> None:
    path = tmp_path / "Rolls.tla"
    path.write_text(ROLLS)
    path.with_suffix(".cfg").write_text(
        f"INIT Init\nNEXT Next\nINVARIANT Small\nCONSTANT P = {{a, b}}\nCHECK_DEADLOCK FALSE\n{symmetry}"
    )
    assert figures(checked(path, "Rolls", threads=1)) == figures(checked(path, "Rolls", Engine.PYTHON))


def test_a_set_of_numbers_far_apart_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "Far.tla"
    path.write_text(
        "---- MODULE Far ----\nEXTENDS Naturals\nVARIABLES n, met\nInit == n = 0 /\\ met = {0}\n"
        "Next == n < 400 /\\ n' = n + 1 /\\ met' = {x \\in met : x + 3000 > n * n} \\union {n * n * (n % 3)}\n====\n"
    )
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
    assert figures(checked(path, "Far", threads=1)) == figures(checked(path, "Far", Engine.PYTHON))


def test_a_value_that_is_only_compared_may_be_outside_of_the_type_of_a_variable(tmp_path: Path) -> None:
    path = tmp_path / "Compares.tla"
    path.write_text(
        "---- MODULE Compares ----\nEXTENDS Naturals, Sequences\nVARIABLES n, queue\n"
        "Init == n \\in {0, 3} /\\ queue = <<>>\n"
        "Next == queue' = <<1>> /\\ (queue' = Append(queue, n + 1)) /\\ UNCHANGED n\n====\n"
    )
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\nCHECK_DEADLOCK FALSE\n")
    notes: list[str] = []
    outcome = checked(path, "Compares", around=Surroundings(note=notes.append))
    assert figures(outcome) == figures(checked(path, "Compares", Engine.PYTHON))
    assert notes
    assert all(note.endswith("the search starts again with wider types.") for note in notes)
