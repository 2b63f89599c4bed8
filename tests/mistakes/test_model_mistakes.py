"""Mistakes in a manifest and behind --set: each names the place, and what to write there."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import IMPORTS

from kmc.errors import ModelError
from kmc.frontend.binding import bind
from kmc.model_files.manifest import parse_manifest

SPEC = """
Server = constant("Server", IdentSet(symmetric=True), "Who votes")
OnDisk = constant("OnDisk", Bool, "A vote is kept", True)

class Role(Enum):
    LEADER, FOLLOWER = range(2)

First = constant("First", Role, "What all begin as", Role.FOLLOWER)

class State(Record):
    n: Int(0, 3)

@spec.init
def init():
    yield State(n=0)

@spec.action
def act(st, s: Server):
    yield st
"""

MISTAKES = {
    "a set without brackets": (
        '[models.m]\ndescription = "d"\nconstants = { Server = "s1" }',
        ("KMC342", 3, 'write Server = ["a", "b", "c"]'),
    ),
    "a Bool that is a name": (
        '[models.m]\ndescription = "d"\nconstants = { Server = ["s1"], OnDisk = "yes" }',
        ("KMC341", 3, "write true or false"),
    ),
    "a misspelt member of an enumeration": (
        '[models.m]\ndescription = "d"\nconstants = { Server = ["s1"], First = "Folower" }',
        ("KMC341", 3, "did you mean 'Follower'?"),
    ),
    "a missing constant": (
        '# models\n[models.other]\ndescription = "d"\n\n[models.m]\ndescription = "d"',
        ("KMC344", 5, "give one in a model file, or with --set Server=..."),
    ),
}


@pytest.mark.parametrize(("text", "expected"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_manifest_has_its_place_and_advice(
    text: str, expected: tuple[str, int, str], tmp_path: Path
) -> None:
    (tmp_path / "spec.py").write_text(IMPORTS + SPEC, encoding="utf-8")
    path = tmp_path / "models.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        bind(tmp_path / "spec.py", parse_manifest(text, str(path)).models["m"])
    error = caught.value
    assert error.span is not None
    assert error.span.path == str(path)
    assert (error.code, error.span.line, error.help) == expected


def test_a_bool_behind_set_is_written_as_in_tla(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(IMPORTS + SPEC, encoding="utf-8")
    ran = kmc("check", str(tmp_path / "spec.py"), "--set", "Server={s1}", "--set", "OnDisk=true", "--no-run-dir")
    assert "= help: write TRUE or FALSE" in ran.stderr


def test_of_two_values_behind_set_the_last_counts(tmp_path: Path) -> None:
    (tmp_path / "spec.py").write_text(IMPORTS + SPEC, encoding="utf-8")
    given = ["--set", "Server={s1}", "--set", "Server={s1,s2,s3}", "--engine", "python", "--no-run-dir"]
    ran = kmc("check", str(tmp_path / "spec.py"), *given)
    assert "Server = { s1, s2, s3 }" in ran.stdout
