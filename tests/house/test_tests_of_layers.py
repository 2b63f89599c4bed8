"""`make test-layer` runs every file of tests that a change of the layer can make fail, and leaves out others."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support.layers import LAYERS, RANK, affected_files, files_of_tests, main
from support.source_tree import ROOT

FOLDERS = sorted(layer for layer in RANK if (ROOT / "tests" / layer.removeprefix("kmc.")).is_dir())


def paths_below(folder: str) -> set[str]:
    """The files of tests below a folder of tests/."""
    return {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / folder).rglob("test_*.py")}


def test_the_lowest_layer_has_every_file_of_tests() -> None:
    (lowest,) = LAYERS[0]
    assert len(affected_files(lowest)) == len(files_of_tests()) > 300
    assert paths_below("lang") | paths_below("cli") | paths_below("house") <= set(affected_files(lowest))


def test_a_layer_has_the_tests_of_a_lower_one_and_more_or_the_same() -> None:
    rows = [set(affected_files(row[0])) for row in LAYERS]
    assert all(higher <= lower for lower, higher in pairwise(rows))


@pytest.mark.parametrize("layer", FOLDERS)
def test_a_layer_with_a_folder_of_tests_has_tests_of_this_folder(layer: str) -> None:
    assert paths_below(layer.removeprefix("kmc.")) & set(affected_files(layer))


def test_a_file_that_runs_a_command_is_among_the_tests_of_commands() -> None:
    # It imports `support.commands.cli_runner`, and that imports kmc.cli.
    assert paths_below("wheel") < set(affected_files("kmc.cli"))


def test_a_file_that_imports_lower_layers_only_is_left_out() -> None:
    assert "tests/lang/test_numbers.py" not in affected_files("kmc.engine")
    assert "tests/lang/test_numbers.py" in affected_files("kmc.lang")


def test_a_file_that_imports_nothing_of_kmc_is_in_every_layer() -> None:
    assert all("tests/house/test_hosted_ci.py" in affected_files(layer) for layer in RANK)


def test_a_layer_is_named_with_its_package_or_without(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for name in ("shards", "kmc.shards"):
        assert main([name]) == 0
        printed.append(capsys.readouterr().out.splitlines())
    assert printed == [affected_files("kmc.shards")] * 2


@pytest.mark.parametrize("words", [[], ["shard"], ["shards", "engine"]])
def test_another_name_is_an_error_that_lists_the_layers(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "error: name one layer" in printed.err
    assert " shards, " in printed.err
