"""A signal before there is a result: the JSON object and the JUnit report come all the same, and no process stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, check_json, steady
from support.commands.forked_kmc import ForkingProcess

# What a terminal does at Ctrl-C, and `timeout` or a CI at the end of the time: the whole group of processes hears it.
PROGRAM = """
import importlib, os, signal, sys
place, number = sys.argv[1], int(sys.argv[2])
if number == signal.SIGHUP:  # nohup ignores it for the tests that it runs
    signal.signal(number, signal.SIG_DFL)
module, name = place.rsplit(".", 1)
found = importlib.import_module(module)
function = getattr(found, name)
def signalled(*given, **named):
    os.killpg(os.getpgrp(), number)
    return function(*given, **named)
setattr(found, name, signalled)
sys.argv[1:] = sys.argv[3:]
from kmc.cli.main import main
main()
"""

BEFORE_THE_SEARCH = (
    ("kmc.cli.commands.check.choose_model", signal.SIGINT),
    ("kmc.cli.commands.check.choose_model", signal.SIGTERM),
    ("kmc.cli.commands.check.create_directory", signal.SIGTERM),
    ("kmc.cli.commands.check.create_directory", signal.SIGHUP),
    ("kmc.engine.compiled_model.compile_spec", signal.SIGINT),
    ("kmc.engine.compiled_model.compile_spec", signal.SIGTERM),
    ("kmc.engine.check_model.initial_records", signal.SIGINT),
    ("kmc.engine.check_model.SearchInMemory", signal.SIGTERM),
)
AFTER_THE_SEARCH = ("kmc.engine.check_model.ViolationReport", "kmc.checking.check.counterexample")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a check ended that got a signal."""

    status: int
    stdout: str
    stderr: str
    is_alone: bool


def signalled(forking: ForkingProcess, place: str, number: int, *words: str, cwd: Path) -> Ended:
    """A check of the counter that gets a signal when it comes to a function."""
    process = forking.start(place, str(number), "check", COUNTER, *words, cwd=cwd, program=PROGRAM)
    stdout, stderr = process.communicate()
    status = process.wait()
    try:
        os.killpg(process.pid, 0)
        is_alone = False
    except ProcessLookupError:
        is_alone = True
    return Ended(status, stdout, stderr, is_alone)


@pytest.mark.slow
@pytest.mark.parametrize(("place", "number"), BEFORE_THE_SEARCH)
def test_a_signal_before_the_search_still_gives_the_object_and_the_report(
    place: str, number: int, tmp_path: Path, forking: ForkingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    if place.endswith("compile_spec"):
        # Nothing is compiled yet, so that another process compiles too.
        monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    ended = signalled(forking, place, number, "smoke", "--json", "--junit", "report.xml", cwd=tmp_path)
    found: dict[str, Any] = json.loads(ended.stdout)
    assert (ended.status, found["exit_status"], found["result"], found["error"]) == (130, 130, "interrupted", None)
    assert (found["spec"], found["model"], found["engine"]) == (COUNTER, "smoke", "native")
    assert (found["distinct"], found["resume"]) == (None, None)
    # A slow machine says what it compiles.
    assert steady(ended.stderr).strip() == "Interrupted before there was a result."
    assert ended.is_alone
    (case,) = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert [(kind.tag, kind.get("message")) for kind in case] == [("error", "interrupted")]
    monkeypatch.delenv("KMC_CACHE_DIR", raising=False)
    assert set(found) == set(check_json(COUNTER, "smoke"))


@pytest.mark.parametrize("place", AFTER_THE_SEARCH)
@pytest.mark.slow
def test_a_signal_after_the_search_says_how_to_get_the_result(
    place: str, tmp_path: Path, forking: ForkingProcess
) -> None:
    ended = signalled(forking, place, signal.SIGTERM, "two", "--json", "--save-every", "0", cwd=tmp_path)
    found = json.loads(ended.stdout)
    assert (ended.status, found["result"]) == (130, "interrupted")
    (folder,) = (tmp_path / ".kmc" / "runs").iterdir()
    command = f"kmc check --resume .kmc/runs/{folder.name}"
    assert found["resume"] == command
    assert f"Resume: {command}\n" in ended.stderr
    again = forking.run(*command.split()[1:], "--json", cwd=tmp_path)
    assert (again.returncode, json.loads(again.stdout)["result"]) == (12, "violation")


@pytest.mark.slow
def test_a_signal_leaves_no_run_where_nothing_was_saved(tmp_path: Path, forking: ForkingProcess) -> None:
    ended = signalled(forking, "kmc.engine.check_model.initial_records", signal.SIGINT, "smoke", cwd=tmp_path)
    assert (ended.status, ended.stdout) == (130, "")
    assert list((tmp_path / ".kmc" / "runs").iterdir()) == []


@pytest.mark.slow
def test_sigterm_that_is_ignored_stays_ignored(tmp_path: Path, forking: ForkingProcess) -> None:
    script = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{PROGRAM}"
    place, number = "kmc.cli.commands.check.choose_model", str(int(signal.SIGTERM))
    process = forking.run(place, number, "check", COUNTER, "--quiet", cwd=tmp_path, program=script)
    assert (process.returncode, process.stderr) == (0, "")


@pytest.fixture(scope="module")
def loops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a cache that keeps what is compiled, for tests in which a loop must be compiled again."""
    return tmp_path_factory.mktemp("loops")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_to_the_other_compiling_process_alone_does_not_matter(
    number: int, loops: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    # The other process compiles nothing before the signal; what this one compiles then is the same for all signals.
    script = f"""
import sys
from pathlib import Path
from kmc.engine.loops import background_compile
from kmc.engine.loops.compiled_loops import NativeLoop
from kmc.runtime.object_cache import KernelCache
kept, compiled, alone = KernelCache(Path({str(loops)!r})), NativeLoop.compiled, []
def compiled_once(loop):
    alone.append(loop)
    if kept.read(loop.key) is None:
        kept.write(loop.key, compiled(loop))
    return kept.read(loop.key)
NativeLoop.compiled = compiled_once
started, signalled = background_compile._started, []
def signalling(loop):
    child = started(loop)
    child.send_signal({int(number)})
    signalled.append(child)
    return child
background_compile._started = signalling
background_compile.usable_cpus = lambda: 2
sys.argv[1:] = ["check", {COUNTER!r}, "--json"]
from kmc.cli.main import main
try:
    main()
finally:
    assert signalled and alone
"""
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, json.loads(ran.stdout)["result"], steady(ran.stderr)) == (0, "ok", "")
