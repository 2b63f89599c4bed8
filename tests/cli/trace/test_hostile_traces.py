"""Damaged trace files: every command that takes a trace ends with one error that has a code, and never a traceback."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.commands.cli_runner import kmc

TRACE = (Path(__file__).parents[2] / "data" / "views" / "broken.itf.json").read_bytes()
SPEC = "two_phase_commit"
EXAMPLES = settings(
    max_examples=settings().max_examples // 8, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
ENDS = (0, 10, 12, 13, 20)
"""Statuses of a trace that is fine after all, or that no longer shows what it was saved for."""


def ends(path: Path) -> list[Result]:
    """How each command ends that is given this trace."""
    start = ["--no-run-dir", "--engine", "python", "--max-states", "5"]
    return [
        kmc("trace", str(path)),
        kmc("trace", str(path), "--format", "markdown", "--spec", SPEC),
        kmc("trace", str(path), "--format", "shiviz"),
        kmc("replay", str(path), "--spec", SPEC),
        kmc("check", SPEC, "--from", f"{path}#2", *start),
    ]


def is_one_error(found: Result, *, may_succeed: bool) -> bool:
    """Whether a command said nothing, or one error with a code; never a traceback, never a mistake of kmc's own."""
    if may_succeed and found.exit_code in ENDS:
        return found.stderr.count("error[") == 0
    return (
        found.exit_code in (2, 75, 76, 150, 151)
        and found.stderr.count("error[KMC") == 1
        and "Traceback" not in found.output
        and "KMC9" not in found.output
    )


def changed(old: bytes, new: bytes) -> bytes:
    """The trace with this text instead of the first of that."""
    assert old in TRACE
    return TRACE.replace(old, new, 1)


DAMAGES = {
    "empty": b"",
    "truncated": TRACE[:700],
    "bad UTF-8": changed(b"Working", b"Work\xffing"),
    "null bytes": b"\x00" * 50,
    "NaN": changed(b'"Init"', b"NaN"),
    "half a character": changed(b'"Init"', b'"\\ud800"'),
    "control characters": changed(b'"Init"', b'"\\u001b[31m"'),
    "control characters about the check": changed(b'"source": "two', b'"source": "\\u001b[31mtwo'),
    "deep nesting": changed(b'"Init"', b"[" * 3000 + b"]" * 3000),
    "deeper nesting than values have": changed(b'"Init"', b"[" * 99 + b"]" * 99),
    "a huge number": changed(b'"Init"', b"9" * 5000),
    "a key twice": changed(b'"tm": "Init"', b'"tm": "Init", "tm": "Init"'),
    "no states": b'{"vars": ["tm"], "states": []}',
    "a loop to nowhere": changed(b'"vars"', b'"loop": 99, "vars"'),
    "another document": b'{"name": "two_phase_commit"}',
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_trace_is_one_error_in_every_command(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kmc.explorer.server.ExplorerServer.run", lambda *_: None)
    path = tmp_path / "trace.json"
    path.write_bytes(DAMAGES[damage])
    for found in (*ends(path), kmc("explore", SPEC, "--from", str(path), "--no-browser")):
        assert is_one_error(found, may_succeed=False), found.output
        assert not any(character < " " and character != "\n" for character in found.output)


@pytest.mark.parametrize("where", ["x" * 5000, "x" * 5000 + "#2", "nothing.json", "nothing.json#3"])
def test_a_path_that_names_nothing_is_one_error_in_every_command(where: str) -> None:
    for found in ends(Path(where)):
        assert is_one_error(found, may_succeed=False), found.output


def test_the_whole_trace_is_not_an_error(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(TRACE)
    assert [found.exit_code for found in ends(path)] == [0, 0, 0, 0, 20]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x" * 3000, "nothing", "../two_phase_commit", ""])
def test_a_trace_of_a_spec_that_is_not_there_is_one_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(changed(b'"spec": "two_phase_commit"', f'"spec": "{name}"'.encode()))
    assert is_one_error(kmc("replay", str(path)), may_succeed=False)
    # A view can do without the spec.
    assert is_one_error(kmc("trace", str(path), "--format", "mermaid"), may_succeed=True)


@pytest.mark.slow
@EXAMPLES
@given(data=st.data())
def test_whatever_bytes_change_there_is_one_error_at_most(data: st.DataObject, tmp_path: Path) -> None:
    document = bytearray(TRACE)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(document) - 1))
        length = data.draw(st.integers(0, 4))
        document[at : at + length] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"NaN", b'"', b"[", b"{", b"-"])
        )
    path = tmp_path / "trace.json"
    path.write_bytes(document)
    assert all(is_one_error(found, may_succeed=True) for found in ends(path))


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(
            None,
            True,
            0,
            -1,
            10**40,
            1.5,
            "",
            "n1",
            "Nil",
            "x" * 3000,
            [],
            [1],
            {},
            {"n1": 1},
            {"tag": "Some", "value": 1},
        ),
        *({"#map": [[1, 1]]}, {"#set": ["n1"]}, {"#bigint": "7"}, {"#tup": []}, "violation", "liveness", "deadlock"),
    ]
)


@pytest.mark.slow
@EXAMPLES
@given(data=st.data())
def test_whatever_value_changes_there_is_one_error_at_most(data: st.DataObject, tmp_path: Path) -> None:
    tree = json.loads(TRACE)
    place: Any = tree
    key: Any = data.draw(st.sampled_from(sorted(tree)))
    while isinstance(place[key], dict | list) and place[key] and data.draw(st.integers(0, 4)):
        place = place[key]
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    if data.draw(st.booleans()):
        place[key] = copy.deepcopy(data.draw(JUNK))
    else:
        del place[key]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(tree), encoding="utf-8")
    assert all(is_one_error(found, may_succeed=True) for found in ends(path))
