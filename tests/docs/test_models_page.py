"""The page about models is true: its manifest is checked, and its tables have the keys that the reader accepts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.commands.cli_runner import kmc
from support.specs.small import copied

from kmc.frontend.shown_claims import CLAIMS_NAME, read_claims
from kmc.model_files import manifest
from kmc.model_files.manifest import parse_manifest

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
MANIFEST, CLAIMS = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def keys_of(heading: str) -> set[str]:
    """The keys in the first column of the table with this heading."""
    table = PAGE.partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    return {key for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for key in re.findall(r"`(.*?)`", cell)}


def test_the_tables_have_every_key_of_a_model() -> None:
    assert keys_of("key of a model") == {"title", *manifest._MODEL_KEYS}


def test_the_tables_have_every_key_of_an_expected_result() -> None:
    assert keys_of("key of `expect`") == {*manifest._FIGURES, *manifest._OTHER_RESULTS}


def test_the_tables_have_every_kind_of_model() -> None:
    named = {name.split(".")[0].lstrip("[") for name in keys_of("table")}
    assert named == set(manifest._KINDS)


def test_every_result_is_listed() -> None:
    (row,) = re.findall(r"^\| `result` \|.*$", PAGE, re.MULTILINE)
    assert set(re.findall(r'`"(.*?)"`', row)) == set(manifest.RESULTS)


def test_every_section_of_a_model_file_is_named() -> None:
    named = set(re.findall(r"`([A-Z_]{4,})`", PAGE))
    assert named == {"CONSTANTS", "SPECIFICATION", "INIT", "NEXT", "INVARIANTS", "PROPERTIES", "CONSTRAINTS",
                     "ACTION_CONSTRAINTS", "SYMMETRY", "VIEW", "CHECK_DEADLOCK", "ABSTRACTIONS",
                     "VERIFY_ABSTRACTIONS"}  # fmt: skip


@pytest.mark.parametrize("name", parse_manifest(MANIFEST, "models.toml").entries)
def test_the_models_of_the_page_end_as_it_expects(name: str, tmp_path: Path) -> None:
    root = copied("die_hard", tmp_path)
    (root / "models.toml").write_text(MANIFEST, encoding="utf-8")
    ran = kmc("check", str(root), name, "--expect", "--engine", "python", "--no-run-dir")
    assert ran.exit_code == 0, ran.output


def test_the_claims_of_the_page_can_be_read(tmp_path: Path) -> None:
    (tmp_path / CLAIMS_NAME).write_text(CLAIMS, encoding="utf-8")
    assert list(read_claims(tmp_path)) == [2]
