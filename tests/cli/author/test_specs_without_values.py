"""`kmc specs` describes a spec whose constants have no values, and shows a mistake in it as a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.commands.cli_runner import kmc

DEPENDENT = '''"""Bounds and assumptions that the least values break."""

from kmc.lang import IdentSet, Int, Record, Seq, constant, spawned
from kmc.spec import spec

Server = constant("Server", IdentSet(), "The servers")
N = constant("N", Int(0, 9), "A number")
M = constant("M", Int(0, 9), "A larger number")
K = constant("K", Int(2, 9), "What M leaves", 10 - M)
Id = spawned("Id", N)

spec.assume(len(Server) > 1)
spec.assume(N < M)


class State(Record):
    x: Int(1, N)
    ids: Seq[Id, N]


@spec.init
def init():
    yield State(x=N, ids=[])


@spec.action
def step(st, s: Server, n: Int(0, N)):
    if st.x < N:
        yield st.set(x=st.x + 1)
'''


FINDING = """
[findings.ends]
title = "It ends"
description = "Nothing happens any more"
constants = { Server = ["a", "b"], N = 5, M = 6 }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spec above, without a manifest, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dependent").mkdir()
    (tmp_path / "dependent" / "spec.py").write_text(DEPENDENT, encoding="utf-8")
    return tmp_path / "dependent"


def test_a_spec_is_listed_without_values(folder: Path) -> None:
    ran = kmc("specs", "./dependent")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "Step(s in Server, n in 0..9)" in ran.stdout
    values = "Server = { Server_1, Server_2, Server_3 }, N = 9, M = 9"
    assert f"  Listed with {values}, since no model gives a value (--set Server=...)." in ran.stdout.splitlines()


def test_given_values_take_the_place_of_placeholders(folder: Path) -> None:
    ran = kmc("specs", "./dependent", "--set", "Server={a,b}", "--set", "N=3", "--set", "M=4")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "Step(s in Server, n in 0..3)" in ran.stdout
    assert "Listed with" not in ran.stdout


def test_values_are_those_of_a_finding_where_there_is_no_model(folder: Path) -> None:
    (folder / "models.toml").write_text(FINDING, encoding="utf-8")
    ran = kmc("specs", "./dependent")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "Step(s in Server, n in 0..5)" in ran.stdout
    assert "Listed with" not in ran.stdout


def test_a_check_needs_values(folder: Path) -> None:
    ran = kmc("check", "./dependent")
    assert ran.exit_code == 151
    assert "error[KMC344]: no value for constants Server, N, M" in ran.stderr


def test_given_values_must_satisfy_assumptions(folder: Path) -> None:
    ran = kmc("specs", "./dependent", "--set", "Server={a,b}", "--set", "N=4", "--set", "M=3")
    assert "error[KMC351]" in ran.stderr


def test_a_mistake_is_shown_whatever_the_values_are(folder: Path) -> None:
    (folder / "spec.py").write_text(DEPENDENT.replace('Int(0, 9), "A number"', 'Set, "A number"'), encoding="utf-8")
    ran = kmc("specs", "./dependent")
    assert "error[KMC344]" not in ran.stderr
    assert "dependent/spec.py:7" in ran.stderr


def test_a_domain_that_is_empty_with_all_values_is_a_mistake(folder: Path) -> None:
    empty = DEPENDENT.replace("x: Int(1, N)", "x: Int(N + 1, N)").replace('Int(0, 9), "A n', 'Int(1, 9), "A n')
    (folder / "spec.py").write_text(empty, encoding="utf-8")
    ran = kmc("specs", "./dependent")
    assert ran.exit_code == 150
    assert "error[KMC142]" in ran.stderr


def test_values_are_asked_for_where_no_placeholder_does(folder: Path) -> None:
    of_one_value = DEPENDENT.replace("x: Int(1, N)", "x: Int(1, 3 if N == 8 and M == 9 and len(Server) == 16 else 0)")
    (folder / "spec.py").write_text(of_one_value, encoding="utf-8")
    ran = kmc("specs", "./dependent")
    assert ran.exit_code == 151
    assert "error[KMC344]: no value for constants Server, N, M" in ran.stderr
    assert "with values that kmc tried: Int(1, 0) is empty" in ran.stderr
