"""Wrong trace files: each is one error that names the file, the place in it and what to do; never another exception."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.views.trace_samples import DATA, kraft

from kmc.errors import TraceError
from kmc.trace.files import read_trace, to_trace, trace_file
from kmc.trace.itf import itf_text, parse_itf
from kmc.trace.text import render
from kmc.trace.tlc_json import parse_tlc_json

Change = Callable[[Any], object]

TLC = (DATA / "tlc-three-states.json").read_text(encoding="utf-8")
X = {"vars": ["x"], "states": [{"x": 1}, {"x": 2}]}


def itf() -> str:
    """The first three states of KRaft's counterexample in ITF."""
    trace = kraft().trace
    return itf_text(trace_file(type(trace)(trace.steps[:3]), kraft().model, "ok"))


def refusal(path: Path, document: str | bytes) -> TraceError:
    """The error for a file with this content, when a state of the spec is wanted of it."""
    path.write_bytes(document if isinstance(document, bytes) else document.encode())
    with pytest.raises(TraceError) as caught:
        to_trace(read_trace(path), kraft().spec)
    return caught.value


def changed(document: str, change: Change) -> str:
    """The document after `change` has been made in its JSON."""
    tree = json.loads(document)
    change(tree)
    return json.dumps(tree)


def setting(*keys: Any, to: Any) -> Change:
    """The change that sets what stands at these keys."""

    def change(tree: Any) -> None:
        for key in keys[:-1]:
            tree = tree[key]
        tree[keys[-1]] = to

    return change


def removing(*keys: Any) -> Change:
    """The change that removes what stands at these keys."""

    def change(tree: Any) -> None:
        for key in keys[:-1]:
            tree = tree[key]
        del tree[keys[-1]]

    return change


def nested(depth: int) -> list[Any]:
    """A list in a list in a list ..."""
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner]
    return inner


FILE_MISTAKES = [
    (b"", "KMC421", "not JSON: Expecting value at line 1, column 1"),
    (b'{"vars": ["x"],\n "states": [', "KMC421", "not JSON: Expecting value at line 2, column 13"),
    (b'{"x": 1, "x": 2}', "KMC421", 'an object gives "x" twice'),
    (b'{"vars": [NaN]}', "KMC421", "not JSON: NaN is not a value"),
    (b'{"vars": ["\\ud800"]}', "KMC421", "a string holds half of a character (a lone surrogate)"),
    (b'{"vars": ["\xff"]}', "KMC420", "not UTF-8: byte 0xff at offset 11"),
    (b"[" * 100_000, "KMC421", "not a trace: values are nested too deeply"),
    (b'{"states": ' + b"9" * 5000 + b"}", "KMC423", "an integer has more than 1000 digits"),
    (b"[1, 2]", "KMC424", "JSON, but not a trace"),
    (b"{}", "KMC424", "JSON, but not a trace"),
]


@pytest.mark.parametrize(("content", "code", "message"), FILE_MISTAKES, ids=[m[2] for m in FILE_MISTAKES])
def test_a_file_that_is_not_a_trace_is_refused(tmp_path: Path, content: bytes, code: str, message: str) -> None:
    path = tmp_path / "trace.json"
    error = refusal(path, content)
    assert (error.code, error.message) == (code, f"'{path}': {message}")
    assert error.help


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(tmp_path / "missing.json")
    assert caught.value.message == f"'{tmp_path / 'missing.json'}': No such file or directory"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(tmp_path)
    assert caught.value.code == "KMC420"


