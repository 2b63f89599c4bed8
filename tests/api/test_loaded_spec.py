"""A spec in Python: its words, its constants, its models, and single states."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import COUNTER

import kmc
from kmc.errors import CommandLineError, DomainError, EvaluationError, KmcError, ModelError

VOTES = '''"""Votes."""
from kmc.lang import IdentSet, Map, Opt, Record, Seq, Set, constant, count
from kmc.spec import always_eventually, spec

Server = constant("Server", IdentSet(symmetric=True), "The voters")


class State(Record):
    voted_for: Map[Server, Opt[Server]]
    leaders: Set[Server]
    order: Seq[Server, 3]


@spec.init
def init():
    yield State(voted_for={s: None for s in Server}, leaders=set(), order=[])


@spec.action
def vote(st, voter: Server, candidate: Server):
    if st.voted_for[voter] is None:
        yield st.set(voted_for=st.voted_for.set(voter, candidate))


def votes_of(st, s):
    return count(st.voted_for[voter] == s for voter in Server)


@spec.invariant
def NoLeader(st):
    return len(st.leaders) == 0


@spec.action_property
def OnlyGrows(st, nxt):
    return st.leaders <= nxt.leaders


@spec.liveness
def SomeLeader():
    return always_eventually(lambda st: len(st.leaders) > 0)
'''


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    (tmp_path / "votes").mkdir()
    (tmp_path / "votes" / "spec.py").write_text(VOTES, encoding="utf-8")
    return tmp_path / "votes"


@pytest.mark.slow
def test_importing_kmc_imports_nothing_of_it() -> None:
    program = (
        "import sys; import kmc; dir(kmc); kmc.__version__; print(sorted(m for m in sys.modules if m.startswith('kmc.')"
        " or m in ('numpy', 'numba', 'click', 'rich', 'llvmlite', 'psutil')))\n"
        "kmc.load('die_hard'); print(sorted({'numpy', 'numba', 'click', 'rich', 'llvmlite'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n[]\n"


def test_every_name_of_the_api_can_be_had_and_others_not() -> None:
    assert all(hasattr(kmc, name) for name in kmc.__all__)
    assert sorted(kmc._HOMES) == sorted(set(kmc.__all__) - {"__version__"})
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        kmc.chekc  # noqa: B018  # the access is what is refused


def test_the_words_of_a_spec_are_attributes(votes: Path) -> None:
    spec = kmc.load(votes, Server=["a", "b"])
    a, b = spec.Server
    assert [str(a), str(b)] == ["a", "b"]
    (first,) = kmc.initial_states(spec)
    assert spec.votes_of(first, a) == 0
    assert list(spec.actions) == ["Vote"]
    assert list(spec.properties) == ["NoLeader", "OnlyGrows", "SomeLeader"]
    assert spec.constants["Server"].value is spec.Server
    assert {"Server", "State", "votes_of"} <= set(dir(spec))
    assert {"Map", "spec", "constant"}.isdisjoint(dir(spec))
    assert spec.modules["spec"]["State"] is spec["State"] is spec.State
    assert spec.doc == "Votes."


def test_a_name_that_the_spec_does_not_have_is_an_attribute_error(votes: Path) -> None:
    spec = kmc.load(votes, Server=["a", "b"])
    with pytest.raises(AttributeError, match="has no 'Servr'; did you mean 'Server'"):
        spec.Servr  # noqa: B018  # the access is what is refused
    assert not hasattr(spec, "Zzz")
    assert not hasattr(spec, "_repr_png_")


def test_a_name_of_several_files_is_asked_of_one(tmp_path: Path) -> None:
    source = "from kmc.lang import Bool, Record\nfrom kmc.spec import spec\n"
    (tmp_path / "one.py").write_text("def twice():\n    return 1\n", encoding="utf-8")
    (tmp_path / "two.py").write_text("def twice():\n    return 2\n", encoding="utf-8")
    state = "class State(Record):\n    on: Bool\n\n\n@spec.init\ndef init():\n    yield State(on=False)\n\n\n"
    action = "@spec.action\ndef switch(st):\n    yield st.set(on=not st.on)\n"
    (tmp_path / "spec.py").write_text(source + state + action, encoding="utf-8")
    spec = kmc.load(tmp_path)
    with pytest.raises(AttributeError, match="several files"):
        spec.twice  # noqa: B018  # the access is what is refused
    assert spec.modules["two"]["twice"]() == 2


def test_states_are_built_of_pythons_collections(votes: Path) -> None:
    spec = kmc.load(votes, Server=["a", "b"])
    a, b = spec.Server
    state = spec.State(voted_for=kmc.literal({a: b, b: None}), leaders=kmc.literal({a}), order=kmc.literal([b]))
    assert state.voted_for[a] is b
    (step, other) = kmc.successors(spec, state)
    assert {step.label, other.label} == {"Vote(b, a)", "Vote(b, b)"}
    assert step.arguments["voter"] is b
    assert step.action == "Vote"
    assert not kmc.evaluate(spec, "NoLeader", state)
    assert kmc.evaluate(spec, "OnlyGrows", state, step.state)
    assert kmc.evaluate(spec, "voted_for[a]", state) is b
    assert kmc.evaluate(spec, "nxt.leaders == leaders", state, step.state)


def test_a_state_of_values_that_are_not_the_specs_says_what_to_write(votes: Path) -> None:
    spec = kmc.load(votes, Server=["a", "b"])
    a, b = spec.Server
    fields = {"voted_for": kmc.literal({a: b, b: None}), "leaders": kmc.literal({a}), "order": kmc.literal([b])}
    around = "in a Python session, write kmc.literal(...) around a set, a list or a dict"
    wrong: list[tuple[str, Any, str]] = [
        ("voted_for", {a: b, b: None}, around),
        ("leaders", {a}, around),
        ("order", [b], around),
        ("leaders", frozenset({"a"}), "write a member of Server; in a Python session, list(spec.Server) has them"),
    ]
    for field, value, advice in wrong:
        with pytest.raises(DomainError) as caught:
            spec.State(**{**fields, field: value})
        assert (caught.value.help, caught.value.__notes__) == (advice, [f"  = help: {advice}"])
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__
    for given in ({**fields, "leader": 1}, {"order": fields["order"]}):
        with pytest.raises(EvaluationError) as unlike:
            spec.State(**given)
        assert unlike.value.__notes__ == [f"  = help: {unlike.value.help}"]


@pytest.mark.parametrize(
    ("text", "kind"),
    [("SomeLeader", "the function SomeLeader"), ("vote", "the function vote"), ("Server", "the type Server")],
)
def test_what_is_not_a_value_is_refused_as_by_kmc_eval(votes: Path, text: str, kind: str) -> None:
    spec = kmc.load(votes, Server=["a", "b"])
    (first,) = kmc.initial_states(spec)
    with pytest.raises(CommandLineError) as caught:
        kmc.evaluate(spec, text, first)
    assert caught.value.code == "KMC643"
    assert kind in caught.value.message


def test_a_property_is_evaluated_in_as_many_states_as_it_takes(votes: Path) -> None:
    spec = kmc.load(votes, Server=["a", "b"])
    (first,) = kmc.initial_states(spec)
    for arguments in (("NoLeader", first, first), ("OnlyGrows", first)):
        with pytest.raises(CommandLineError) as caught:
            kmc.evaluate(spec, *arguments)
        assert caught.value.code == "KMC695"
    with pytest.raises(CommandLineError) as caught:
        kmc.evaluate(spec, "NoLeadr", first)
    assert (caught.value.code, caught.value.help) == ("KMC641", "did you mean 'NoLeader'?")


def test_an_action_that_fails_is_an_error_at_its_line() -> None:
    spec = kmc.load(COUNTER, "overflow")
    last = kmc.check(spec, engine="python").trace
    assert last is not None
    with pytest.raises(EvaluationError) as caught:
        kmc.successors(spec, last[-1])
    assert caught.value.span is not None


def test_a_state_of_another_model_is_refused() -> None:
    spec = kmc.load("die_hard")
    other = kmc.initial_states(kmc.load("die_hard", "impossible"))[0]
    wrongs: tuple[Any, ...] = (other, 3)
    for wrong in wrongs:
        with pytest.raises(CommandLineError) as caught:
            kmc.successors(spec, wrong)
        assert caught.value.code == "KMC691"


def test_the_models_of_a_spec_share_what_was_loaded_of_them() -> None:
    spec = kmc.load("die_hard", Wanted=1)
    assert list(spec.models)[:2] == ["smoke", "solution"]
    assert spec.with_model("smoke") is spec
    solution = spec.with_model("solution")
    assert solution is spec.with_model("solution")
    result = kmc.check(spec, "solution", engine="python")
    assert result.spec is solution
    assert solution.Wanted == 1
    assert result.trace is not None
    assert kmc.successors(result.spec, result.trace[1])


def test_a_spec_without_a_model_says_which_there_are_when_one_is_needed(votes: Path) -> None:
    spec = kmc.load(votes)
    assert repr(spec) == "<spec votes, no model chosen>"
    with pytest.raises(ModelError) as caught:
        kmc.initial_states(spec)
    assert (caught.value.code, caught.value.notes[-1][:10]) == ("KMC344", "in Python:")
    (votes / "models.toml").write_text('[models.a]\ndescription = "A"\n[models.b]\ndescription = "B"\n')
    with pytest.raises(ModelError) as caught:
        kmc.check(kmc.load(votes, Server=["a"]))
    assert caught.value.code == "KMC350"
    assert kmc.load(votes, "b", Server=["a"]).model.name == "b"


def test_a_spec_with_a_mistake_is_refused_when_it_is_loaded(votes: Path) -> None:
    (votes / "spec.py").write_text("import os\n", encoding="utf-8")
    with pytest.raises(KmcError):
        kmc.load(votes)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"Server": ["a", 3.5]}, "KMC692"),
        ({"Server": "a b"}, "KMC692"),
        ({"Server": ["a", "a"]}, "KMC308"),
        ({"Server": 3}, "KMC342"),
        ({"Servr": 3}, "KMC343"),
    ],
)
def test_a_constant_that_cannot_be_is_refused(votes: Path, given: dict[str, Any], code: str) -> None:
    with pytest.raises(KmcError) as caught:
        kmc.load(votes, **given)
    assert (caught.value.code, caught.value.span) == (code, None)


def test_sets_of_python_are_taken_in_the_order_of_their_names(votes: Path) -> None:
    assert [str(s) for s in kmc.load(votes, Server={"c", "a", "b"}).Server] == ["a", "b", "c"]


def test_a_spec_is_named_by_a_text_or_a_path() -> None:
    with pytest.raises(CommandLineError, match="spec is 3, not a name or a path"):
        kmc.load(3)  # type: ignore[arg-type]  # what is refused
