"""`kmc claims`: the claims of documents, and the models that show them from both sides."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from kmc.cli.options.shared_options import debug_option, json_option
from kmc.cli.text.console import indent_below, say, show
from kmc.error_text import shown_path
from kmc.errors import CommandLineError, ExitStatus
from kmc.frontend.shipped import MANIFEST_NAME, is_there, manifest_of, shipped_folder
from kmc.frontend.shown_claims import CLAIMS_NAME, Evidence, ShownClaim, read_claims, shown_claims
from kmc.model_files.model_file import ModelFile

_EPILOG = """\b
Examples:
  kmc claims                         every claim, and which models show it
  kmc claims 1 16                    two of them, with their models, results and commands
  kmc claims --in ./my_specs         those of a folder of your own, which has a claims.toml
  kmc check --all --claim 16         check all models of a claim against their expected results
"""


@click.command(epilog=_EPILOG, short_help="List the claims of the documents, and the models that show them.")
@click.argument("numbers", nargs=-1, type=click.IntRange(min=1), metavar="[NUMBER]...")
@click.option(
    "--in",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="A folder of specs with a claims.toml; default: the shipped specs.",
)
@json_option
@debug_option
def claims(numbers: tuple[int, ...], folder: str | None, as_json: bool) -> int:
    """List the claims of the documents that the specs follow, and the models, findings and mutants that show them.

    A claim has two sides: a model of the protocol as specified, in which a promise holds, and a finding or a mutant in
    which it falls, as without the rule. NUMBER chooses claims and prints their models, results and commands.
    """
    all_claims = claims_in(folder)
    known = [shown.claim.number for shown in all_claims]
    for number in numbers:
        if number not in known:
            raise CommandLineError("KMC650", f"there is no claim {number}", help=f"the claims are {_ranges(known)}")
    chosen = [shown for shown in all_claims if not numbers or shown.claim.number in numbers]
    if as_json:
        say(json.dumps({"claims": [_as_json(shown) for shown in chosen]}, indent=2))
    else:
        show(_claim_lines(chosen) if numbers else _listed(chosen))
    return ExitStatus.OK


def claims_in(folder: str | None) -> list[ShownClaim]:
    """The claims of a folder of specs, by default of the shipped ones.

    Raises CommandLineError KMC651 where the folder lists no claims, and the error of a manifest.
    """
    root = shipped_folder() if folder is None else Path(folder)
    if folder is not None and not is_there(Path(folder).is_dir):
        raise CommandLineError(
            "KMC651", f"there is no folder {folder}", help="name one that holds specs and a claims.toml"
        )
    listed = read_claims(root) if root is not None else {}
    if root is None or not listed:
        where = "the shipped specs have" if folder is None else f"{shown_path(folder)} has"
        raise CommandLineError("KMC651", f"{where} no {CLAIMS_NAME} with claims", help="see docs/models.md")
    folders = sorted(path for path in root.iterdir() if (path / MANIFEST_NAME).is_file())
    names = {path.name if folder is None else str(path): manifest_of(path) for path in folders}
    return shown_claims(listed, {name: manifest for name, manifest in names.items() if manifest is not None})


def _ranges(claims: Sequence[int]) -> str:
    is_range = len(claims) == claims[-1] - claims[0] + 1
    return f"{claims[0]} to {claims[-1]}" if is_range else ", ".join(map(str, claims))


def _listed(chosen: Sequence[ShownClaim]) -> Iterator[str]:
    for shown in chosen:
        yield from indent_below(f"{shown.claim.number:>2}  ", f"{shown.claim.title} ({shown.claim.document})")
        yield from _side("holds", shown.holds)
        yield from _side("falls", shown.falls)
        if shown.claim.open:
            yield from indent_below("    open   ", shown.claim.open)
    complete = sum(not shown.claim.open for shown in chosen)
    yield ""
    yield f"{complete} of {len(chosen)} claims are shown from both sides."
    yield f"More about one: kmc claims {chosen[0].claim.number}"


def _side(word: str, evidence: Sequence[Evidence]) -> Iterator[str]:
    by_spec: dict[str, list[str]] = {}
    for one in evidence:
        by_spec.setdefault(one.spec, []).append(one.file.name)
    for spec, names in by_spec.items():
        yield from indent_below(f"    {word}  ", f"{spec}: {', '.join(names)}")


def _claim_lines(chosen: Sequence[ShownClaim]) -> Iterator[str]:
    for shown in chosen:
        claim = shown.claim
        yield from indent_below(f"{claim.number}  ", claim.title)
        yield from indent_below("   source   ", claim.document)
        yield from indent_below("   without  ", claim.without)
        if claim.condition:
            yield from indent_below("   but      ", claim.condition)
        if claim.open:
            yield from indent_below("   open     ", claim.open)
        for word, side in (("holds", shown.holds), ("falls", shown.falls)):
            for one in side:
                yield ""
                yield f"   {word}: {one.kind} {one.spec} {one.file.name}: {_expected(one)}"
                yield from indent_below("      ", one.file.description)
                yield f"      kmc check {shlex.quote(one.spec)} {one.file.name}"
        yield ""


def _expected(one: Evidence) -> str:
    """The recorded result of a model in a few words: `Durability falls, 18 states`."""
    expect = one.file.expect or {}
    if not one.holds:
        length = expect.get("trace_length")
        lost = expect.get("invariant", "a promise")
        return f"{lost} falls" + (f", trace of {length} states" if length is not None else "")
    distinct = expect.get("distinct")
    states = f"{distinct:,} states" if isinstance(distinct, int) else "no recorded number of states"
    return f"holds in {states}{_extent(one.file)}"


def _extent(file: ModelFile) -> str:
    """The extent of the search: the whole graph, the part within the constraints, or some levels."""
    within = " and ".join(word.text for word in (*file.constraints, *file.action_constraints))
    expect = file.expect or {}
    if file.max_depth is not None and expect.get("result") == "bound reached":
        levels = f" up to level {expect.get('depth')}"
        return f"{levels} within {within}" if within else levels
    return f", all within {within}" if within else ", the whole graph"


def _as_json(shown: ShownClaim) -> dict[str, Any]:
    claim = shown.claim
    return {
        "number": claim.number,
        "title": claim.title,
        "document": claim.document,
        "without": claim.without,
        "condition": claim.condition or None,
        "open": claim.open or None,
        "holds": [_evidence_as_json(one) for one in shown.holds],
        "falls": [_evidence_as_json(one) for one in shown.falls],
    }


def _evidence_as_json(one: Evidence) -> dict[str, Any]:
    return {"spec": one.spec, "model": one.file.name, "kind": one.kind, "expect": dict(one.file.expect or {})}
