"""What `kmc check` takes for a folder that is not a spec itself, and `--all` without SPEC."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import COUNTER, kmc

import kmc.cli.running.child_check as child_check
from kmc.checking.spec_folders import spec_folders

QUICK = ("--engine", "python", "--no-run-dir")


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one spec in its folder `specs`; checks run in this process."""
    folder = tmp_path / "repository"
    shutil.copytree(COUNTER, folder / "specs" / "ours")
    text = '[models.smoke]\ndescription = "It holds"\ninvariants = ["InRange"]\ndeadlock = false\n'
    (folder / "specs" / "ours" / "models.toml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)

    def run(words: Sequence[str]) -> tuple[int, str, str]:
        done = kmc(*words)
        return done.exit_code, done.stdout, done.stderr

    monkeypatch.setattr(child_check, "run", run)
    return folder


def last_line(*words: str) -> tuple[int, str]:
    """The exit status of a check, and the last line of its stdout, or the first of stderr."""
    ran = kmc("check", *words, *QUICK)
    return ran.exit_code, ran.stdout.splitlines()[-1] if ran.stdout else ran.stderr.splitlines()[0]


def test_all_without_a_spec_checks_the_specs_of_the_working_directory(repository: Path) -> None:
    shutil.copytree(repository / "specs" / "ours", repository / "specs" / "more" / "theirs")
    status, line = last_line("--all", "--junit", "report.xml")
    assert (status, line) == (0, "EXPECTED repository: 2 of 2 as expected")
    suite = ElementTree.parse("report.xml").getroot()
    assert suite.get("name") == "kmc.repository"
    assert [case.get("classname") for case in suite.iter("testcase")] == ["theirs.models", "ours.models"]


def test_a_spec_in_the_working_directory_has_the_name_of_its_folder(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository / "specs" / "ours")
    assert last_line("--all", "--junit", "report.xml") == (0, "EXPECTED ours: 1 of 1 as expected")
    assert [case.get("classname") for case in ElementTree.parse("report.xml").iter("testcase")] == ["ours.models"]


def test_all_where_there_is_no_spec_says_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    ran = kmc("check", "--all", *QUICK)
    assert ran.exit_code == 2
    assert ran.stderr.splitlines() == [
        "error[KMC626]: neither . nor a folder in it has a manifest with models",
        "  = help: go to the folder of your specs, or name a spec or a folder: kmc check SPEC --all",
    ]


def test_a_folder_with_one_spec_means_that_spec_and_it_is_said() -> None:
    ran = kmc("check", "specs", *QUICK)
    assert (ran.exit_code, ran.stdout.splitlines()[-1]) == (
        0,
        "OK ours smoke: 4 distinct states, all 4 levels (2 warnings)",
    )
    assert "specs has one spec: specs/ours is checked.\n" in ran.stderr
    assert kmc("check", "specs", *QUICK, "--quiet").stderr == ""


def test_a_folder_with_two_specs_means_none_of_them(repository: Path) -> None:
    shutil.copytree(repository / "specs" / "ours", repository / "specs" / "theirs")
    assert "has one spec" not in kmc("check", "specs", *QUICK).stderr


@pytest.mark.parametrize(
    ("words", "warning"),
    [
        (
            ["--set=Server=a", "--set=Server=b"],
            "Warning: --set=Server= is given 2 times in a row, and the last counts: b. If you typed a set, quote it: "
            "--set='Server={a,b}'",
        ),
        (["--set=Top=3", "--set=Bottom=1"], None),
        (["--set=Top=3", "--quiet", "--set=Top=2"], None),
        (["--set", "Top=3", "--set", "Top=2"], None),
        (["--set=Server={a,b}", "--set=Server={a}"], None),
    ],
)
def test_words_that_bash_makes_of_a_set_without_quotes_are_warned_of(words: list[str], warning: str | None) -> None:
    warned = [line for line in kmc("check", "specs/ours", *words, *QUICK).stderr.splitlines() if "in a row" in line]
    assert warned == ([] if warning is None else [warning])


def test_a_shipped_name_that_is_also_a_folder_here_is_warned_of(repository: Path) -> None:
    shutil.copytree(repository / "specs" / "ours", repository / "die_hard")
    warning = "Warning: die_hard is the spec that kmc ships. For the one in the folder here write ./die_hard"
    assert warning in kmc("check", "die_hard", *QUICK).stderr.splitlines()
    assert "Warning: die_hard" not in kmc("check", "./die_hard", *QUICK).stderr
    shutil.rmtree("die_hard")
    Path("die_hard").mkdir()
    assert "Warning: die_hard" not in kmc("check", "die_hard", *QUICK).stderr


@pytest.mark.parametrize(
    ("words", "count"), [(["--shards", "2"], 1), (["--shards=2"], 1), (["--threads", "2"], 0)], ids=str
)
def test_a_limit_of_memory_beside_shards_is_warned_of(words: list[str], count: int) -> None:
    ran = kmc("check", "specs/ours", "--memory", "2G", *words)
    assert ran.stderr.count("Warning: --memory does not end a search in shards") == count


@pytest.mark.parametrize("shape", ["circles", "vanishing", "unreadable", "deep", "no folder"])
def test_the_folders_are_found_whatever_lies_beside_them(
    repository: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, shape: str
) -> None:
    match shape:
        case "circles":
            # Without a memory of folders, the ways through eight of them that lead to each other are 8!.
            names = [f"n{number}" for number in range(8)]
            for name in names:
                Path(name).mkdir()
                for other in names:
                    (Path(name) / other).symlink_to(f"../{other}")
        case "vanishing":
            # The descriptor that lists /dev/fd is in the list, and gone when it is looked at.
            Path("descriptors").symlink_to("/dev/fd")
        case "unreadable":
            monkeypatch.setattr(os, "scandir", _denied_for("closed", os.scandir))
            Path("closed/inner").mkdir(parents=True)
        case "deep":
            # Python makes and removes folders by recursion, as pytest does with old ones; that ends at 1,000 levels.
            request.addfinalizer(lambda: subprocess.run(["rm", "-r", str(repository / "d")], check=True))
            subprocess.run(["mkdir", "-p", "d/" * 1200], check=True)
        case "no folder":
            Path("models.toml").symlink_to("models.toml")
            Path("broken").symlink_to("nowhere")
            Path("mistaken.py").mkdir()
            Path("pipes").mkdir()
            os.mkfifo("pipes/pipe.py")
    assert spec_folders(repository) == [repository / "specs" / "ours"]


def _denied_for(name: str, scandir: Callable[[Path], object]) -> Callable[[Path], object]:
    def denied(path: Path) -> object:
        if Path(path).name == name:
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    return denied


@pytest.mark.parametrize("words", [["."], [".", "smoke"], ["--all"]], ids=" ".join)
def test_a_whole_disk_is_not_searched_to_its_end(
    repository: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    for module in ("kmc.checking.spec_folders", "kmc.frontend.sources"):
        monkeypatch.setattr(f"{module}.FOLDERS_MAX", 20)
    for number in range(21):
        Path(f"n{number}").mkdir()
    shutil.rmtree("specs")
    ran = kmc("check", *words, *QUICK)
    assert (ran.exit_code, "error[KMC629]" in ran.stderr) == (2, True), ran.stderr
    assert "has more than 20 folders" in ran.stderr


def test_a_spec_in_a_folder_with_vanishing_ones_is_loaded(repository: Path) -> None:
    Path("specs/ours/descriptors").symlink_to("/dev/fd")
    assert kmc("check", "specs/ours", *QUICK).exit_code == 0
