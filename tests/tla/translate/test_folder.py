"""The folder of a translation: readable lines with places in the module, and never written over an edited one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.modules.agreement import pair_of

from kmc.tla.translate.formatting import formatted

DATA = Path(__file__).parents[2] / "data" / "tla"
HOSTS = r"""---- MODULE Hosts ----
EXTENDS Naturals
CONSTANT Host
VARIABLES role, sent
Servers == {[host |-> h, disk |-> 0] : h \in Host}
Init == role = [s \in Servers |-> "one"] /\ sent = {}
Send(s, kind) == sent' = sent \union {[kind |-> kind, from |-> s]}
Next == \E s \in Servers : /\ role[s] \notin {"seven", "eight", "nine"}
                           /\ \E next \in {"two", "three", "four", "five"} : role' = [role EXCEPT ![s] = next]
                           /\ Send(s, IF role[s] = "one" THEN "hello" ELSE "bye")
====
"""


@pytest.fixture
def jugs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The module Jugs in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("Jugs.tla", "Jugs.cfg"):
        Path(name).write_text((DATA / name).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def test_a_translation_is_written_and_checked(jugs: Path) -> None:
    ran = kmc("translate", "Jugs.tla", "jugs")
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "The types fit all states of the model." in ran.stdout
    checked = kmc("check", "jugs", "--engine", "python", "--no-run-dir", "--no-deadlock")
    assert checked.exit_code == 0
    assert "97 states generated, 16 distinct states found" in checked.stdout


def test_a_translation_is_the_same_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "Hosts.tla").write_text(HOSTS, "utf-8")
    (tmp_path / "Hosts.cfg").write_text("CONSTANT Host = {h1, h2, h3}\nINIT Init\nNEXT Next\n", "utf-8")
    texts = set()
    for seed in ("1", "2", "3"):
        words = [sys.executable, "-m", "kmc", "translate", "Hosts.tla", f"translated{seed}"]
        subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True)
        texts.add((tmp_path / f"translated{seed}" / "spec.py").read_text())
    assert len(texts) == 1


def test_another_model_of_the_module_is_translated(jugs: Path) -> None:
    Path("Tiny.cfg").write_text(Path("Jugs.cfg").read_text().replace("Large = 5", "Large = 4"))
    assert kmc("translate", "Jugs.tla", "Tiny.cfg", "jugs").exit_code == 0
    assert "large: Int(0, 4)" in Path("jugs/spec.py").read_text()


def test_a_translation_is_written_anew_until_it_is_edited(jugs: Path) -> None:
    assert kmc("translate", "Jugs.tla", "jugs").exit_code == 0
    assert kmc("translate", "Jugs.tla", "jugs").exit_code == 0
    spec = Path("jugs/spec.py")
    spec.write_text(spec.read_text() + "\n# my own line\n")
    again = kmc("translate", "Jugs.tla", "jugs")
    assert again.exit_code == 2
    assert "error[KMC668]" in again.stderr
    assert "# my own line" in spec.read_text()


def test_a_folder_of_something_else_is_not_written_over(jugs: Path) -> None:
    Path("mine").mkdir()
    Path("mine/spec.py").write_text("mine = 1\n")
    assert "error[KMC668]" in kmc("translate", "Jugs.tla", "mine").stderr
    assert "error[KMC668]" in kmc("translate", "Jugs.tla", "Jugs.cfg").stderr


def test_too_many_files_are_one_clear_error(jugs: Path) -> None:
    ran = kmc("translate", "Jugs.tla", "Jugs.cfg", "jugs", "more")
    assert ran.exit_code == 2
    assert "error[KMC669]" in ran.stderr


def test_every_statement_has_its_place_in_the_module(tmp_path: Path) -> None:
    text = (DATA / "Jugs.tla").read_text(encoding="utf-8")
    pair = pair_of(tmp_path, text, (DATA / "Jugs.cfg").read_text(encoding="utf-8"))
    places = json.loads((tmp_path / "translated" / "places.json").read_text(encoding="utf-8"))
    lines = (tmp_path / "translated" / "spec.py").read_text(encoding="utf-8").splitlines()
    assert len(places["lines"]) == len(lines) == len(pair.translated.text.lines)
    assert places["files"] == ["Jugs.tla"]
    poured = next(index for index, line in enumerate(lines) if "moved_1 = st.small" in line)
    _, line, column = places["lines"][poured]
    assert text.splitlines()[line - 1][column - 1 :].startswith("Least(small, Large - large)")
    assert places["names"]["Pour"] == "Pour"


def test_comments_of_definitions_are_kept(tmp_path: Path) -> None:
    module = (
        "---- MODULE Said ----\nEXTENDS Naturals\nVARIABLE x\nInit == x = 0\n"
        '\\* Counts "up", one by one\nUp == x < 2 /\\ x\' = x + 1\n(*****)\nNext == Up\n'
        "(* Never large.\n\n   More of it. *)\nSmall == x < 3\n====\n"
    )
    pair_of(tmp_path, module, "INIT Init\nNEXT Next\nINVARIANT Small\nCHECK_DEADLOCK FALSE\n")
    text = (tmp_path / "translated" / "spec.py").read_text(encoding="utf-8")
    assert '    """Counts up, one by one.\n\n    TLA+: Up, line 6.\n    """\n' in text
    assert '    """Never large.\n\n    TLA+: Small, line 12.\n    """\n' in text


def test_long_statements_are_broken_into_lines_that_mean_the_same() -> None:
    long = (
        "yield st.set(a="
        + " and ".join(f"first_condition_{n} < second_condition_{n}" for n in range(9))
        + ", b={1: 2})"
    )
    lines = formatted(long, 2)
    assert len(lines) > 3
    assert max(map(len, lines)) <= 120
    assert formatted("else:", 1) == ["    else:"]
    assert formatted("elif a:", 0) == ["elif a:"]
