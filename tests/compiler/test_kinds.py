"""The type check before a run: it finds what every state would meet, is silent about sound specs, warns rightly."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.drawing.specs import spec_of
from support.specs.small import IMPORTS, model_of

from kmc.compiler.checks.kinds.spec_kinds import check_kinds
from kmc.compiler.checks.spec_warnings import shared_members, spec_warnings
from kmc.errors import SpecError
from kmc.frontend.binding import bind
from kmc.frontend.model import Model
from kmc.frontend.shipped import manifest_of, shipped_specs

WORLD = """
Server = constant("Server", IdentSet(), "s")
UsesBag = constant("UsesBag", Bool, "a constant that excludes code", False)

class Role(Enum):
    LEADER, ABSENT = range(2)

class Color(Enum):
    RED, ABSENT = range(2)

class Vote(Message):
    source: Server
    dest: Server

class Ack(Message):
    source: Server
    dest: Server
    n: Int(0, 3)

class State(Record):
    n: Int(0, 3)
    role: Role
    holder: Opt[Server]
    votes: Set[Server]
    net: MessageSet[Vote | Ack, 4]
    done: Bool

@spec.init
def init():
    yield State(n=0, role=Role.ABSENT, holder=None, votes=set(), net=set(), done=False)

"""
CFG = "CONSTANT Server = {a, b}"
ACTION = "@spec.action\ndef act(st, i: Server):\n    "


def bound(folder: Path, text: str) -> Model:
    """The world of this file with more declarations."""
    return model_of(folder, WORLD + text, CFG)


SOUND = [
    "yield st.set(holder=i) if st.holder is None else st.set(n=1)",
    "if st.holder is not None and st.holder == i:\n        yield st",
    "if UsesBag:\n        yield st.set(net=st.net.add(1))\n    yield st",
    "yield st.set(net=st.net.keep(lambda m: not (UsesBag and m.nothing == 1) and m.source != i))".replace(
        "m.nothing", "m.n"
    ),
    "for m in st.net:\n        if isinstance(m, Ack) and m.n > 0:\n            yield st.set(n=m.n)",
    "x = st.n if st.done else st.holder\n    if x == 3:\n        yield st",
    "for m in st.net.of(Ack):\n        yield st.set(n=max((a.n for a in st.net.of(Ack)), default=0) + m.n - m.n)",
    "yield st.set(votes=st.votes | {i}, done=st.net == set())",
    "if len(Server) == 1 and st.votes < 3:\n        yield st\n    yield st.set(done=True)",
    "best = max((m.n for m in st.net.of(Ack)), default=None)\n    yield st.set(n=0 if best is None else best)",
]


@pytest.mark.parametrize("body", SOUND)
def test_code_that_may_succeed_or_is_never_reached_is_taken(body: str, tmp_path: Path) -> None:
    assert spec_warnings(bound(tmp_path, ACTION + body + "\n").spec, str) == ()


HELPER = """
def shown(m):
    if isinstance(m, Ack):
        return m.n
    return 0

@spec.action
def act(st, i: Server):
    yield st.set(n=shown(Vote(source=i, dest=i)))