ITF_MISTAKES = [
    (removing("vars"), "KMC422", 'at .: there is no "vars"'),
    (removing("states"), "KMC422", 'at .: there is no "states"'),
    (setting("vars", to="x"), "KMC422", 'at .vars: an array of names is expected, not "x"'),
    (setting("vars", to=[3]), "KMC422", "at .vars[0]: a name is expected, not 3"),
    (setting("states", to={}), "KMC422", "at .states: an array of states is expected, not {}"),
    (setting("states", to=[]), "KMC422", "at .states: there is no state"),
    (setting("states", 1, to=7), "KMC422", "at .states[1]: a state, which is an object is expected, not 7"),
    (removing("states", 1, "log"), "KMC422", "at .states[1]: variable 'log' is missing"),
    (setting("states", 1, "hwm", to=1), "KMC422", "at .states[1].hwm: 'hwm' is not a variable of this trace"),
    (setting("states", 1, "log", to=None), "KMC423", "at .states[1].log: null is not a value"),
    (setting("states", 1, "log", to=1.5), "KMC423", "at .states[1].log: 1.5 is not a value"),
    (setting("states", 1, "log", to="a\x1b[1m"), "KMC423", 'at .states[1].log: "a\\u001b[1m" has control characters'),
    (setting("states", 1, "log", to={"a\n": 1}), "KMC423", 'at .states[1].log: the name "a\\n" has control characters'),
    (
        setting("states", 1, "log", to={"tag": "Some", "value": 1}),
        "KMC423",
        "at .states[1].log: this is the variant Some",
    ),
    (setting("states", 1, "log", to={"#unserializable": "Nat"}), "KMC423", "at .states[1].log: this value was not"),
    (setting("states", 1, "log", to={"#bigint": 3}), "KMC422", 'at .states[1].log["#bigint"]: a string "-?digits" is'),
    (
        setting("states", 1, "log", to={"#bigint": "3e2"}),
        "KMC423",
        'at .states[1].log["#bigint"]: "3e2" is not an integer',
    ),
    (setting("states", 1, "log", to={"#bigint": "9" * 1001}), "KMC423", "an integer has more than 1000 digits"),
    (setting("states", 1, "log", to={"#set": 3}), "KMC422", 'at .states[1].log["#set"]: the elements of a set is'),
    (setting("states", 1, "log", to={"#set": [], "a": 1}), "KMC423", "at .states[1].log: an object with #set, a is no"),
    (setting("states", 1, "log", to={"#map": [[1]]}), "KMC422", 'at .states[1].log["#map"][0]: a pair [key, value] is'),
    (
        setting("states", 1, "log", to={"#map": [["a", 1], ["a", 2]]}),
        "KMC423",
        'at .states[1].log["#map"][1]: this key occurs twice in the function',
    ),
    (setting("loop", to=3), "KMC422", "at .loop: there is no state with index 3"),
    (setting("loop", to="1"), "KMC422", 'at .loop: the index of a state is expected, not "1"'),
    (setting("loop", to=True), "KMC422", "at .loop: the index of a state is expected, not true"),
    (setting("states", 1, "log", to=nested(300)), "KMC422", "at .states[1].log[0][0]"),
    (setting("#meta", to=[]), "KMC422", 'at .["#meta"]: an object is expected, not []'),
    (setting("#meta", "kmc", to=3), "KMC422", 'at .["#meta"].kmc: an object is expected, not 3'),
    (setting("states", 1, "mbt::actionTaken", to=3), "KMC422", 'at .states[1]["mbt::actionTaken"]: the name of an'),
    (
        setting("states", 1, "mbt::nondetPicks", to={"i": {"tag": "Many", "value": 1}}),
        "KMC423",
        'at .states[1]["mbt::nondetPicks"].i.tag: a pick is the variant Some or None',
    ),
]


@pytest.mark.parametrize(("change", "code", "message"), ITF_MISTAKES, ids=[m[2] for m in ITF_MISTAKES])
def test_a_wrong_itf_file_is_refused_at_its_place(tmp_path: Path, change: Change, code: str, message: str) -> None:
    path = tmp_path / "trace.itf.json"
    error = refusal(path, changed(itf(), change))
    assert error.code == code
    assert error.message.startswith(f"'{path}': {message}")
    assert error.help


STATE = ("counterexample", "state")
ACTION = ("counterexample", "action")

