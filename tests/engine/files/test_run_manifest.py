"""A manifest comes back from its bytes as it was; every other byte, name and format is refused by the right error."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kmc.engine.files.run_manifest import (
    FORMAT,
    Extent,
    Frontier,
    RunManifest,
    Snapshot,
    _checksum,
    is_data_file,
    parse_manifest,
)
from kmc.engine.layout.search_outcome import FindingKind, SearchFinding
from kmc.errors import SystemFault

PATH = Path("run/checkpoint/run.json")

FINDINGS = (
    SearchFinding(FindingKind.DEADLOCK, 3, 0, (1 << 64) - 1),
    SearchFinding(FindingKind.STEP, 4, 0b101, 12, rank=7, stored=False, source=11),
)
SNAPSHOT = Snapshot(
    levels=(1, 2, 3), generated=(5, 1), failed=(0, 2), cut=1, stored=6, expanded=4, rows_words=90, reached=2,
    reachable_asked=3, findings=FINDINGS, counted=(2, 0), met=1, seconds=1.5, cpu_seconds=2.25,
)  # fmt: skip
KNOWN, MET = Extent("known", 0, 6, 77), Extent("rows-3", 4096, 2, 78)
BLOCKS = (Extent("rows-3", 0, 60, 79), Extent("rows-3", 512, 30, 80))
FRONTIER = Frontier(BLOCKS, Extent("rows-3", 1024, 9, 81), Extent("rows-3", 0, 0, 0))
FULL = RunManifest({"argv": ["check", "kraft"]}, {"kernels": "ab"}, 128, SNAPSHOT, KNOWN, MET, FRONTIER)
EMPTY = RunManifest({"argv": []})
RUN_FILE = {"name": f"run-3-0-{'0' * 16}", "words": 80, "count": 6, "buckets": 1, "checksum": 5}
SHARDED = replace(FULL, known=None, met=None, frontier=None, sharded={"runs": [[RUN_FILE]], "shards": 1})


@pytest.mark.parametrize("manifest", [FULL, SHARDED, EMPTY, replace(EMPTY, digests={"kernels": "ab"})])
def test_a_manifest_comes_back_as_it_was(manifest: RunManifest) -> None:
    assert parse_manifest(manifest.as_bytes(), PATH) == manifest
    assert manifest.as_bytes().endswith(b"}\n")
    # With other fields or another meaning it must be another number: kmc of another version reads this.
    assert json.loads(manifest.as_bytes())["format"] == 13


def test_the_files_of_shards_are_those_of_the_run() -> None:
    assert (SHARDED.levels, SHARDED.files) == (3, frozenset({RUN_FILE["name"]}))


@pytest.mark.parametrize("name", ["../run-3-0-0000000000000000", "run-3-0", "/etc/passwd"])
def test_a_manifest_that_leads_out_of_its_folder_is_refused(name: str) -> None:
    led = replace(SHARDED, sharded={"levels": {"3": {"rows": [{**RUN_FILE, "name": name}]}}})
    with pytest.raises(SystemFault, match="not a file of a run"):
        parse_manifest(led.as_bytes(), PATH)


@pytest.mark.parametrize("part", [{"snapshot": None}, {"known": KNOWN}, {"frontier": FRONTIER}])
def test_a_sharded_run_has_its_parts_and_no_other(part: dict[str, Any]) -> None:
    with pytest.raises(SystemFault, match="a part of the level is missing"):
        parse_manifest(replace(SHARDED, **part).as_bytes(), PATH)


def recorded(levels: int, files: int) -> RunManifest:
    """The manifest of a search that recorded steps in so many files of each level."""
    names = [[f"steps-{level}-{file}-{'0' * 16}" for file in range(files)] for level in range(levels)]
    noted = [{"digest": level, "steps": [{"name": name} for name in names[level]]} for level in range(levels)]
    return replace(SHARDED, sharded={"runs": [[RUN_FILE]], "noted": noted})


@pytest.mark.parametrize("levels", [0, 1, 2, 5])
def test_recorded_levels_but_the_last_are_files_of_their_own(levels: int) -> None:
    manifest = recorded(levels, 3)
    text, files = manifest.as_files()
    assert len(files) == max(0, levels - 1)
    assert all(is_data_file(name) for name in files)
    assert parse_manifest(text, PATH, files.__getitem__) == manifest
    assert len(manifest.files) == 1 + 3 * levels
    assert [name in text.decode() for name in sorted(manifest.files - {RUN_FILE["name"]})] == [False] * 3 * (
        levels - 1
    ) + [True] * 3 * min(1, levels)
    # What was written for a level is not written again for the next one.
    assert files.items() <= recorded(levels + 1, 3).as_files()[1].items()


def test_a_damaged_level_of_a_manifest_is_refused() -> None:
    text, files = recorded(3, 2).as_files()
    name = list(files)[1]
    for damage in (files[name][:-3], files[name].replace(b"steps-1-0", b"steps-9-0"), b""):
        with pytest.raises(SystemFault, match=f"{name} is not the file that was written") as caught:
            parse_manifest(text, PATH, {**files, name: damage}.__getitem__)
        assert caught.value.code == "KMC551"


@pytest.mark.parametrize("named", ["../level-1", f"level-1-{'0' * 63}", 7, None])
def test_a_manifest_reads_levels_from_its_folder_alone(named: object) -> None:
    led = replace(SHARDED, sharded={"noted": [], "level_files": [named]})
    with pytest.raises(SystemFault, match="not a file of a run"):
        parse_manifest(led.as_bytes(), PATH, lambda name: pytest.fail(f"it reads {name}"))


def test_a_manifest_knows_its_levels_and_the_files_that_it_needs() -> None:
    assert (EMPTY.levels, EMPTY.all_extents, EMPTY.files) == (0, (), frozenset())
    assert EMPTY.fingerprint_bits == 64
    assert FULL.levels == 3
    assert FULL.all_extents == (KNOWN, MET, *BLOCKS, FRONTIER.chunks, FRONTIER.dictionary)
    assert FULL.extents == FULL.all_extents[:-1]
    assert FULL.files == {"known", "rows-3"}
    nothing_met = replace(FULL, known=replace(KNOWN, words=0))
    assert nothing_met.files == {"rows-3"}


def changed(change: Callable[[Any], object], *, whole: bool = False) -> bytes:
    """The bytes of the full manifest after a change of its run (or of the whole object), with the right checksum."""
    found = json.loads(FULL.as_bytes())
    if whole:
        change(found)
    else:
        change(found["run"])
        found["checksum"] = _checksum(found["run"])
    return json.dumps(found).encode()


def refused(data: bytes, code: str, why: str) -> None:
    """Bytes are refused, and the error names the file and the reason."""
    with pytest.raises(SystemFault, match=why) as caught:
        parse_manifest(data, PATH)
    assert caught.value.code == code
    assert str(PATH) in caught.value.message


def test_a_change_with_the_right_checksum_is_read() -> None:
    data = changed(lambda run: run["known"].update(words=5))
    assert parse_manifest(data, PATH) == replace(FULL, known=replace(KNOWN, words=5))


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[]", b"3", b"null", b'{"format": 7}', b"\xff", b"[" * 100_000, b'{"format": 7, "checksum": ""}'],
)
def test_other_bytes_are_not_a_manifest(data: bytes) -> None:
    refused(data, "KMC551", "it is not a manifest")


@pytest.mark.parametrize("made", [FORMAT + 1, FORMAT - 1, "7", None])
def test_another_format_is_named(made: object) -> None:
    refused(
        changed(lambda found: found.update(format=made), whole=True),
        "KMC552",
        f"has format {made}, and this kmc reads format {FORMAT}",
    )


def test_a_wrong_checksum_is_damage() -> None:
    refused(
        changed(lambda found: found["run"].update(fingerprint_bits=64), whole=True), "KMC551", "its checksum is wrong"
    )
    refused(changed(lambda found: found.update(checksum="00"), whole=True), "KMC551", "its checksum is wrong")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda run: run.pop("about"), "it is not a manifest"),
        (lambda run: run["snapshot"]["findings"][0].update(kind=99), "it is not a manifest"),
        (lambda run: run["snapshot"].update(extra=1), "it is not a manifest"),
        (lambda run: run["frontier"]["chunks"].update(words="many"), "it is not a manifest"),
        (lambda run: run["known"].update(file="../known"), "it names '../known', which is not a file of a run"),
        (lambda run: run["frontier"]["dictionary"].update(file="lock"), "it names 'lock'"),
        (lambda run: run["known"].update(place=-1), "it is not a manifest"),
        (lambda run: run["met"].update(words=-1), "it is not a manifest"),
        (lambda run: run["frontier"]["blocks"][1].update(file="rows-2"), "the level is not in one file"),
        (lambda run: run["frontier"].update(blocks=[]), "the level is not in one file"),
        *(
            (lambda run, part=part: run.update({part: None}), "a part of the level is missing")
            for part in ("snapshot", "known", "met", "frontier")
        ),
    ],
)
def test_a_manifest_that_misleads_is_damage(change: Callable[[Any], object], why: str) -> None:
    refused(changed(change), "KMC551", why)


def test_a_file_of_a_run_has_one_of_two_kinds_of_names() -> None:
    good = ("known", "rows-0", "rows-12", f"rows-{'9' * 18}")
    bad = (
        "",
        "rows-",
        f"rows-{'9' * 19}",
        "rows-1 ",
        "rows-1\n",
        "known2",
        "KNOWN",
        "rows-x",
        "rows--1",
        "rows-١",
        "a/known",
    )
    assert [name for name in (*good, *bad) if is_data_file(name)] == [*good]
