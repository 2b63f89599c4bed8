"""A spec that another one refines is loaded beside it: what is shared, what is apart, which mistakes are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.checking.check import check
from kmc.checking.model_choice import ChosenModel
from kmc.checking.request import CheckRequest, Engine
from kmc.errors import ExitStatus, KmcError
from kmc.frontend.binding import bind_all
from kmc.frontend.loader import Spec, load_spec
from kmc.frontend.model import Model
from kmc.model_files.value_text import parse_set
from kmc.reference.recurrence import RecordedFailure, recurs
from kmc.reference.simulation import simulate
from kmc.result import Verdict, Violation
from kmc.story.counterexample import story_of

MAIL = """
from kmc.lang import IdentSet, Int, Message, MessageBag, Record, Set, constant
from kmc.spec import spec
from ..stamps import STAMPED

P = constant("P", IdentSet(), "who writes")

class Letter(Message):
    source: P
    dest: P

class State(Record):
    net: MessageBag[Letter, 4, 2]
    got: Set[P]

@spec.init
def init():
    yield State(net={}, got=set())

@spec.action
def post(st, a: P, b: P):
    letter = Letter(source=a, dest=b)
    if a != b and st.net.count(letter) < STAMPED:
        yield st.set(net=st.net.add(letter))

@spec.receive(Letter, b="dest")
def read(st, m, b):
    yield st.set(net=st.net.take(m), got=st.got | {b})
"""

OFFICE = """
from kmc.lang import IdentSet, Int, MessageBag, Record, Set, constant
from kmc.spec import spec
from ..stamps import STAMPED
from ..mail.spec import Letter
from ..mail.spec import State as Mail

P = constant("P", IdentSet(), "who writes")
Broken = constant("Broken", Int(0, 1), "both ends get a letter", 0)

class State(Record):
    net: MessageBag[Letter, 4, 2]
    got: Set[P]
    turn: Int(0, 1)

@spec.init
def init():
    yield State(net={}, got=set(), turn=0)

@spec.action
def flip(st):
    yield st.set(turn=1 - st.turn)

@spec.action
def post(st, a: P, b: P):
    letter = Letter(source=a, dest=b)
    if a != b and st.turn == 0 and st.net.count(letter) < STAMPED:
        yield st.set(net=st.net.add(letter))

@spec.receive(Letter, b="dest")
def read(st, m, b):
    if st.turn == 1:
        yield st.set(net=st.net.take(m), got=st.got | ({b} if Broken == 0 else {b, m.source}))

@spec.refines("mail")
def MailSpec(st):
    return Mail(net=st.net, got=st.got)
"""

STAMPS = "from kmc.spec import spec\nSTAMPED = 1\n\n@spec.invariant\ndef Shared(st):\n    return STAMPED == 1\n"


def laid_out(folder: Path, office: str = OFFICE, mail: str = MAIL) -> Path:
    """The folder of the spec `office`, beside the spec `mail` and a file that both import."""
    for name in ("office", "mail"):
        (folder / name).mkdir()
    for name, text in {"office/spec": office, "mail/spec": mail, "stamps": STAMPS}.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder / "office"


def loaded(root: Path) -> Spec:
    """The spec with two processes."""
    return load_spec(root, [parse_set("P={a,b}")])


def model_of(root: Path, *constants: str) -> Model:
    """The model with two processes and all properties."""
    return bind_all(root, [parse_set(text) for text in ("P={a,b}", *constants)])


def violation_of(model: Model, engine: Engine = Engine.PYTHON) -> Violation | None:
    """The violation that a check finds."""
    return check(CheckRequest(ChosenModel(model, None), engine=engine, threads=1)).result.violation


def mistake(root: Path) -> KmcError:
    """The error with which a check is refused."""
    with pytest.raises(KmcError) as caught:
        violation_of(model_of(root))
    return caught.value


def test_the_specs_have_their_own_actions_and_share_constants_and_files(tmp_path: Path) -> None:
    spec = loaded(laid_out(tmp_path))
    mail = spec.refined["mail"]
    assert [action.title for action in spec.actions] == ["Flip", "Post", "Read"]
    assert [action.title for action in mail.actions] == ["Post", "Read"]
    assert ([*spec.properties], [*mail.properties]) == (["Shared", "MailSpec"], [])
    assert list(spec.constants) == ["P", "Broken"]
    assert spec.actions[1].parameters[0].type == mail.actions[0].parameters[0].type


@pytest.mark.parametrize("engine", Engine)
def test_messages_of_a_bag_are_received_in_both_specs(engine: Engine, tmp_path: Path) -> None:
    root = laid_out(tmp_path)
    assert violation_of(model_of(root), engine) is None
    violation = violation_of(model_of(root, "Broken=1"), engine)
    assert violation is not None
    assert violation.exit_status is ExitStatus.LIVENESS
    assert [step.label for step in violation.trace.steps] == ["Initial predicate", "Post(a, b)", "Flip", "Read(b)"]


def test_a_counterexample_shows_both_behaviours(tmp_path: Path) -> None:
    model = model_of(laid_out(tmp_path), "Broken=1")
    violation = violation_of(model)
    assert violation is not None
    story = story_of(model, violation)
    assert [step.abstract for step in story.steps] == [
        "mail: Init", "mail: Post(a, b)", "mail: nothing changes", "mail: no step of it",
    ]  # fmt: skip
    assert {"mail.net", "mail.got"} <= set(story.variables)
    assert story.why is not None
    assert "no action of mail takes this step" in story.why.sentence


def test_an_initial_state_that_the_abstract_spec_lacks_is_a_violation_of_one_state(tmp_path: Path) -> None:
    root = laid_out(tmp_path, OFFICE.replace("got=set(), turn", "got={p for p in P}, turn"))
    model = model_of(root)
    violation = violation_of(model)
    assert violation is not None
    assert (violation.name, len(violation.trace)) == ("MailSpec", 1)
    assert recurs(model, RecordedFailure(Verdict.VIOLATION, "MailSpec"), [violation.trace.steps[0].state], None)
    walked = simulate(model, seed=1, depth=3, count=1).violation
    assert walked is not None
    assert (walked.name, len(walked.trace)) == ("MailSpec", 1)


@pytest.mark.parametrize(
    ("code", "old", "new"),
    [
        ("KMC720", "return Mail(net=st.net, got=st.got)", "yield Mail(net=st.net, got=st.got)"),
        ("KMC721", 'constant("P", IdentSet(),', 'constant("P", IdentSet(symmetric=True),'),
        ("KMC722", 'refines("mail")', 'refines("male")'),
        ("KMC722", 'refines("mail")', 'refines("office")'),
        ("KMC276", "return Mail(net=st.net, got=st.got)", "return st"),
        ("KMC138", 'refines("mail")', "refines"),
        ("KMC138", 'refines("mail")', "refines(STAMPED)"),
        ("KMC177", "def MailSpec(st)", "def MailSpec(st, new)"),
    ],
)
def test_a_mistake_is_refused_at_its_place(code: str, old: str, new: str, tmp_path: Path) -> None:
    assert old in OFFICE
    found = mistake(laid_out(tmp_path, OFFICE.replace(old, new)))
    assert found.code == code
    assert found.span is not None
