"""The explorer of a TLA+ module over HTTP: a walk, its errors as text, several persons at once."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from support.specs.modules import module_of
from support.views.exploring import asked, serving

from kmc.checking.modules.check_module import ModuleRequest, load_runnable_module
from kmc.explorer.modules.module_opening import module_ground_of

LEASE = Path(__file__).parents[2] / "docs" / "tla" / "Lease.tla"
FAULTY = """---- MODULE Faulty ----
EXTENDS Naturals
VARIABLE x
Init == x = 0
Grow == x' = x + 1
Divide == 6 \\div (x - 2) > 0 /\\ UNCHANGED x
Next == Grow \\/ Divide
Even == 12 % (x - 1) = 0
====
"""


def session_at(address: str) -> str:
    """The path of a new session."""
    return f"api/sessions/{asked(address, 'api/sessions', {}).json['session']}"


def ended_search(address: str, session: str) -> dict[str, Any]:
    """The search of a session, once it is over."""
    search: dict[str, Any] = {"over": False}
    while not search["over"]:
        search = asked(address, f"{session}/search").json["search"]
    return search


def test_a_module_is_walked_over_http(tmp_path: Path) -> None:
    module = load_runnable_module(ModuleRequest(LEASE, LEASE.with_name("LeaseUnchecked.cfg")))
    with serving(module_ground_of(module), tmp_path) as address:
        session = session_at(address)
        found = asked(address, session).json
        assert (found["frame"]["spec"], found["frame"]["actions"]) == ("Lease", ["Grant", "Write", "GiveUp"])
        assert [move["label"] for move in found["view"]["moves"]] == ["Grant(w1)", "Grant(w2)"]
        view = asked(address, session, {"do": "take", "at": 0, "move": 0}).json["view"]
        assert view["story"]["steps"][1]["label"] == "Grant(w1)"
        stopped = asked(address, f"{session}/disabled").json["disabled"]
        assert [(one["action"], one["arguments"], one["sentence"]) for one in stopped] == [
            ("Write", ["w2"], "held[w] is 0"),
            ("GiveUp", ["w2"], "held[w] is 0"),
        ]
        asked(address, session, {"do": "until", "what": "property", "name": "WritesInOrder"})
        search = ended_search(address, session)
        assert (search["end"], search["steps"]) == ("found", 3)
        failed = [one for one in asked(address, session).json["view"]["verdicts"] if one["outcome"] == "fails"]
        assert [(one["name"], one["why"]["pairs"]) for one in failed] == [
            ("WritesInOrder", [["last'", "1"], ["last", "2"]])
        ]
        saved = asked(address, f"{session}/save", {}).json
        assert Path(saved["file"]).name.startswith("Lease-LeaseUnchecked-")


def test_errors_of_a_state_are_shown_and_the_walk_goes_on(tmp_path: Path) -> None:
    ground = module_ground_of(module_of(tmp_path, FAULTY, "INIT Init\nNEXT Next\nINVARIANT Even\n"))
    with serving(ground, tmp_path) as address:
        session = session_at(address)
        for at in range(2):
            view = asked(address, session, {"do": "take", "at": at, "move": 0}).json["view"]
            assert [one["outcome"] for one in view["verdicts"]] == [("error", "holds")[at]]
        (failing,) = view["failing"]
        assert (failing["label"], failing["error"]["source"]) == (
            "Divide",
            "Divide == 6 \\div (x - 2) > 0 /\\ UNCHANGED x",
        )
        refused = asked(address, session, {"do": "show", "expression": "x = "})
        assert (refused.status, refused.json["error"]["code"]) == (422, "KMC001")
        assert asked(address, session, {"do": "show", "expression": "x + 1"}).status == 200
        assert asked(address, session, {"do": "take", "at": 2, "move": 0}).json["view"]["at"] == 3


@pytest.mark.parametrize("init", ["x = CHOOSE n \\in {} : TRUE", "x \\in Nat", "x \\in {}"])
def test_an_error_in_the_initial_predicate_is_answered(tmp_path: Path, init: str) -> None:
    text = FAULTY.replace("Init == x = 0", f"Init == {init}")
    with serving(module_ground_of(module_of(tmp_path, text, "INIT Init\nNEXT Next\n")), tmp_path) as address:
        for _ in range(2):
            found = asked(address, "api/sessions", {})
            assert (found.status, "Faulty" in found.json["error"]["place"]) == (422, True)
        assert asked(address).status == 200


def test_persons_and_searches_take_turns(tmp_path: Path) -> None:
    with serving(module_ground_of(load_runnable_module(ModuleRequest(LEASE))), tmp_path) as address:
        sessions = [session_at(address) for _ in range(4)]
        for session in sessions[:2]:
            asked(address, session, {"do": "until", "what": "expression", "name": "term > 9", "states": 500})
        answers: list[Any] = []

        def walk(session: str) -> None:
            for at in range(3):
                answers.append(asked(address, session, {"do": "take", "at": at, "move": 0}).json["view"])
                asked(address, f"{session}/disabled")

        threads = [threading.Thread(target=walk, args=(session,)) for session in sessions[2:]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(view["at"] for view in answers) == [1, 1, 2, 2, 3, 3]
        assert {ended_search(address, session)["end"] for session in sessions[:2]} == {"all_seen"}
