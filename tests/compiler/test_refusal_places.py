"""What the compiler refuses is shown in the file that its author wrote it in, however the code was inlined."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.specs.small import IMPORTS, model_of

from kmc.compiler.checks.limits import check_fits
from kmc.compiler.model_kernels import build_kernels
from kmc.errors import SpecError
from kmc.frontend.binding import bind_all
from kmc.lang.assumed_range import AssumedRange, assuming

ACTIONS = (
    IMPORTS
    + """
from .tools import marked, marks

class State(Record):
    n: Int(0, 3)
    b: Bool
    net: MessageSet[Note, 2]

@spec.init
def init():
    yield State(n=0, b=False, net=set())

@spec.action
def act(st):
    if {guard}:
        yield st.set(n=1)
"""
)
TOOLS = "# A line of its own.\n" * 60 + "{helper}"


def place_of_the_refusal(folder: Path, guard: str, helper: str) -> tuple[str, str]:
    """The file of a KMC811, and the text at its place there."""
    actions = ACTIONS.replace("{guard}", guard).replace("class State", "class Note(Message):\n    source: Bool\n"
        "    dest: Bool\n\n\nclass State")  # fmt: skip
    (folder / "actions.py").write_text(actions, encoding="utf-8")
    (folder / "tools.py").write_text(TOOLS.replace("{helper}", helper), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        build_kernels(bind_all(folder, ()))
    span = caught.value.span
    assert caught.value.code == "KMC811"
    assert span is not None
    line = span.source_line() or ""
    return Path(span.path).name, line[span.column - 1 : (span.end_column or 0) - 1]


BOTH = "def marks(st):\n    return {one}\n\n\ndef marked(st, n):\n    return {two}\n"
CASES = [
    ("a set that the caller goes through", "1 in marks(st)", "{n for n in range(3) if st.b == n}"),
    ("the same, of a copy", "len(marks(st) | {7}) > 2", "{n for n in range(3) if st.b == n}"),
    ("a set from a generator", "1 in set(marks(st))", "{n for n in range(3) if st.b == n}"),
    ("messages that the caller counts", "len(marks(st)) > 0", "{m for m in st.net if st.b == st.n}"),
    ("a sequence", "marks(st) == [1]", "[n for n in range(3) if st.b == n]"),
    ("a map", "marks(st) == {1: True}", "{n: st.b == n for n in range(3)}"),
]


@pytest.mark.parametrize(("guard", "helper"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_refused_part_of_an_inlined_function_is_shown_in_its_own_file(
    guard: str, helper: str, tmp_path: Path
) -> None:
    written = BOTH.replace("{one}", helper).replace("{two}", "st.n == n")
    file, text = place_of_the_refusal(tmp_path, guard, written)
    assert (file, text) == ("tools.py", "st.b == st.n" if "st.n" in helper else "st.b == n")


def test_an_argument_is_shown_where_it_is_passed(tmp_path: Path) -> None:
    written = BOTH.replace("{one}", "st.n").replace("{two}", "n in {0, 1}")
    assert place_of_the_refusal(tmp_path, "marked(st, st.b == st.n)", written) == ("actions.py", "st.b == st.n")


CFG = "CONSTANT Server = {a, b}"
NETWORKS = """
Server = constant("Server", IdentSet(), "s")

class Hi(Message):
    source: Server
    dest: Server

class State(Record):
    inboxes: Map[Server, MessageSet[Hi, 2]]

@spec.init
def init():
    yield State(inboxes={s: set() for s in Server})

@spec.action
def act(st):
    yield st
"""


def test_a_network_for_each_key_of_a_map_is_refused_with_a_declaration_of_the_same_states(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        check_fits(model_of(tmp_path, NETWORKS, CFG))
    assert caught.value.code == "KMC803"
    advice = "declare one network in State, of records that also name their Server: the states are the same"
    assert caught.value.help == advice


def test_a_set_of_many_records_is_refused_with_a_page_that_shows_what_stores_it(tmp_path: Path) -> None:
    source = NETWORKS.replace("inboxes: Map[Server, MessageSet[Hi, 2]]", "inbox: Set[Hi]")
    source = source.replace("    dest: Server\n", "    dest: Server\n    n: Int(0, 999)\n")
    model = model_of(tmp_path, source.replace("inboxes={s: set() for s in Server}", "inbox=set()"), CFG)
    check_fits(model)
    with assuming(AssumedRange(0, 15, 512)), pytest.raises(SpecError) as caught:
        check_fits(model)
    assert (caught.value.code, caught.value.help) == (
        "KMC804",
        "narrow its fields, or as a field of State write MessageSet[Hi, capacity], with the same states: send(x), "
        "discard(x)",
    )
    (note,) = caught.value.notes
    page, _, heading = note.removeprefix("an example: ").partition(", ")
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    assert f"### {heading}\n" in text


PAIRS = """
from kmc.lang import Pair, pair

Server = constant("Server", IdentSet(at_most=80), "x")

class State(Record):
    n: FIELD

@spec.init
def init():
    yield State(n=FIRST)

@spec.action
def act(st, i: Server, PARAMETER):
    require(i in {i})
    yield VALUE
"""


@pytest.mark.parametrize(
    ("field", "first", "parameter", "value", "code"),
    [
        ("Opt[Pair[Server]]", "None", "j: Server", "st", "KMC804"),
        ("Bool", "False", "p: Pair[Server]", "st", "KMC804"),
        ("Bool", "False", "j: Server", "st.set(n=len(pair(i, j)) > 1)", "KMC811"),
    ],
)
def test_a_pair_of_more_identifiers_than_a_word_has_bits_is_refused(
    tmp_path: Path, field: str, first: str, parameter: str, value: str, code: str
) -> None:
    source = PAIRS.replace("FIELD", field).replace("FIRST", first).replace("PARAMETER", parameter)
    servers = ", ".join(f"s{number}" for number in range(65))
    model = model_of(tmp_path, source.replace("VALUE", value), f"CONSTANT Server = {{{servers}}}")
    with pytest.raises(SpecError, match=r"a pair (of more than|is of at most) 64") as caught:
        build_kernels(model)
    assert caught.value.code == code
