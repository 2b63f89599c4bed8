"""`kmc claims`, and `kmc check --all --claim`: the claims of documents listed, told and checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

_SPEC = '''"""Counts."""
from kmc.lang import Int, Record
from kmc.spec import spec


class State(Record):
    """A count."""

    n: Int(0, 3)


@spec.init
def init():
    """None."""
    yield State(n=0)


@spec.action
def up(st):
    """One more."""
    if st.n < 3:
        yield st.set(n=st.n + 1)


@spec.invariant
def Below3(st):
    """Not yet 3."""
    return st.n < 3


@spec.invariant
def AtMost3(st):
    """At most 3."""
    return st.n <= 3
'''
_MODELS = """[models.holds]
description = "It counts to 3"
invariants = ["AtMost3"]
claims = [1]
deadlock = false
[models.holds.expect]
origin = "counted"
result = "ok"
distinct = 4
[models.other]
description = "Another model"
invariants = ["AtMost3"]
deadlock = false
[mutants.falls]
title = "It does not stop before 3"
description = "The count reaches 3"
invariants = ["Below3"]
claims = [1]
deadlock = false
[mutants.falls.expect]
origin = "counted"
result = "violation"
trace_length = 4
invariant = "Below3"
"""


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one spec whose models are evidence for a claim."""
    folder = tmp_path / "mine"
    (folder / "count").mkdir(parents=True)
    (folder / "count" / "spec.py").write_text(_SPEC)
    (folder / "count" / "models.toml").write_text(_MODELS)
    (folder / "claims.toml").write_text(
        '[claims.1]\ntitle = "It ends at 3"\ndocument = "Page 1"\nwithout = "It runs on"\n'
    )
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.slow
def test_the_shipped_claims_are_listed_with_their_models() -> None:
    done = kmc("claims")
    assert done.exit_code == 0
    assert "falls  kip_642: changes_without_own_record" in done.stdout
    assert "of 20 claims are shown from both sides." in done.stdout


def test_a_claim_is_told_with_its_models_results_and_commands(specs: Path) -> None:
    text = kmc("claims", "1", "--in", "mine").stdout
    assert "holds: model mine/count holds: holds in 4 states, the whole graph" in text
    assert "falls: mutant mine/count falls: Below3 falls, trace of 4 states" in text
    assert "kmc check mine/count falls" in text


@pytest.mark.parametrize(
    ("limits", "extent"),
    [
        ('constraints = ["Few"]', ", all within Few"),
        ('constraints = ["Few"]\naction_constraints = ["Slow"]', ", all within Few and Slow"),
        ("levels = 3", " up to level 3"),
        ('levels = 3\nconstraints = ["Few"]', " up to level 3 within Few"),
    ],
)
def test_a_claim_names_the_bounds_of_its_models(specs: Path, limits: str, extent: str) -> None:
    result = (
        'result = "bound reached"\ndepth = 3\ndistinct = 4' if "levels" in limits else 'result = "ok"\ndistinct = 4'
    )
    bounded = _MODELS.replace("claims = [1]", f"claims = [1]\n{limits}", 1).replace(
        'result = "ok"\ndistinct = 4', result, 1
    )
    (specs / "count" / "models.toml").write_text(bounded)
    text = kmc("claims", "1", "--in", "mine").stdout
    assert f"holds: model mine/count holds: holds in 4 states{extent}\n" in text


def test_json_has_both_sides(specs: Path) -> None:
    (claim,) = json.loads(kmc("claims", "--in", "mine", "--json").stdout)["claims"]
    assert [one["model"] for one in claim["holds"]] == ["holds"]
    assert [one["model"] for one in claim["falls"]] == ["falls"]
    assert claim["open"] is None


@pytest.mark.slow
def test_all_models_of_a_claim_are_checked_and_no_others(specs: Path) -> None:
    done = kmc("check", "mine", "--all", "--claim", "1", "--engine", "python", "--no-run-dir", "--json")
    assert done.exit_code == 0
    assert [model["model"] for model in json.loads(done.stdout)["models"]] == ["holds", "falls"]


def test_a_claim_that_no_model_names_is_an_error(specs: Path) -> None:
    done = kmc("check", "mine", "--all", "--claim", "2")
    assert (done.exit_code, "error[KMC652]: no model here names claim 2" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("claims", "21"), "error[KMC650]: there is no claim 21"),
        (("claims", "--in", "mine/count"), "error[KMC651]: mine/count has no claims.toml with claims"),
        (("check", "mine", "--claim", "1"), "error[KMC625]: --claim chooses among all models"),
    ],
)
def test_a_wrong_question_is_one_clear_error(specs: Path, words: tuple[str, ...], error: str) -> None:
    done = kmc(*words)
    assert (done.exit_code, error in done.stderr) == (2, True)
