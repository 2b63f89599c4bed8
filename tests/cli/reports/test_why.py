"""Why a property fails is in the JSON object and in the JUnit report, with the steps in words."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import check_json, kmc

BROKEN = ("two_phase_commit", "broken", "--engine", "python")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_json_object_says_why_and_tells_the_steps() -> None:
    found = check_json(*BROKEN)
    assert found["why"] == {
        "sentence": "Consistent fails: rms of r2 is Committed; rms of r3 is Aborted.",
        "property": "Consistent",
        "doc": "No resource manager has aborted while another has committed.",
        "place": "two_phase_commit/properties.py:11",
        "instance": [],
        "compared": [
            {"expression": "states", "value": "{Working, Committed, Aborted}"},
            {"expression": "rms of r1", "value": "Working"},
            {"expression": "rms of r2", "value": "Committed"},
            {"expression": "rms of r3", "value": "Aborted"},
        ],
    }
    assert [(step["state"], step["label"], step["actor"], step["received"]) for step in found["trace"]] == [
        (1, "Initial state", None, None),
        (2, "TmCommit", "Manager", None),
        (3, "RmChooseToAbort(r3)", "r3", None),
        (4, "RmReceiveCommit Manager -> r2", "r2", "Commit Manager -> r2"),
    ]
    assert found["trace"][1]["sent"] == ["Commit Manager -> r1", "Commit Manager -> r2", "Commit Manager -> r3"]
    changed = {"path": ["rms", "r3"], "process": "r3", "old": "Working", "new": "Aborted"}
    assert found["trace"][2]["changes"] == [changed]
    assert all(step["matters"] for step in found["trace"])
    assert found["notes"] == ["Every step is needed for the violation."]


def test_without_a_violation_these_keys_are_null() -> None:
    found = check_json("die_hard", "smoke", "--engine", "python")
    assert found["result"] == "ok"
    assert [found[key] for key in ("why", "trace", "notes")] == [None, None, None]


def test_a_simulation_says_why_too() -> None:
    found = json.loads(kmc("simulate", "two_phase_commit", "broken", "--seed", "1", "--no-run-dir", "--json").stdout)
    assert found["why"]["property"] == "Consistent"
    assert sum(step["matters"] for step in found["trace"]) == 4


def test_the_junit_failure_begins_with_why(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    kmc("check", *BROKEN, "--no-run-dir", "--junit", str(report))
    (failure,) = ElementTree.parse(report).getroot().iterfind("testcase[@name='Consistent']/failure")
    lines = (failure.text or "").splitlines()
    assert lines[:6] == [
        "Consistent fails: rms of r2 is Committed; rms of r3 is Aborted.",
        "Step 4, RmReceiveCommit Manager -> r2, changes rms of r2 from Working to Committed.",
        "  Consistent: No resource manager has aborted while another has committed.",
        "              (two_phase_commit/properties.py:11)",
        "  where:      states = {Working, Committed, Aborted}; rms of r1 = Working; rms of r2 = Committed;",
        "              rms of r3 = Aborted",
    ]
    assert "Note: Every step is needed for the violation." in lines
    assert any(line.startswith("3  RmChooseToAbort(r3): ") for line in lines)


def test_a_trace_from_a_given_state_does_not_begin_with_an_initial_one_and_its_messages_are_not_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kmc("new", "specs/ours", "--template", "messages")
    words = ("check", "specs/ours", "two_leaders", "--engine", "python")
    kmc(*words)
    shown = kmc(*words, "--from", "last#4").stdout
    assert "\n1  Given state: holds Vote from s1 to s3, VoteRequest from s3 to s1, s2\n" in shown
    assert "\n1  Given state: holds Vote" in kmc("trace", "last").stdout
    assert "State 1 is the given state." in kmc("trace", "last", "--format", "markdown").stdout
