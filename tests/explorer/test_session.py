"""A person's walk: what is shown of it, what is saved, and how it begins at a counterexample."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, model_of
from support.views.exploring import do, long_command, searched, session_of

from kmc.actions.relation import NextStateRelation
from kmc.cli.saved.traced_model import model_of_trace
from kmc.errors import CommandLineError, KmcError, SystemFault
from kmc.explorer.commands import command_of
from kmc.explorer.python_specs.moves import moves_of
from kmc.explorer.python_specs.opening import ground_at
from kmc.explorer.saving import SavingPlace, commands_from, save_walk, walked_trace
from kmc.explorer.session import ExplorerSession
from kmc.explorer.shown import disabled_data, frame_of, initial_data, view_of
from kmc.explorer.watching import WATCHED_MAX
from kmc.trace.files import pick, read_trace, to_trace

NOW = datetime(2026, 11, 23, 8, 0, 0)


def view(session: ExplorerSession) -> Any:
    return json.loads(json.dumps(view_of(session)))


def take(session: ExplorerSession, label: str) -> None:
    """Take the move whose label begins so."""
    moves = view(session)["moves"]
    place = next(move["place"] for move in moves if move["label"].startswith(label))
    do(session, "take", at=session.tree.at, move=place)


def test_a_walk_branches_and_comes_back() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    take(session, "FillBigJug")
    take(session, "BigToSmall")
    do(session, "go", to=1)
    take(session, "SmallToBig")
    shown = view(session)
    assert [(v["number"], v["parent"], v["label"]) for v in shown["tree"]] == [
        (0, None, "Initial state"),
        (1, 0, "FillBigJug"),
        (2, 1, "BigToSmall"),
        (3, 1, "SmallToBig"),
    ]
    assert (shown["at"], shown["line"], shown["step"]) == (3, [0, 1, 3], 3)
    do(session, "go", to=0)
    assert view(session)["line"] == [0, 1, 3]
    do(session, "undo")
    assert session.tree.at == 3


def test_undo_goes_back_and_keeps_the_way_that_was_undone() -> None:
    keys = {"1": ("take", 0), "2": ("take", 1), "u": ("undo", None), "k": ("go", None), "r": ("redo", None)}

    def visited_after(typed: str) -> int:
        session = session_of(shipped_model("die_hard", "solution"))
        for key in typed:
            what, move = keys[key]
            if what == "take":
                do(session, "take", at=session.tree.at, move=move)
            elif what == "go":
                do(session, "go", to=session.here().parent)
            else:
                do(session, what)
        assert [visited.number for visited in session.tree.visited] == list(range(len(session.tree.visited)))
        return len(session.tree.visited)

    assert visited_after("11u2") == visited_after("11k2") == 4
    assert visited_after("11uu") == 3
    assert visited_after("11uu2") == 4
    assert visited_after("11uurr2") == 4
    assert visited_after("11u2u1") == 4


def test_what_was_undone_can_be_gone_to_and_redone() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    do(session, "take", at=0, move=0)
    do(session, "undo")
    do(session, "go", to=1)
    assert session.tree.at == 1
    do(session, "undo")
    do(session, "undo")
    assert (session.tree.at, [v["number"] for v in view(session)["tree"]]) == (0, [0, 1])
    do(session, "redo")
    assert session.tree.at == 1


def test_a_bookmark_is_undone() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    do(session, "bookmark", of=0, name="here")
    do(session, "undo")
    assert view(session)["tree"][0]["bookmark"] == ""


def test_a_move_is_previewed_as_it_is_told_once_it_is_taken() -> None:
    session = session_of(shipped_model("kip_996", "smoke"))
    for _ in range(8):
        before = view(session)
        move = before["moves"][-1]
        do(session, "take", at=session.tree.at, move=move["place"])
        step = view(session)["story"]["steps"][-1]
        assert (move["label"], move["actor"], move["received"]) == (step["label"], step["actor"], step["received"])
        assert move["changes"] == step["changes"]
        assert len(move["sent"]) == len(step["sent"])


def test_a_move_says_what_it_breaks_and_where_it_leads() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    searched(session, what="property", name="NotSolved")
    shown = view(session)
    assert shown["fails"] == ["NotSolved"]
    assert {v["name"]: v["outcome"] for v in shown["verdicts"]}["NotSolved"] == "fails"
    do(session, "go", to=shown["line"][-2])
    moves = {move["label"]: move for move in view(session)["moves"]}
    assert moves["BigToSmall"]["fails"] == ["NotSolved"]
    assert moves["BigToSmall"]["visited"] == shown["at"]
    assert moves["FillSmallJug"]["fails"] == []


def test_what_cannot_happen_is_told_with_the_guard_that_stops_it() -> None:
    model = shipped_model("two_phase_commit", "smoke")
    session = session_of(model)
    found = disabled_data(session)["disabled"]
    commit = next(one for one in found if one["action"] == "TmCommit")
    assert "len(st.prepared) < len(RM)" in commit["guard"]
    assert commit["place"].startswith("specs/two_phase_commit/actions.py:")
    assert "len(prepared) is 0" in commit["sentence"]
    told = {(one["action"], tuple(one["arguments"])) for one in found if one["message"] is None and one["guard"]}
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    assert len(told) == len(moves_of(relation, session.here().state).disabled)


def test_a_state_without_a_step_is_shown_as_one(tmp_path: Path) -> None:
    session = session_of(model_of(tmp_path, COUNTER, "CONSTANT Limit = 1"))
    assert not view(session)["deadlock"]
    take(session, "Increase")
    assert view(session)["deadlock"]
    assert frame_of(session)["deadlock"]


def test_an_error_of_the_spec_is_shown_and_the_walk_goes_on(tmp_path: Path) -> None:
    source = COUNTER.replace("    if st.n < Limit:\n", "    assert st.n != 1\n    if st.n < Limit:\n")
    session = session_of(model_of(tmp_path, source))
    take(session, "Increase")
    ((failing),) = view(session)["failing"]
    assert failing["label"] == "Increase"
    assert failing["error"]["source"] == "assert st.n != 1"
    assert "/spec.py:" in failing["error"]["place"]
    do(session, "undo")
    assert view(session)["failing"] == []


def test_initial_states_are_listed_in_pages_and_made_as_they_are_looked_at(tmp_path: Path) -> None:
    source = COUNTER.replace("    yield State(n=0)", "    for n in range(0, 80):\n        yield State(n=n)")
    model = model_of(tmp_path, source)
    session = ExplorerSession(session_of(model).ground, session_of(model).initial)
    first = initial_data(session, 0)
    assert (len(first["states"]), first["more"]) == (50, True)
    second = initial_data(session, 50)
    assert ([s["place"] for s in second["states"]], second["more"]) == (list(range(50, 80)), False)
    assert second["states"][0]["values"] == [["n", "50"]]
    do(session, "begin", initial=60)
    assert session.tree.here is not None
    assert session.tree.here.state.n == 60
    with pytest.raises(CommandLineError, match="KMC670"):
        do(session, "begin", initial=80)


def test_a_bookmark_is_part_of_the_history() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    do(session, "bookmark", of=0, name="  empty jugs ")
    assert view(session)["tree"][0]["bookmark"] == "empty jugs"
    do(session, "undo")
    assert view(session)["tree"][0]["bookmark"] == ""


def shown_values(session: ExplorerSession, name: str) -> list[Any]:
    """The values of a watched expression in the states of the path."""
    story = view(session)["story"]
    assert name in story["watched"]
    return [story["values"][step["state"][name]] for step in story["steps"]]


def test_an_expression_is_shown_in_every_state_of_the_path_whatever_a_person_does() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    take(session, "FillBigJug")
    before = view(session)["told"]
    do(session, "show", expression=" st.big + st.small ")
    assert view(session)["told"] != before
    assert shown_values(session, "st.big + st.small") == [0, 5]
    take(session, "BigToSmall")
    take(session, "EmptySmallJug")
    assert shown_values(session, "st.big + st.small") == [0, 5, 5, 2]
    do(session, "undo")
    do(session, "go", to=1)
    take(session, "FillSmallJug")
    assert shown_values(session, "st.big + st.small") == [0, 5, 8]
    do(session, "go")
    do(session, "begin", initial=0)
    assert view(session)["story"]["watched"] == ["st.big + st.small"]
    do(session, "show", expression="st.small == 3")
    do(session, "show", expression="st.small == 3")
    assert view(session)["story"]["watched"] == ["st.big + st.small", "st.small == 3"]
    do(session, "hide", expression="st.big + st.small")
    assert view(session)["story"]["watched"] == ["st.small == 3"]
    with pytest.raises(CommandLineError, match="KMC670"):
        do(session, "hide", expression="st.big + st.small")


def test_a_mistake_in_an_expression_is_answered_as_kmc_eval_answers_it() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    wrong = {"st.big +": "KMC640", "bigg": "KMC641", "nxt.big": "KMC649", "st.bigg": "KMC212", "10 // st.big": "KMC253"}
    for text, code in wrong.items():
        with pytest.raises(KmcError) as raised:
            do(session, "show", expression=text)
        assert (raised.value.code, raised.value.span is not None) == (code, True), text
    assert view(session)["story"]["watched"] == []
    take(session, "FillBigJug")
    do(session, "show", expression="10 // st.big")
    assert shown_values(session, "10 // st.big") == ["no value", 2]


def test_a_path_shows_at_most_eight_expressions() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    for number in range(WATCHED_MAX):
        do(session, "show", expression=f"st.big + {number}")
    with pytest.raises(CommandLineError, match="KMC670"):
        do(session, "show", expression="st.big")


def test_the_commands_of_a_saved_walk_show_what_was_watched(tmp_path: Path) -> None:
    model = shipped_model("die_hard", "solution")
    session = session_of(model)
    take(session, "FillBigJug")
    do(session, "show", expression="st.big")
    place = SavingPlace(tmp_path, ("die_hard",))
    path = save_walk(session, place, NOW)
    trace, _, explore, *_ = commands_from(path, 2, place, session.watching.texts)
    assert (trace[-2:], explore[-2:]) == (["--show", "st.big"], ["--show", "st.big"])
    assert "st.big 0 -> 5" in kmc(*trace[1:]).output
    again = session_of(model, ground_at(model, *pick(str(path)), ("st.big",)))
    assert shown_values(again, "st.big") == [0, 5]


def test_the_step_that_closes_a_lasso_has_the_value_too() -> None:
    file, number = pick("tests/data/views/no_check_quorum.itf.json")
    model = model_of_trace(file)
    session = session_of(model, ground_at(model, file, number, ("len(st.servers)",)))
    assert view(session)["story"]["loop"]["closing"]["state"].keys() >= {"len(st.servers)"}


def test_a_saved_walk_is_a_trace_that_opens_again(tmp_path: Path) -> None:
    model = shipped_model("kip_996", "smoke")
    session = session_of(model)
    do(session, "walk", steps=12, seed=9)
    place = SavingPlace(tmp_path / "new", ("kip_996", "smoke"))
    path = save_walk(session, place, NOW)
    file = read_trace(path)
    assert file.about["status"] == "explored"
    assert [step.state for step in to_trace(file, model.spec).steps] == [
        step.state for step in session.tree.trace().steps
    ]
    again = session_of(model, ground_at(model, *pick(f"{path}#5")))
    assert (again.tree.at, len(again.tree.visited)) == (4, 13)
    assert again.ground.notes == ()
    assert save_walk(session, place, NOW) != path
    assert commands_from(path, 13, place)[3] == ["kmc", "check", "kip_996", "smoke", "--from", f"{path}#13"]


def test_a_saved_walk_names_the_property_that_fails_at_its_end(tmp_path: Path) -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    searched(session, what="property", name="NotSolved")
    about = walked_trace(session).about
    assert (about["status"], about["property"]) == ("violation", "NotSolved")
    session = session_of(model_of(tmp_path, COUNTER, "PROPERTY NeverToThree"))
    searched(session, what="property", name="NeverToThree")
    about = walked_trace(session).about
    assert (about["status"], about["property"]) == ("liveness", "NeverToThree")


def test_a_folder_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemFault, match="KMC591"):
        save_walk(session_of(shipped_model("die_hard", "solution")), SavingPlace(tmp_path / "file", ()), NOW)


def test_a_trace_is_opened_as_far_as_the_spec_still_allows_it(tmp_path: Path) -> None:
    session = session_of(model_of(tmp_path / "old", COUNTER, "CONSTANT Limit = 3"))
    do(session, "walk", steps=3, seed=1)
    path = save_walk(session, SavingPlace(tmp_path, ()), NOW)
    now = model_of(tmp_path / "new", COUNTER, "CONSTANT Limit = 2")
    opened = session_of(now, ground_at(now, *pick(str(path))))
    assert [visited.state.n for visited in opened.tree.visited] == [0, 1, 2]
    assert "up to state 3" in opened.ground.notes[0]


def test_of_two_moves_at_once_the_second_is_refused() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    do(session, "take", at=0, move=0)
    with pytest.raises(CommandLineError, match="moved on"):
        do(session, "take", at=0, move=1)


@pytest.mark.parametrize(
    "given",
    [
        None,
        [],
        "undo",
        {},
        {"do": "fly"},
        {"do": ["undo"]},
        {"do": "undo", "twice": True},
        {"do": "take", "at": 0},
        {"do": "take", "at": 0, "move": -1},
        {"do": "take", "at": 0, "move": True},
        {"do": "take", "at": 0, "move": 1.0},
        {"do": "take", "at": 0, "move": 10**30},
        {"do": "take", "at": "0", "move": 0},
        {"do": "bookmark", "of": 0, "name": None},
        {"do": "bookmark", "of": 0, "name": "x" * 3000},
        {"do": "walk", "steps": "many", "seed": 1},
    ],
)
def test_what_is_not_a_command_is_refused(given: object) -> None:
    with pytest.raises(CommandLineError) as caught:
        command_of(given)
    assert caught.value.code == "KMC670"
    assert caught.value.help


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("take", {"at": 0, "move": 99}),
        ("take", {"at": 7, "move": 0}),
        ("go", {"to": 99}),
        ("bookmark", {"of": 99, "name": "x"}),
        ("until", {"what": "nothing", "name": "x"}),
        ("until", {"what": "property", "name": "Nothing"}),
        ("until", {"what": "goal", "name": "nothing"}),
        ("until", {"what": "action", "name": "Nothing"}),
        ("until", {"what": "expression", "name": ""}),
    ],
)
def test_a_command_for_what_is_not_there_is_refused_and_changes_nothing(name: str, given: dict[str, Any]) -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    before = session.history
    with pytest.raises(CommandLineError, match="KMC670"):
        do(session, name, **given)
    assert session.history is before


def test_one_search_runs_at_a_time() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    walk = long_command("walk", steps=1, seed=1)
    session.start_search(walk)
    with pytest.raises(CommandLineError, match="a search is running"):
        session.start_search(walk)


def test_a_lasso_opens_with_its_cycle_which_another_path_does_not_have() -> None:
    file, number = pick("tests/data/views/no_check_quorum.itf.json#6")
    session = session_of(shipped_model("kip_996", "no_check_quorum"), ground_at(model_of_trace(file), file, number))
    loop = view(session)["story"]["loop"]
    assert (loop["backTo"], loop["closing"]["number"], loop["closing"]["label"]) == (4, 7, "VoterFetchTimeout(s2)")
    take(session, "VoterFetchTimeout(s2)")
    assert view(session)["story"]["loop"] is None
    do(session, "undo")
    assert view(session)["story"]["loop"] == loop


def test_a_line_is_told_once_however_often_it_is_walked() -> None:
    session = session_of(shipped_model("die_hard", "solution"))
    take(session, "FillBigJug")
    first = view_of(session)
    do(session, "go", to=0)
    again = view_of(session)
    assert again["told"] == first["told"]
    assert again["story"] is first["story"]
    take(session, "FillSmallJug")
    assert view_of(session)["told"] != first["told"]
