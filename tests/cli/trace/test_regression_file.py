"""`kmc replay --pytest`: the written file is a test that pytest runs, and it asks what the person chose."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import COUNTER, IMPORTS, TURNED_LIGHT, TURNED_LIGHT_CFG

TRACES = Path(__file__).parents[2] / "data" / "views"
FIXED = COUNTER.replace("st.n < 2", "st.n < 3")
ROOT = Path(__file__).parents[3]


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The path of a trace of the spec `counter`, from a folder in which both lie."""
    monkeypatch.chdir(tmp_path)
    Path("counter").mkdir()
    write(COUNTER)
    Path("counter/below.cfg").write_text("CONSTANT Limit = 3\nINVARIANT BelowTwo\n", encoding="utf-8")
    assert kmc("check", "counter", "below", "--engine", "python", "--run-dir", "runs").exit_code == 12
    return next(str(path) for path in Path("runs").glob("*/trace.itf.json"))


def write(source: str) -> None:
    """Give the spec this source."""
    Path("counter/spec.py").write_text(IMPORTS + source, encoding="utf-8")


def outcome(path: str) -> str:
    """What the test in a file says, run in this process; empty if it passes."""
    found = spec_from_file_location("written_test", path)
    assert found is not None
    assert found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    (test,) = (value for name, value in vars(module).items() if name.startswith("test_"))
    try:
        test()
    except AssertionError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(("name", "is_collected"), [("test_it.py", True), ("it_test.py", True), ("it.txt", False)])
def test_a_file_that_pytest_does_not_collect_is_told(trace: str, name: str, is_collected: bool) -> None:
    shown = kmc("replay", trace, "--pytest", name).stdout
    assert f"Regression test: {name}" in shown
    assert ("pytest collects only" in shown) is not is_collected


@pytest.mark.slow
def test_pytest_runs_the_written_files(trace: str) -> None:
    Path("tests").mkdir()
    kmc("replay", trace, "--spec", "counter", "--pytest", "tests/test_fixed.py")
    kmc("replay", trace, "--spec", "counter", "--pytest", "tests/test_fails.py", "--expect", "violation")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(words, env=environment, capture_output=True, text=True).stdout
    assert "1 failed, 1 passed" in found
    assert "FAILED tests/test_fixed.py::test_below_two_is_fixed" in found
    assert "BelowTwo fails again, by these steps:" in found


def test_a_test_of_what_is_fixed_fails_until_it_is(trace: str) -> None:
    Path("tests").mkdir()
    found = kmc("replay", trace, "--spec", "counter", "--pytest", "tests/test_below.py")
    assert (found.exit_code, found.stdout.splitlines()[-1]) == (0, "Regression test: tests/test_below.py")
    assert 'Path(__file__).parent / "../counter"' in Path("tests/test_below.py").read_text(encoding="utf-8")
    assert outcome("tests/test_below.py").startswith("BelowTwo fails again")
    write(FIXED)
    assert outcome("tests/test_below.py") == ""


def test_a_test_of_what_still_fails_passes_until_it_is_fixed(trace: str) -> None:
    kmc("replay", trace, "--spec", "counter", "--pytest", "test_below.py", "--expect", "violation")
    assert outcome("test_below.py") == ""
    write(FIXED)
    assert outcome("test_below.py").startswith("Not as expected: BelowTwo holds")


def test_a_trace_that_a_fix_has_stopped_can_be_kept(trace: str) -> None:
    write(COUNTER.replace("if st.n < Limit:", "if st.n < 1:"))
    assert kmc("replay", trace, "--spec", "counter", "--pytest", "test_below.py").exit_code == 10
    assert Path("test_below.py").read_text(encoding="utf-8").count('("Increase",)') == 2


def test_a_shipped_spec_and_the_cycle_of_a_lasso_are_written(tmp_path: Path) -> None:
    path = tmp_path / "test_lasso.py"
    assert kmc("replay", str(TRACES / "no_check_quorum.itf.json"), "--pytest", str(path)).exit_code == 0
    text = path.read_text(encoding="utf-8")
    assert 'SPEC = "kip_996"' in text
    assert '    ("SendFetchRequest", "2", "1"),  # 3 SendFetchRequest(s2, s1)' in text
    assert '        back_to=4,\n        closing=("VoterFetchTimeout", "2"),\n        expect="fixed",' in text


def test_a_file_that_exists_is_kept(trace: str) -> None:
    Path("test_below.py").write_text("mine", encoding="utf-8")
    found = kmc("replay", trace, "--spec", "counter", "--pytest", "test_below.py")
    assert (found.exit_code, Path("test_below.py").read_text(encoding="utf-8")) == (2, "mine")
    assert "error[KMC664]: test_below.py exists" in found.stderr


def test_a_folder_that_does_not_exist_is_a_fault(trace: str) -> None:
    found = kmc("replay", trace, "--spec", "counter", "--pytest", "none/test_below.py")
    assert found.exit_code == 153
    assert "error[KMC503]" in found.stderr


def test_a_trace_that_does_not_say_what_fails_needs_a_property(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('{"vars": ["big", "small"], "states": [{"big": 0, "small": 0}, {"big": 5, "small": 0}]}')
    words = ["replay", str(path), "--spec", "die_hard", "--pytest", str(tmp_path / "test_jugs.py")]
    assert "error[KMC662]" in kmc(*words).stderr
    found = kmc(*words, "--property", "OneJugFullOrEmpty")
    assert found.exit_code == 10
    assert "OneJugFullOrEmpty holds in state 2 now." in found.stdout
    assert '("FillBigJug",),  # 2 FillBigJug' in (tmp_path / "test_jugs.py").read_text(encoding="utf-8")
    path.write_text('{"vars": ["big", "small"], "states": [{"big": 0, "small": 0}, {"big": 4, "small": 0}]}')
    (tmp_path / "test_jugs.py").unlink()
    assert "error[KMC663]" in kmc(*words, "--property", "OneJugFullOrEmpty").stderr


def test_a_lasso_of_images_is_followed_by_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, source in (("light", TURNED_LIGHT), ("lamp", TURNED_LIGHT.replace("not st.light", "True"))):
        Path(folder).mkdir()
        Path(folder, "spec.py").write_text(IMPORTS + source, encoding="utf-8")
        Path(folder, "turns.cfg").write_text(TURNED_LIGHT_CFG, encoding="utf-8")
    assert kmc("check", "light", "turns", "--engine", "python", "--run-dir", "runs").exit_code == 13
    (trace,) = map(str, Path("runs").glob("*/trace.itf.json"))
    assert "The spec has changed since" not in kmc("trace", trace).stdout
    replayed = kmc("replay", trace, "--pytest", "test_it.py")
    assert (replayed.exit_code, "StaysAsItIs still fails in this behavior." in replayed.stdout) == (0, True)
    assert outcome("test_it.py").startswith("StaysAsItIs fails again, by these steps:")
    assert kmc("replay", trace, "--spec", "lamp").exit_code == 10
    test = Path("test_it.py")
    test.write_text(test.read_text(encoding="utf-8").replace("light", "lamp"), encoding="utf-8")
    assert outcome("test_it.py") == ""