TLC_MISTAKES = [
    (removing(*STATE), "KMC422", 'at .counterexample: there is no "state"'),
    (removing(*ACTION), "KMC422", 'at .counterexample: there is no "action"'),
    (setting("counterexample", to=[]), "KMC422", "at .counterexample: an object is expected, not []"),
    (setting(*STATE, to=[]), "KMC422", "at .counterexample.state: there is no state"),
    (setting(*STATE, 1, to=[2]), "KMC422", "at .counterexample.state[1]: a pair [number, state] is expected, not [2]"),
    (setting(*STATE, 1, 0, to=5), "KMC422", "at .counterexample.state[1][0]: state 5 stands where state 2 belongs"),
    (removing(*STATE, 1, 1, "log"), "KMC422", "at .counterexample.state[1]: variable 'log' occurs in some states only"),
    (setting(*STATE, 1, 1, "log", to=None), "KMC423", "at .counterexample.state[1][1].log: null is not a value"),
    (
        setting(*STATE, 1, 1, "log", to={"1": 2, "01": 3}),
        "KMC423",
        'at .counterexample.state[1][1].log["01"]: this key occurs twice',
    ),
    (setting(*ACTION, 0, to=[]), "KMC422", "at .counterexample.action[0]: a step [[number, state], action,"),
    (setting(*ACTION, 0, 2, 0, to=9), "KMC422", "at .counterexample.action[0][2][0]: there is no state 9"),
    (
        setting(*ACTION, 0, 2, 0, to=3),
        "KMC422",
        "at .counterexample.action[0]: a step from state 1 to state 3 does not",
    ),
    (
        setting(*ACTION, 1, 0, 0, to=1),
        "KMC422",
        "at .counterexample.action[1]: a step from state 1 to state 3 does not",
    ),
    (
        setting(*ACTION, 1, 2, 0, to=1),
        "KMC422",
        "at .counterexample.action[1]: a step from state 2 to state 1 does not",
    ),
    (removing(*ACTION, 0, 1, "name"), "KMC422", 'at .counterexample.action[0][1]: there is no "name"'),
    (removing(*ACTION, 0, 1, "context", "i"), "KMC422", "at .counterexample.action[0][1].parameters[0]: the context"),
    (setting(*ACTION, 0, 1, "location", to=3), "KMC422", "at .counterexample.action[0][1].location: an object is"),
]


@pytest.mark.parametrize(("change", "code", "message"), TLC_MISTAKES, ids=[m[2] for m in TLC_MISTAKES])
def test_a_wrong_file_of_tlc_is_refused_at_its_place(tmp_path: Path, change: Change, code: str, message: str) -> None:
    path = tmp_path / "trace.json"
    error = refusal(path, changed(TLC, change))
    assert error.code == code
    assert error.message.startswith(f"'{path}': {message}")
    assert error.help


def third(variable: str, value: Any) -> Change:
    """The change of a variable in the third state of TLC's file."""
    return setting(*STATE, 2, 1, variable, to=value)


SPEC_MISTAKES = [
    (third("electionCtr", 2), "KMC411", "2 is not in 0..1", "in variable 'electionCtr'"),
    (third("electionCtr", True), "KMC411", "TRUE is not in 0..1", "in variable 'electionCtr'"),
    (third("state", {"n1": "Leader", "n2": "Candidat", "n3": "Voted"}), "KMC411", "Candidat is not in ServerState", ""),
    (
        third("votesGranted", "n1"),
        "KMC414",
        "n1 is not a function on Server {n1, n2, n3}",
        "in variable 'votesGranted'",
    ),
    (third("log", {"n1": [], "n2": []}), "KMC415", "the variables of 'servers' are functions on different sets", ""),
    (third("acked", []), "KMC427", "'acked' of State: a total map needs exactly the keys Value {v1}", ""),
    (third("messages", {"[mtype |-> Vote]": 1}), "KMC411", "[mtype |-> Vote] is not in", "in variable 'messages'"),
    (third("messages", {"[mtype |-> ": 1}), "KMC411", "[mtype |->  is not in", "in variable 'messages'"),
]


