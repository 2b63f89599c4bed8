"""`kmc explore`: what it opens, what it refuses, and how it ends."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.commands.cli_runner import COUNTER, kmc
from support.specs.small import copied
from support.views.exploring import HANGS_SECONDS, asked

from kmc.cli.commands.explore import ExploreOptions, _ground


def options(spec: str | None, model: str | None = None, trace: str | None = None, *sets: str) -> ExploreOptions:
    return ExploreOptions(spec, model, sets, trace, 0, False, "traces", "runs")


@contextmanager
def exploring(folder: Path, *words: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process of `kmc explore` with the address that it printed."""
    command = [sys.executable, "-m", "kmc", "explore", *words, "--no-browser"]
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://127.0.0.1:" in line, process.communicate(timeout=HANGS_SECONDS)
        yield process, line.split(" at ")[1].strip()
    finally:
        process.kill()
        process.communicate(timeout=HANGS_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end_and_ends_with_status_0(number: signal.Signals, tmp_path: Path) -> None:
    with exploring(tmp_path, "die_hard") as (process, address):
        session = asked(address, "api/sessions", {}).json["session"]
        assert asked(address, f"api/sessions/{session}").json["view"]["at"] == 0
        process.send_signal(number)
        _, stderr = process.communicate(timeout=HANGS_SECONDS)
        assert (process.returncode, stderr) == (0, "")


@pytest.mark.slow
def test_without_a_model_the_first_one_of_the_spec_is_explored() -> None:
    assert _ground(options("kip_642"))[0].model.name == _first_model("kip_642")
    ground, words = _ground(options("die_hard", None, None, "SmallJug=4"))
    assert (ground.model.name, words) == ("smoke", ("die_hard", "smoke", "--set", "SmallJug=4"))


def _first_model(spec: str) -> str:
    from kmc.frontend.shipped import find_spec_root, manifest_of

    manifest = manifest_of(find_spec_root(spec))
    assert manifest is not None
    return next(iter(manifest.entries))


def test_a_spec_by_its_path_is_explored(tmp_path: Path) -> None:
    path = str(copied("die_hard", tmp_path))
    ground, words = _ground(options(path, "solution"))
    assert (ground.model.name, words) == ("solution", (path, "solution"))
    ground, words = _ground(options(COUNTER))
    assert ground.model.spec.name == "counter"


def test_a_trace_names_spec_model_and_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert kmc("check", "die_hard", "solution", "--run-dir", "runs").exit_code == 12
    for where, at in (("last", 6), ("last#3", 2)):
        ground, words = _ground(options(None, trace=where))
        assert (ground.model.name, words, ground.opening.at) == ("solution", ("die_hard", "solution"), at)
    (folder,) = Path("runs").iterdir()
    assert _ground(options("die_hard", trace=str(folder)))[0].opening.at == 6
    other = _ground(options("die_hard", "smoke", str(folder)))[0]
    assert other.model.name == "smoke"


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        ((), "KMC675", 2),
        (("nothing",), "KMC605", 2),
        (("die_hard", "nothing"), "KMC349", 151),
        (("die_hard", "--port", "70000"), "KMC603", 2),
        (("--from", "nothing.json"), "KMC420", 151),
        (("die_hard", "--set", "SmallJug"), "KMC610", 2),
    ],
)
def test_what_cannot_be_explored_is_one_error(words: tuple[str, ...], code: str, status: int) -> None:
    found = kmc("explore", *words)
    assert (found.exit_code, code in found.stderr) == (status, True)


@pytest.mark.parametrize(("words", "opens"), [((), True), (("--no-browser",), False)])
def test_the_browser_is_opened_unless_it_is_not_wanted(
    words: tuple[str, ...], opens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", lambda server, sockets: None)
    found = kmc("explore", "die_hard", *words)
    assert found.exit_code == 0
    address = found.stdout.splitlines()[0].split(" at ")[1]
    assert opened == ([address] if opens else [])


def test_a_missing_package_is_named_with_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = kmc("explore", "die_hard")
    assert found.exit_code == 153
    assert "KMC590" in found.stderr
    assert f"install it: {sys.executable} -m pip install 'kraft-model-checker[explore]'" in found.stderr


def test_expressions_that_are_shown_from_the_first_are_checked_before_the_page_opens() -> None:
    shown = replace(options("die_hard"), watched=("st.big + st.small",))
    assert _ground(shown)[0].watched == ("st.big + st.small",)
    refused = kmc("explore", "die_hard", "--no-browser", "--show", "bigg")
    assert "error[KMC641]" in refused.stderr
    assert refused.exit_code == 2
