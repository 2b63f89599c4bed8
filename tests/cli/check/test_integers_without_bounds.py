"""Integers without bounds in commands: one line says that a search starts again; the next one begins wide enough."""

from __future__ import annotations

import json
from pathlib import Path
from secrets import token_hex

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import IMPORTS

import kmc as api
from kmc.engine.assumed_integers import RememberedRange
from kmc.engine.kernel_steps import compiled_steps
from kmc.reference.conformance.edges import interpreted_steps
from kmc.reference.states.initial import initial_states

COUNTER = """
Last = constant("Last", Int(0, 100000), "Where the counter stops", 30000)


class State(Record):
    n: int
    before: int | None


@spec.init
def init():
    yield State(n=0, before=None)


@spec.action
def add(st):
    if st.n < Last:
        yield st.set(n=st.n + (1 if st.n < 210 else 3000), before=st.n)


@spec.invariant
def Small(st):
    return st.n < 15000
"""

LINE = ": an int is above 0..4095, which was assumed; the search starts again with 0..65535."

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spec of a counter in the working directory of commands; it is new, so no range is remembered."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "counter.py"
    path.write_text(f"{IMPORTS}{COUNTER}\n\n@spec.reachable\ndef met_{token_hex(8)}(st):\n    return True\n", "utf-8")
    (tmp_path / "whole.cfg").write_text("CHECK_DEADLOCK FALSE\n", encoding="utf-8")
    (tmp_path / "small.cfg").write_text("INVARIANT Small CHECK_DEADLOCK FALSE\n", encoding="utf-8")
    return path


def test_a_check_says_in_one_line_that_it_starts_again_and_remembers_the_range() -> None:
    first = kmc("check", "counter.py", "whole.cfg")
    assert first.exit_code == 0, first.stderr
    assert "221 distinct states found" in first.stdout
    assert [line for line in first.stderr.splitlines() if LINE in line] == [f"counter.py:24{LINE}"]
    again = kmc("check", "counter.py", "whole.cfg", "--shards", "2")
    assert again.exit_code == 0, again.stderr
    assert "starts again" not in again.stderr


def test_a_counterexample_in_a_wider_range_is_one_of_the_spec() -> None:
    ran = kmc("check", "counter.py", "small.cfg")
    assert ran.exit_code == 12, ran.stderr
    assert LINE in ran.stderr
    shown = kmc("eval", "last#216", "[st.n, st.before]")
    assert "[15210, 12210]" in shown.stdout, shown.stderr


def test_a_plan_finds_the_range_before_the_check() -> None:
    planned = kmc("plan", "counter.py", "whole.cfg", "--quiet", "--no-unread")
    assert "Integers without bounds: 0..65535 holds those of the sample" in planned.stdout, planned.stderr
    assert json.loads(kmc("plan", "counter.py", "whole.cfg", "--quiet", "--json").stdout)["integers"] == "0..65535"
    assert "starts again" not in kmc("check", "counter.py", "whole.cfg").stderr


def test_a_run_that_was_stopped_is_resumed_in_its_range(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = kmc("check", "counter.py", "whole.cfg", "--max-depth", "216")
    assert LINE in stopped.stderr
    run = next((tmp_path / ".kmc" / "runs").iterdir())
    monkeypatch.setattr(RememberedRange, "read", lambda self: None)
    resumed = kmc("check", "--resume", str(run), "--max-depth", "5000")
    assert resumed.exit_code == 0, resumed.stderr
    assert "starts again" not in resumed.stderr
    assert "221 distinct states found" in resumed.stdout


def test_a_run_of_another_spec_is_refused_though_its_integers_have_no_room(spec: Path, tmp_path: Path) -> None:
    kmc("check", "counter.py", "whole.cfg", "--max-depth", "20")
    run = next((tmp_path / ".kmc" / "runs").iterdir())
    levels = sorted(path.name for path in (run / "checkpoint").iterdir())
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace("State(n=0,", "State(n=9000000,"), encoding="utf-8")
    refused = kmc("check", "--resume", str(run), "--max-depth", "5000")
    assert "error[KMC554]" in refused.stderr
    assert sorted(path.name for path in (run / "checkpoint").iterdir()) == levels
    spec.write_text(text, encoding="utf-8")
    assert "221 distinct states found" in kmc("check", "--resume", str(run), "--max-depth", "5000").stdout


def test_tables_of_states_have_integers_without_bounds(tmp_path: Path) -> None:
    kept = kmc("check", "counter.py", "whole.cfg", "--shards", "2", "--keep-states")
    assert kept.exit_code == 0, kept.stderr
    written = kmc("states", "last", "--out", str(tmp_path / "tables"), "--quiet")
    assert written.exit_code == 0, written.stderr
    assert "221 states" in written.stdout


def test_both_faces_and_all_walks_have_no_ranges() -> None:
    found = api.check("counter.py", "small.cfg")
    assert found.verdict == "violation"
    assert found.trace is not None
    assert len(found.trace) == 216
    walked = kmc("simulate", "counter.py", "small.cfg", "--seed", "1", "--depth", "300", "--number", "1")
    assert "Small" in walked.stdout, walked.stderr


def test_compiled_steps_that_are_compared_with_tla_have_room_for_every_state(spec: Path) -> None:
    model = api.load(spec, "whole.cfg").chosen.model
    first = initial_states(model)[0]
    compiled, interpreted = compiled_steps(model.spec), interpreted_steps(model.spec)
    for n in (0, 15, 16, 210, 3210, -70_000, 1 << 50):
        state = first.set(n=n, before=n - 1)
        assert list(compiled(state)) == list(interpreted(state))