@pytest.mark.parametrize(("change", "code", "message", "note"), SPEC_MISTAKES, ids=[m[2] for m in SPEC_MISTAKES])
def test_a_state_that_is_none_of_the_spec_is_refused(
    tmp_path: Path, change: Change, code: str, message: str, note: str
) -> None:
    path = tmp_path / "trace.json"
    error = refusal(path, changed(TLC, change))
    assert error.code == code
    assert error.message.startswith(message)
    assert error.notes[-1] == f"in state 3 of '{path}'"
    assert note in "\n".join(error.notes)
    assert error.help


def test_an_unknown_variable_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    error = refusal(tmp_path / "trace.json", TLC.replace('"restartCtr"', '"restartsCtr"'))
    assert (error.code, error.message) == ("KMC412", "the spec has no variable 'restartsCtr'")
    assert error.help == "did you mean 'restartCtr'?"


def test_an_unknown_action_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    error = refusal(path, changed(TLC, setting(*ACTION, 0, 1, "name", to="RequestVotes")))
    assert (error.code, error.message) == ("KMC426", "the spec has no action 'RequestVotes'")
    assert (error.help, error.notes) == ("did you mean 'RequestVote'?", (f"in state 2 of '{path}'",))


def test_arguments_that_an_action_does_not_take_are_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path / "trace.json", changed(TLC, setting(*ACTION, 0, 1, "name", to="ClientRequest")))
    assert error.message == "ClientRequest has the parameters i, v, but the trace gives i"


def test_an_argument_outside_its_domain_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path / "trace.json", changed(TLC, setting(*ACTION, 0, 1, "context", "i", to="n9")))
    assert error.message == "n9 is not in Server {n1, n2, n3}"
    assert error.notes[0] == "in an argument of RequestVote"


@pytest.mark.parametrize("document", [itf, lambda: TLC], ids=["itf", "tlc"])
def test_a_file_cut_off_anywhere_is_refused(document: Callable[[], str], tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    whole = document().rstrip()
    for end in range(0, len(whole), 97):
        assert refusal(path, whole[:end]).code == "KMC421"


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, 0, -1, 3, 10**40, 1.5, "", "n1", "Nil", [], [1], [[1, 2]], {}, {"n1": 1}, {"tag": "a"}),
        *({"#map": [[1, 1]]}, {"#set": ["n1"]}, {"#bigint": "7"}, {"#bigint": "x"}),
        *({"1": [], "2": {}}, {"{n1, n2}": True}),
    ]
)


@pytest.mark.slow
@given(st.data(), st.sampled_from(["itf", "tlc"]))
def test_whatever_is_changed_in_a_file_no_other_exception_comes_out(data: st.DataObject, form: str) -> None:
    tree = json.loads(itf() if form == "itf" else TLC)
    for _ in range(data.draw(st.integers(1, 2))):
        _replace_somewhere(tree, data)
    document = json.dumps(tree)
    with suppress(TraceError):
        file = parse_itf(document) if form == "itf" else parse_tlc_json(document)
        render(file, changed_only=True)
        to_trace(file, kraft().spec)


def _replace_somewhere(tree: Any, data: st.DataObject) -> None:
    """Replace, remove or double one value somewhere in the tree."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = data.draw(st.sampled_from(keys))
        inner = tree[key]
        if isinstance(inner, dict | list) and inner and data.draw(st.integers(0, 3)):
            tree = inner
            continue
        match data.draw(st.sampled_from(["replace", "remove", "double"])):
            case "replace":
                tree[key] = copy.deepcopy(data.draw(JUNK))
            case "remove":
                del tree[key]
            case _ if isinstance(tree, list):
                tree.append(copy.deepcopy(inner))
            case _:
                tree[f"{key}x"] = copy.deepcopy(inner)
        return