"""


def test_a_branch_for_another_shape_is_not_looked_into(tmp_path: Path) -> None:
    assert spec_warnings(bound(tmp_path, HELPER).spec, str) == ()


WRONG = [
    ("yield st.set(holder=1)", "KMC201", "1"),
    ("yield st.set(votes={st.n})", "KMC201", "{st.n}"),
    ("yield st.set(net=st.net.send(st))", "KMC206", "st"),
    ("yield st.set(n=st.votes + 1)", "KMC248", "st.votes + 1"),
    ("yield st.set(n=1 + (2 if st.votes < 3 else 1))", "KMC246", "st.votes < 3"),
    ("yield st.set(done=st.role < Role.LEADER)", "KMC246", "st.role < Role.LEADER"),
    ("yield st.set(n=min(st.votes))", "KMC255", "min(st.votes)"),
    ("yield st.set(n=len(i))", "KMC248", "len(i)"),
    ("yield st.set(net=st.net.discard(i))", "KMC206", "i"),
    ("yield st.set(done=len(st.net.of(Role)) > 0)", "KMC248", "Role"),
    ("yield st.set(net=st.net.send_all(Vote(source=i, dest=i)))", "KMC215", "st.net.send_all(Vote(source=i, dest=i))"),
    ("yield st.set(done=any(st.holder))", "KMC248", "any(st.holder)"),
    ("yield st.set(done=True, source=i)", "KMC212", "source=i"),
    ("yield st.set(i, True)", "KMC248", "st.set(i, True)"),
    ("if isinstance(i, Server):\n        yield st.set(n=i.n)", "KMC243", "i.n"),
]


@pytest.mark.parametrize(("body", "code", "text"), WRONG)
def test_a_mistake_that_every_state_meets_is_found_before_any_state(
    body: str, code: str, text: str, tmp_path: Path
) -> None:
    model = bound(tmp_path, ACTION + body + "\n")
    with pytest.raises(SpecError) as caught:
        check_kinds(model.spec)
    span = caught.value.span
    assert span is not None
    line = span.source_line() or ""
    assert (caught.value.code, line[span.column - 1 : (span.end_column or 0) - 1]) == (code, text)


def test_the_wrong_argument_of_a_helper_is_found_in_the_helper(tmp_path: Path) -> None:
    text = "def epoch(m):\n    return m.n + 1\n\n" + ACTION + "yield st.set(n=epoch(Vote(source=i, dest=i)))\n"
    with pytest.raises(SpecError, match="Vote has no field 'n'"):
        check_kinds(bound(tmp_path, text).spec)


def test_a_field_of_some_messages_only_is_told_apart_in_the_trace(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(
        IMPORTS
        + WORLD
        + ACTION
        + "yield st.set(net=st.net.send(Vote(source=i, dest=i)), done=any(m.n > 0 for m in st.net))\n",
        encoding="utf-8",
    )
    (tmp_path / "m.cfg").write_text(CFG, encoding="utf-8")
    done = kmc("check", str(tmp_path / "spec.py"), str(tmp_path / "m.cfg"), "--no-run-dir", "--engine", "python")
    assert "help: known: dest, source; isinstance(m, TYPE) tells messages apart" in done.stdout + done.stderr
    assert "State 2, the last:" in done.stdout


ALWAYS = [
    (
        "if st.holder == st.n:\n        yield st",
        "st.holder == st.n is always False: a Server or None never equals a number",
    ),
    ("if st.role != Color.RED:\n        yield st", "st.role != Color.RED is always True: a Role never equals a Color"),
    ("if st.votes == st.n:\n        yield st", "st.votes == st.n is always False: a set never equals a number"),
    (
        "if st.n in st.votes:\n        yield st",
        "st.n in st.votes is always False: a number never equals an element, which is a Server",
    ),
    (
        "for m in st.net.of(Ack):\n        if m == Vote(source=i, dest=i):\n            yield st",
        "m == Vote(source=i, dest=i) is always False: an Ack never equals a Vote",
    ),
]


@pytest.mark.parametrize(("body", "words"), ALWAYS)
def test_a_comparison_that_always_comes_out_alike_is_warned_of(body: str, words: str, tmp_path: Path) -> None:
    found = spec_warnings(bound(tmp_path, ACTION + body + "\n").spec, str)
    assert [warning.partition(" (/")[0] for warning in found] == [words]
    assert ".py:" in found[0]


def test_a_comparison_that_differs_in_another_context_is_not_warned_of(tmp_path: Path) -> None:
    text = (
        "def same(a, b):\n    return a == b\n\n" + ACTION + "yield st.set(done=same(st.n, 1) and not same(st.n, i))\n"
    )
    assert spec_warnings(bound(tmp_path, text).spec, str) == ()


def test_a_comparison_across_kinds_that_is_meant_is_not_warned_of(tmp_path: Path) -> None:
    text = "from kmc.lang import equals_any\n\n" + ACTION + "yield st.set(done=equals_any(st.holder, st.n))\n"
    assert spec_warnings(bound(tmp_path, text).spec, str) == ()


def test_members_of_one_name_that_may_stand_in_one_field_are_warned_of(tmp_path: Path) -> None:
    text = "\nclass Mixed(Record):\n    what: Role | Color\n\n" + ACTION + "yield st\n"
    spec = bound(tmp_path, text).spec
    assert [warning.partition(":")[0] for warning in spec_warnings(spec, str)] == [
        "'what' of Mixed may be Absent of Role and Absent of Color"
    ]
    assert list(shared_members(spec)) == [
        "Absent is a member of Role and of Color: different values here, and one model value in TLA+."
    ]


def test_the_warning_is_part_of_the_result(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(IMPORTS + WORLD + ACTION + ALWAYS[0][0] + "\n", encoding="utf-8")
    (tmp_path / "m.cfg").write_text(CFG + " CHECK_DEADLOCK FALSE", encoding="utf-8")
    done = kmc("check", str(tmp_path / "spec.py"), str(tmp_path / "m.cfg"), "--no-run-dir", "--engine", "python")
    assert "Warning: st.holder == st.n is always False: " in done.stdout
    assert "Warning: st.holder == st.n is always False: " in kmc("specs", str(tmp_path / "spec.py")).stdout


@pytest.mark.slow
def test_no_shipped_model_is_warned_of() -> None:
    found: list[Any] = []
    for root in shipped_specs().values():
        manifest = manifest_of(root)
        assert manifest is not None
        for file in list(manifest.models.values())[:1]:
            found += spec_warnings(bind(root, file).spec, str)
    assert found == []


@pytest.mark.slow
def test_drawn_specs_have_no_mistake_of_kind(tmp_path: Path) -> None:
    for seed in range(8):
        drawn = spec_of(Random(seed))
        check_kinds(model_of(tmp_path, drawn.source, drawn.cfg).spec)
