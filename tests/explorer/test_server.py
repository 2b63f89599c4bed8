"""The server: who may ask, what it refuses, and that it goes on after every error."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from support.specs.shipped import shipped_model
from support.specs.small import COUNTER, model_of
from support.views.exploring import asked, serving

from kmc.errors import CommandLineError
from kmc.explorer.application import SESSIONS_MAX
from kmc.explorer.guard import BODY_BYTES_MAX
from kmc.explorer.python_specs.opening import ground_of
from kmc.explorer.saving import SavingPlace
from kmc.explorer.server import ExplorerServer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with serving(ground_of(shipped_model("die_hard", "solution")), folder) as found:
        yield found


@pytest.fixture
def session(address: str) -> str:
    return f"api/sessions/{asked(address, 'api/sessions', {}).json['session']}"


def test_the_page_and_its_files_are_served_and_nothing_is_cached(address: str) -> None:
    page = asked(address)
    assert page.status == 200
    assert page.headers["content-type"].startswith("text/html")
    for line in page.text.splitlines():
        if "assets/" in line:
            name = line.split('"')[3 if "stylesheet" in line else 1]
            found = asked(address, name)
            assert (found.status, found.headers["cache-control"]) == (200, "no-store")
            assert found.text
    assert page.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "access-control-allow-origin" not in page.headers


def test_the_address_is_local_and_its_token_is_long(address: str) -> None:
    place = urlsplit(address)
    assert place.hostname == "127.0.0.1"
    assert len(place.path.strip("/")) >= 32


@pytest.mark.parametrize("path", ["/", "/api/sessions", "/x/", "/assets/page.css", "//", "/%00/", "/" + "a" * 32 + "/"])
def test_a_request_without_the_token_is_refused(address: str, path: str) -> None:
    assert asked(address, path).status == 404
    assert asked(address, path, {}).status == 404


def test_a_token_that_is_almost_right_is_refused(address: str) -> None:
    path = urlsplit(address).path
    assert asked(address, path[:-2] + "/").status == 404
    assert asked(address, path[:-1] + "x/").status == 404
    assert asked(address, path.swapcase()).status == 404
    assert asked(address, path.rstrip("/")).status == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "", "0.0.0.0"])
def test_another_host_is_refused(address: str, host: str) -> None:
    assert asked(address, headers={"Host": host}).status == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_origin_is_refused(address: str, headers: dict[str, str]) -> None:
    assert asked(address, "api/sessions", {}, headers=headers).status == 403


def test_its_own_origin_and_localhost_are_let_in(address: str) -> None:
    place = urlsplit(address)
    own = {"Origin": f"http://{place.netloc}", "Sec-Fetch-Site": "same-origin"}
    assert asked(address, headers=own).status == 200
    assert asked(address, headers={"Host": f"localhost:{place.port}"}).status == 200


@pytest.mark.parametrize(
    "name",
    [
        "../application.py",
        "..%2fapplication.py",
        "%2e%2e/%2e%2e/errors.py",
        "/etc/passwd",
        "explorer.html",
        "page.py",
        "x.js",
        ".",
    ],
)
def test_no_other_file_is_served(address: str, name: str) -> None:
    found = asked(address, f"assets/{name}")
    assert found.status in (404, 405)
    assert "import" not in found.text


@pytest.mark.parametrize(
    "body", [b"{", b"\xff\xfe", b"[" * 20_000, b"1e999", b"null", b'"undo"', b"{}", b'{"do": "fly"}', b""]
)
def test_a_body_that_is_not_a_command_is_one_clear_error(address: str, session: str, body: bytes) -> None:
    found = asked(address, session, body)
    assert found.status == 400
    assert found.json["error"]["code"] == "KMC670"
    assert asked(address, session).status == 200


def test_a_body_that_is_too_large_is_refused_with_and_without_its_length(
    address: str, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A client that sends for more than a second would be cut off before it reads the answer.
    monkeypatch.setattr("kmc.explorer.guard._PATIENCE_SECONDS", 600.0)
    large = b" " * (BODY_BYTES_MAX + 1)
    assert asked(address, session, large).status == 413
    chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(large), large)
    assert asked(address, session, chunk, headers={"Transfer-Encoding": "chunked"}).status == 413
    assert asked(address, session, b"{}", headers={"Content-Length": "-1"}).status in (400, 413)


def test_an_unknown_session_or_path_is_not_found(address: str) -> None:
    for path in ("api/sessions/unknown", "api/sessions/unknown/search", "api/sessions/a/b/c", "api", "nothing"):
        assert asked(address, path).status == 404
    assert asked(address, "api/sessions", method="DELETE").status == 405


@pytest.mark.parametrize("given", ["x", "-1", "1" * 9, "٣", ""])
def test_a_place_among_initial_states_that_is_not_a_number_is_refused(address: str, session: str, given: str) -> None:
    assert asked(address, f"{session}/initial?from={quote(given)}").status == 400


def test_a_walk_over_http(address: str, session: str, folder: Path) -> None:
    view = asked(address, session).json["view"]
    assert [move["label"] for move in view["moves"]][:2] == ["FillSmallJug", "FillBigJug"]
    view = asked(address, session, {"do": "take", "at": 0, "move": 1}).json["view"]
    assert view["at"] == 1
    assert asked(address, session, {"do": "take", "at": 0, "move": 1}).status == 400
    asked(address, session, {"do": "until", "what": "property", "name": "NotSolved"})
    search: dict[str, Any] = {"over": False}
    while not search["over"]:
        search = asked(address, f"{session}/search").json["search"]
    assert (search["end"], search["steps"]) == ("found", 5)
    saved = asked(address, f"{session}/save", {}).json
    assert Path(saved["file"]).parent == folder
    assert saved["commands"][0] == ["kmc", "trace", saved["file"]]
    assert json.loads(Path(saved["file"]).read_text()) == asked(address, f"{session}/trace.itf.json").json
    assert asked(address, f"{session}/disabled").json == {"disabled": []}


def test_sessions_do_not_disturb_each_other(address: str) -> None:
    names = [asked(address, "api/sessions", {}).json["session"] for _ in range(2)]
    asked(address, f"api/sessions/{names[0]}", {"do": "take", "at": 0, "move": 1})
    assert [asked(address, f"api/sessions/{name}").json["view"]["at"] for name in names] == [1, 0]


def test_requests_of_one_session_take_effect_one_after_another(address: str, session: str) -> None:
    answers: list[int] = []
    threads = [
        threading.Thread(
            target=lambda: answers.append(asked(address, session, {"do": "take", "at": 0, "move": 1}).status)
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, *[400] * 7]
    assert len(asked(address, session).json["view"]["tree"]) == 2


def test_no_two_requests_of_one_session_are_answered_at_once(
    address: str, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, met = threading.Barrier(2), []

    def view(session: object) -> dict[str, Any]:
        try:
            both.wait(0.2)
            met.append("two at once")
        except threading.BrokenBarrierError:
            both.reset()
        return {}

    monkeypatch.setattr("kmc.explorer.application.view_of", view)
    threads = [threading.Thread(target=asked, args=(address, session)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert met == []


def test_the_session_used_least_recently_ends_when_there_are_too_many(tmp_path: Path) -> None:
    with serving(ground_of(model_of(tmp_path, COUNTER)), tmp_path) as address:
        names = [asked(address, "api/sessions", {}).json["session"] for _ in range(SESSIONS_MAX)]
        asked(address, f"api/sessions/{names[0]}")
        asked(address, "api/sessions", {})
        assert asked(address, f"api/sessions/{names[0]}").status == 200
        assert asked(address, f"api/sessions/{names[1]}").status == 404


def test_a_search_is_cancelled(tmp_path: Path) -> None:
    source = COUNTER.replace("Int(0, 100)", "Int(0, 10_000_000)").replace("if st.n < Limit:", "if st.n < 9_000_000:")
    with serving(ground_of(model_of(tmp_path, source)), tmp_path) as address:
        session = f"api/sessions/{asked(address, 'api/sessions', {}).json['session']}"
        never = {"do": "until", "what": "expression", "name": "st.n < 0", "states": 1_000_000}
        asked(address, session, never)
        assert asked(address, session, never).status == 400
        assert asked(address, session, {"do": "take", "at": 0, "move": 0}).status == 200
        asked(address, f"{session}/cancel", {})
        search: dict[str, Any] = {"over": False}
        while not search["over"]:
            search = asked(address, f"{session}/search").json["search"]
        assert search["end"] == "cancelled"
        assert asked(address, session).json["view"]["at"] == 1


def test_a_mistake_of_kmc_is_told_and_the_server_goes_on(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session = f"api/sessions/{asked(address, 'api/sessions', {}).json['session']}"
    with monkeypatch.context() as patch:
        patch.setattr("kmc.explorer.application.view_of", lambda session: 1 / 0)
        found = asked(address, session)
    assert found.status == 500
    assert "ZeroDivisionError" in found.json["error"]["message"]
    assert asked(address, session).status == 200


def test_errors_of_the_initial_states_are_answered(tmp_path: Path) -> None:
    source = COUNTER.replace("yield State(n=0)", "yield State(n=Limit - 4)")
    with serving(ground_of(model_of(tmp_path, source)), tmp_path) as address:
        for _ in range(2):
            found = asked(address, "api/sessions", {})
            assert found.status == 422
            assert "/spec.py:" in found.json["error"]["place"]
        assert asked(address).status == 200


def test_a_port_that_is_taken_is_one_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(CommandLineError, match="KMC674"):
            ExplorerServer(ground_of(model_of(tmp_path, COUNTER)), SavingPlace(tmp_path, ()), taken.getsockname()[1])


def test_a_trace_is_saved_under_a_name_that_says_when(address: str, session: str) -> None:
    before = datetime.now()
    name = Path(asked(address, f"{session}/save", {}).json["file"]).name
    days = {f"die_hard-solution-{moment:%Y%m%d}" for moment in (before, datetime.now())}
    assert name[: len("die_hard-solution-20260101")] in days
