"""A walk through a TLA+ module: its steps, what stops an action, verdicts, values as TLA+ writes them, errors."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.specs.modules import module_of
from support.views.exploring import do, searched, session_on

from kmc.checking.modules.check_module import ModuleRequest, load_runnable_module
from kmc.checking.modules.checked_module import CheckedModule
from kmc.errors import CommandLineError, KmcError
from kmc.explorer.modules.module_opening import module_ground_of
from kmc.explorer.session import ExplorerSession, InitialStates
from kmc.explorer.shown import MOVES_SHOWN_MAX, disabled_data, frame_of, initial_data, view_of

LEASE = Path(__file__).parents[2] / "docs" / "tla" / "Lease.tla"
CHECKED = Path(__file__).parents[1] / "data" / "tla" / "checked"
POST = """---- MODULE Post ----
EXTENDS Naturals, FiniteSets
CONSTANTS Node, none
VARIABLES msgs, note, pair
vars == <<msgs, note, pair>>
Init == msgs = {} /\\ note = [n \\in Node |-> "say \\"hi\\""] /\\ pair = [of |-> none, ones |-> {<<1, TRUE>>}]
\\* --------
\\* A node sends a number to another node.
Send(n, k) ==
    /\\ Cardinality(msgs) < 2  \\* at most two
    /\\ \\E m \\in Node \\ {n} : msgs' = msgs \\union {[type |-> "num", from |-> n, to |-> m, value |-> k]}
    /\\ UNCHANGED <<note, pair>>
Receive ==
    \\E m \\in msgs :
        /\\ m.value > 1
        /\\ msgs' = msgs \\ {m}
        /\\ pair' = [pair EXCEPT !.ones = @ \\union {<<m.value, FALSE>>}]
        /\\ UNCHANGED note
