"""Modules behind the root module, in its file: found last, with the lines that they have in the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmc.errors import SpecError
from kmc.tla.names.loading import load_model

ROOT = """Text before the first module.

---- MODULE Root ----
EXTENDS Shared
VARIABLE x
Init == x = Two
Next == x' = BODY
====

Text between modules.

---- MODULE Shared ----
EXTENDS Naturals
Two == 2
Wrong == Missing
====
---- MODULE Other ----
Three == 3
====
"""


def written(folder: Path, body: str) -> tuple[Path, Path]:
    """Write the root module and its `.cfg` file."""
    path = folder / "Root.tla"
    path.write_text(ROOT.replace("BODY", body), encoding="utf-8")
    path.with_suffix(".cfg").write_text("INIT Init\nNEXT Next\n", encoding="utf-8")
    return path, path.with_suffix(".cfg")


def test_a_module_behind_the_root_module_is_found(tmp_path: Path) -> None:
    path, configuration = written(tmp_path, "Two")
    path.write_text(path.read_text(encoding="utf-8").replace("Wrong == Missing\n", ""), encoding="utf-8")
    model = load_model(path, configuration)
    assert model.variables == ("x",)


def test_a_module_in_the_folder_comes_before_one_in_the_file(tmp_path: Path) -> None:
    path, configuration = written(tmp_path, "Two")
    (tmp_path / "Shared.tla").write_text("---- MODULE Shared ----\nTwo == 7\n====\n", encoding="utf-8")
    assert load_model(path, configuration).variables == ("x",)


def test_an_error_behind_the_root_module_has_its_line_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="'Missing' is not defined") as caught:
        load_model(*written(tmp_path, "Two"))
    assert caught.value.span is not None
    assert (Path(caught.value.span.path).name, caught.value.span.line) == ("Root.tla", 15)


def test_a_module_that_is_in_no_file_is_an_error(tmp_path: Path) -> None:
    path, configuration = written(tmp_path, "Two")
    path.write_text(path.read_text(encoding="utf-8").replace("EXTENDS Shared", "EXTENDS Absent"), encoding="utf-8")
    with pytest.raises(SpecError, match="KMC006"):
        load_model(path, configuration)