Fail == note[none] = "a" /\\ UNCHANGED vars
Next == (\\E n \\in Node, k \\in {1, 3} : Send(n, k)) \\/ Receive
NextFails == Next \\/ Fail
Small == \\A p \\in pair.ones : p[1] < 3 /\\ p[2] \\in BOOLEAN
Grows == [][Cardinality(pair.ones') >= Cardinality(pair.ones)]_vars
OneTrue == Cardinality(msgs) < 2
Broken == note[none] = "a"
Comes == <>(msgs # {})
Spec == Init /\\ [][Next]_vars /\\ WF_vars(Next)
Zero == msgs = {}
StartsSmall == Zero /\\ [][TRUE]_vars
====
"""
CONSTANTS = "CONSTANTS Node = {a, b}\nnone = none\n"
MODEL = f"SPECIFICATION Spec\n{CONSTANTS}INVARIANT Small\nCONSTRAINT OneTrue\n"


def session_of_module(module: CheckedModule, *watched: str) -> ExplorerSession:
    return session_on(module_ground_of(module, watched))


def lease() -> ExplorerSession:
    return session_of_module(load_runnable_module(ModuleRequest(LEASE)))


def view(session: ExplorerSession) -> Any:
    return json.loads(json.dumps(view_of(session)))


def take(session: ExplorerSession, label: str) -> Any:
    """Take the first move with a label that begins so, and return the view after it."""
    place = next(move["place"] for move in view(session)["moves"] if move["label"].startswith(label))
    do(session, "take", at=session.tree.at, move=place)
    return view(session)


def stopped(session: ExplorerSession) -> dict[str, Any]:
    """What stops each action, by its label."""
    found = disabled_data(session)["disabled"]
    return {f"{one['action']}({', '.join(one['arguments'])})": one for one in found}


@pytest.mark.parametrize(
    ("module", "model"),
    [
        (LEASE, "Lease"),
        (CHECKED / "Pool.tla", "Pool"),
        (CHECKED / "Grid.tla", "Grid"),
        (CHECKED / "Tower.tla", "Tower"),
    ],
)
def test_a_state_has_the_steps_of_the_interpreter_and_an_obstacle_for_each_other_action(
    module: Path, model: str
) -> None:
    loaded = load_runnable_module(ModuleRequest(module, module.with_name(f"{model}.cfg")))
    explored, chance = module_ground_of(loaded).explored, random.Random(7)
    for _ in range(4):
        state = next(explored.initial_states())
        for _ in range(12):
            moves = explored.moves(state)
            shown = Counter({(move.step.label, move.step.state): move.ways for move in moves.enabled})
            assert shown == Counter((step.label, step.state) for step in loaded.program.successors(state))
            tried = [loaded.program.steps_of(action, state) for action in loaded.program.actions]
            assert len(explored.obstacles(state)) == tried.count([])
            assert moves.has_disabled is ([] in tried)
            if not moves.enabled:
                break
            state = chance.choice(moves.enabled).step.state


def test_an_action_is_stopped_by_its_first_false_conjunct_with_the_values_in_it() -> None:
    session = lease()
    one = stopped(session)["Write(w1)"]
    assert (one["guard"], one["value"], one["place"]) == ("held[w] > 0", "FALSE", "Lease.tla:35")
    assert one["sentence"] == "held[w] is 0"
    take(session, "Grant(w1)")
    take(session, "Grant(w2)")
    take(session, "Write(w2)")
    one = stopped(session)["Write(w1)"]
    assert (one["guard"], one["sentence"]) == ("held[w] >= last", "held[w] is 1; last is 2")


def test_a_choice_says_what_it_chose_and_that_there_is_nothing_to_choose(tmp_path: Path) -> None:
    session = session_of_module(module_of(tmp_path, POST, MODEL))
    assert stopped(session)["Receive()"]["sentence"] == "msgs is empty"
    assert stopped(session)["Receive()"]["place"] == "Post.tla:14"
    take(session, "Send(a, 1)")
    one = stopped(session)["Receive()"]
    assert one["guard"] == "m.value > 1"
    assert one["sentence"] == 'm is [from |-> a, to |-> b, type |-> "num", value |-> 1]; m.value is 1'
    take(session, "Send(b, 3)")
    one = stopped(session)["Send(a, 1)"]
    assert (one["guard"], one["sentence"]) == ("Cardinality(msgs) < 2", "Cardinality(msgs) is 2")


def test_an_operator_that_is_passed_on_does_not_hide_what_stops_an_action(tmp_path: Path) -> None:
    text = """---- MODULE Line ----
EXTENDS Sequences
VARIABLE line
Init == line = <<<<"read", 1>>>>
read(s) == s[1] = "read"
Readers == {p[2] : p \\in {SelectSeq(line, read)[i] : i \\in DOMAIN SelectSeq(line, read)}}
Enter == 1 \\notin Readers /\\ UNCHANGED line
Next == Enter
====
"""
    session = session_of_module(module_of(tmp_path, text, "INIT Init\nNEXT Next\n"))
    one = stopped(session)["Enter()"]
    assert (one["guard"], one["sentence"]) == ("1 \\notin Readers", "Readers is {1}")


BRANCHES = """---- MODULE Branches ----
EXTENDS Naturals
VARIABLES x, y
Low == x = 0 /\\ y = 0
If == IF y > 0 THEN x' = 1 /\\ y' = 1 ELSE FALSE
Case == CASE x = 0 -> y > 3 /\\ x' = 1 /\\ y' = 1 [] OTHER -> UNCHANGED <<x, y>>
Let == LET z == x + 1 IN z > 5 /\\ x' = z /\\ UNCHANGED y
Implies == (x = 0 => y = 2) /\\ UNCHANGED <<x, y>>
Twice == x' = 1 /\\ y' = 2 /\\ x' = 2
Every == (\\A n \\in 1..3 : n < 3) /\\ UNCHANGED <<x, y>>
Some == (\\E n \\in 1..3 : n > 2 /\\ y = n) /\\ UNCHANGED <<x, y>>
Either == (x = 1 \\/ y = 1) /\\ UNCHANGED <<x, y>>
Not == ~Low /\\ UNCHANGED <<x, y>>
Later == x' \\in 1..2 /\\ y' = x' /\\ y' > 5
Next == If \\/ Case \\/ Let \\/ Implies \\/ Twice \\/ Every \\/ Some \\/ Either \\/ Not \\/ Later
====
"""


def test_every_kind_of_formula_that_stops_an_action_is_told(tmp_path: Path) -> None:
    session = session_of_module(module_of(tmp_path, BRANCHES, "INIT Low\nNEXT Next\n"))
    told = {label[:-2]: (one["guard"], one["sentence"]) for label, one in stopped(session).items()}
    assert told == {
        "If": ("y > 0", "y is 0"),
        "Case": ("y > 3", "y is 0"),
        "Let": ("z > 5", "z is 1"),
        "Implies": ("y = 2", "y is 0"),
        "Twice": ("x' = 2", "x' is 1"),
        "Every": ("n < 3", "n is 3"),
        "Some": ("y = n", "n is 3; y is 0"),
        "Either": ("x = 1 \\/ y = 1", "x is 0; y is 0"),
        "Not": ("~Low", "~Low is FALSE"),
        "Later": ("y' > 5", "y' is 1"),
    }


def test_values_names_and_comments_are_those_of_the_module(tmp_path: Path) -> None:
    session = session_of_module(module_of(tmp_path, POST, MODEL))
    frame = frame_of(session)
    assert (frame["spec"], frame["model"], frame["actions"]) == ("Post", "Post", ["Send", "Receive"])
    assert frame["expressions"]["kind"] == "an expression of TLA+"
    (move,) = [move for move in view(session)["moves"] if move["label"] == "Send(a, 3)"]
    assert (move["doc"], move["place_of_action"]) == ("A node sends a number to another node.", "Post.tla:9")
    shown = take(session, "Send(a, 3)")
    assert [(message["source"], message["dest"], message["kind"]) for message in shown["story"]["messages"]] == [
        ("a", "b", "num")
    ]
    shown = take(session, "Receive")
    changes = [(change["path"], change["old"], change["new"]) for change in shown["story"]["steps"][-1]["changes"]]
    assert changes == [(["pair", "ones"], None, "<<3, FALSE>>")]
    assert shown["story"]["notation"] == "tla"
    assert '"say \\"hi\\""' in shown["story"]["values"]
    text = initial_data(session, 0)["states"][0]["values"]
    assert ["note", '(a :> "say \\"hi\\"" @@ b :> "say \\"hi\\"")'] in text
    assert ["pair", "[of |-> none, ones |-> {<<1, TRUE>>}]"] in text


def test_verdicts_of_a_state_and_of_the_step_to_it_with_the_reason(tmp_path: Path) -> None:
    asked = "INVARIANT Small Broken\nCONSTRAINT OneTrue\nPROPERTY Grows Comes StartsSmall\n"
    model = f"SPECIFICATION Spec\n{CONSTANTS}{asked}"
    session = session_of_module(module_of(tmp_path, POST, model))
    first = {verdict["name"]: verdict for verdict in view(session)["verdicts"]}
    assert {name: verdict["outcome"] for name, verdict in first.items()} == {
        "Small": "holds",
        "Broken": "error",
        "StartsSmall (initial)": "holds",
        "OneTrue": "inside",
        "Comes": "of_behaviours",
    }
    assert first["Broken"]["error"]["source"] == 'Broken == note[none] = "a"'
    take(session, "Send(a, 3)")
    moves = view(session)["moves"]
    assert {tuple(move["fails"]) for move in moves if move["label"] == "Receive"} == {("Small", "Broken")}
    assert {move["outside"] for move in moves if move["label"] == "Send(b, 1)"} == {True}
    shown = {verdict["name"]: verdict for verdict in take(session, "Receive")["verdicts"]}
    assert "StartsSmall (initial)" not in shown
    assert shown["Grows"]["outcome"] == "holds"
    why = shown["Small"]["why"]
    assert why["sentence"] == "p[1] < 3 is FALSE (Post.tla:22)."
    assert why["pairs"] == [["p", "<<3, FALSE>>"], ["p[1]", "3"]]


def test_an_action_that_fails_is_shown_with_its_error_and_the_others_stay(tmp_path: Path) -> None:
    session = session_of_module(module_of(tmp_path, POST, f"INIT Init\nNEXT NextFails\n{CONSTANTS}"))
    shown = view(session)
    assert len(shown["moves"]) == 4
    (failing,) = shown["failing"]
    assert failing["label"] == "Fail"
    assert failing["error"]["place"].endswith("Post.tla:19")
    assert "Fail()" not in stopped(session)


def test_an_endless_choice_is_refused_at_its_place(tmp_path: Path) -> None:
    text = "---- MODULE Endless ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\n"
    text += "Next ==\n  \\E n \\in Nat : x' = n\n====\n"
    session = session_of_module(module_of(tmp_path, text, "INIT Init\nNEXT Next\n"))
    (failing,) = view(session)["failing"]
    assert (failing["error"]["code"], failing["error"]["place"][-13:]) == ("KMC266", "Endless.tla:6")
    assert not view(session)["deadlock"]


@pytest.mark.parametrize(
    ("init", "code", "place"),
    [
        ("x \\in {n \\in 1..3 : n > 3}", "KMC271", (1, "Wrong.cfg")),
        ("x = 1 \\div 0", "KMC2", (4, "Wrong.tla")),
        ("x \\in Nat", "KMC266", (4, "Wrong.tla")),
    ],
)
def test_an_error_in_the_initial_predicate_is_an_error_with_its_place(
    tmp_path: Path, init: str, code: str, place: tuple[int, str]
) -> None:
    text = f"---- MODULE Wrong ----\nEXTENDS Naturals\nVARIABLE x\nInit == {init}\nNext == x' = x\n====\n"
    ground = module_ground_of(module_of(tmp_path, text, "INIT Init\nNEXT Next\n"))
    with pytest.raises(KmcError, match=code) as raised:
        ExplorerSession(ground, InitialStates(ground.explored)).begin_at_once()
    assert raised.value.span is not None
    assert (raised.value.span.line, Path(raised.value.span.path).name) == place


MANY = """---- MODULE Many ----
EXTENDS Naturals
VARIABLE x
Init == x \\in 1..2500 \\/ x \\in 1..10
Next == x' \\in 1..600 \\/ UNCHANGED x
====
"""


def test_thousands_of_initial_states_and_hundreds_of_steps_are_shown_in_parts(tmp_path: Path) -> None:
    ground = module_ground_of(module_of(tmp_path, MANY, "INIT Init\nNEXT Next\n"))
    session = ExplorerSession(ground, InitialStates(ground.explored))
    first = initial_data(session, 0)
    assert (len(first["states"]), first["more"], first["most"]) == (50, True, None)
    last = initial_data(session, 2450)
    assert (last["states"][-1]["values"], last["more"], last["most"]) == ([["x", "2500"]], False, None)
    do(session, "begin", initial=2499)
    shown = view(session)
    assert (len(shown["moves"]), shown["unshown"]) == (MOVES_SHOWN_MAX, 601 - MOVES_SHOWN_MAX)
    text = MANY.replace("x' \\in 1..600 \\/ ", "")
    still = session_of_module(module_of(tmp_path, text, "INIT Init\nNEXT Next\n"))
    (only,) = view(still)["moves"]
    assert only["stutters"]


def test_steps_that_take_too_long_are_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = MANY.replace("Next == ", "Long == ").replace("1..600", "1..6000")
    text = text.replace("x\n====\n", "x\nNext == x' = 1 \\/ Long\n====\n")
    session = session_of_module(module_of(tmp_path, text, "INIT Init\nNEXT Next\n"))
    monkeypatch.setattr("kmc.explorer.modules.explored_module.STEPS_SECONDS_MAX", -1.0)
    shown = view(session)
    assert [move["label"] for move in shown["moves"]] == ["Next", "Long"]
    assert [(one["label"], one["error"]["code"]) for one in shown["failing"]] == [("Long", "KMC278")]
    monkeypatch.setattr("kmc.explorer.modules.explored_module.INITIAL_SECONDS_MAX", -1.0)
    with pytest.raises(KmcError, match="KMC278"):
        list(session.explored.initial_states())


def test_expressions_of_tla_are_watched_and_a_wrong_one_is_answered(tmp_path: Path) -> None:
    session = session_of_module(module_of(tmp_path, POST, MODEL), " Cardinality(msgs) ")
    take(session, "Send(a, 3)")
    do(session, "show", expression="{m.to : m \\in msgs}")
    do(session, "show", expression="(CHOOSE m \\in msgs : TRUE).value")
    story = view(session)["story"]
    assert story["watched"] == ["Cardinality(msgs)", "{m.to : m \\in msgs}", "(CHOOSE m \\in msgs : TRUE).value"]
    last = [story["values"][step["state"][story["watched"][2]]] for step in story["steps"]]
    assert last == ["no value", 3]
    for text, code in {"msgs'": "KMC649", "msgs +": "KMC001", "mgs": "KMC008", "note[none]": "KMC2"}.items():
        with pytest.raises(KmcError, match=code):
            do(session, "show", expression=text)
    assert len(view(session)["story"]["watched"]) == 3


def test_a_value_that_is_too_large_or_too_deep_does_not_end_the_walk(tmp_path: Path) -> None:
    session = session_of_module(module_of(tmp_path, POST, MODEL))
    do(session, "show", expression="1..999999999")
    do(session, "show", expression="SUBSET (1..60)")
    story = view(session)["story"]
    assert [story["values"][story["steps"][0]["state"][name]] for name in story["watched"]] == [
        "1..999999999",
        "SUBSET 1..60",
    ]
    for depth in (80, 390):
        with pytest.raises(CommandLineError, match="nested too deeply"):
            do(session, "show", expression="{" * depth + "}" * depth)
    assert view(session)["moves"]


@pytest.mark.parametrize(
    ("wanted", "steps"),
    [
        ({"what": "property", "name": "Small"}, 2),
        ({"what": "property", "name": ""}, 2),
        ({"what": "action", "name": "Receive"}, 1),
        ({"what": "expression", "name": "Cardinality(pair.ones) = 2"}, 2),
        ({"what": "expression", "name": "Cardinality(pair.ones) = 2", "how": "random"}, None),
    ],
)
def test_it_runs_until_something_is_so(tmp_path: Path, wanted: dict[str, Any], steps: int | None) -> None:
    session = session_of_module(module_of(tmp_path, POST, MODEL))
    result = searched(session, **wanted).result
    assert result is not None
    assert result.end.name == "FOUND"
    assert steps is None or len(result.steps) == steps
    assert session.tree.at == len(result.steps)


def test_what_cannot_be_waited_for_is_said(tmp_path: Path) -> None:
    session = session_of_module(module_of(tmp_path, POST, MODEL))
    for what, name in (("property", "Smal"), ("goal", "x"), ("action", "Sendd")):
        with pytest.raises(CommandLineError, match="KMC670"):
            do(session, "until", what=what, name=name)
    with pytest.raises(CommandLineError, match="KMC671"):
        do(session, "until", what="expression", name="msgs'")
    error = searched(session, what="expression", name="Cardinality(msgs)").error
    assert error is not None
    assert (error.code, error.message) == ("KMC671", "'Cardinality(msgs)' is 1, not TRUE or FALSE")


def test_a_walk_at_random_stays_inside_the_constraints(tmp_path: Path) -> None:
    session = session_of_module(module_of(tmp_path, POST, MODEL))
    do(session, "until", what="expression", name="Cardinality(pair.ones) = 2")
    do(session, "walk", steps=1, seed=3)
    do(session, "walk", steps=9, seed=3)
    assert len(session.tree.visited) > 3
    assert all(len(visited.state[0]) < 2 for visited in session.tree.visited)
