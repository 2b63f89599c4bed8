"""The pages about what the specs found: findings, gallery and mechanisms; `make docs` writes them.

Texts come from the specs (the section "In short" of each, titles and descriptions of models.toml, claims.toml and
promises.toml), figures from the results that the manifests record. So a page cannot say what no model shows.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from support.pages.kinds import kind_of, meanings
from support.pages.mechanisms import RESULTS, read_promises
from support.source_tree import ROOT

from kmc.frontend.shipped import manifest_of, shipped_specs
from kmc.frontend.shown_claims import Evidence, ShownClaim, read_claims, shown_claims
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import ModelFile

PROTOCOLS = {
    "kraft": ("KIP-595, the base protocol", "specs/kraft/README.md"),
    "kip_996": ("KIP-996, pre-vote, with KIP-853, changes of the voters", "specs/kip_996/README.md"),
    "kip_996_draft": ("The draft of KIP-996", "specs/kip_996_draft/README.md"),
    "kip_642": ("KIP-642, the draft of quorum reassignment", "specs/kip_642/FINDINGS.md"),
}
"""The specs of protocols in the order of the pages: a title, and the text that argues."""

HEADS = ROOT / "tests" / "data" / "pages"
"""What stands above the generated part of each page."""

WRITTEN = "*Written by `make docs` from the texts and the recorded results of the specs; do not edit.*"


def manifests() -> dict[str, Manifest]:
    """The manifests of the protocols."""
    found = {name: manifest_of(root) for name, root in shipped_specs().items() if name in PROTOCOLS}
    return {name: manifest for name in PROTOCOLS if (manifest := found.get(name)) is not None}


def _bound(file: ModelFile) -> str:
    expect = file.expect or {}
    within = " and ".join(word.text for word in (*file.constraints, *file.action_constraints))
    if file.max_depth is not None and expect.get("result") == "bound reached":
        extent = f"{expect['depth']} levels" + (f" within {within}" if within else "")
    else:
        extent = f"all within {within}" if within else "whole graph"
    return f"{extent}, {expect['distinct']:,} states"


def _fallen(file: ModelFile) -> str:
    expect = file.expect or {}
    kind = "lasso of " if expect.get("result") == "liveness" else ""
    return f"{kind}{expect['trace_length']} states"


def _figure(match: re.Match[str], known: Mapping[str, Manifest]) -> str:
    spec, name = match.groups()
    file = known[spec].entries[name]
    holds = Evidence(spec, "", file).holds
    return (
        f"{file.expect['distinct']:,} states"
        if holds and file.expect
        else f"`kmc check {spec} {name}`, {_fallen(file)}"
    )


def filled(text: str, known: Mapping[str, Manifest]) -> str:
    """The text with each `{spec model}` replaced by what the manifest records of it."""
    return re.sub(r"\{(kraft|kip_\w+) (\w+)\}", lambda match: _figure(match, known), text)


def _head(name: str, known: Mapping[str, Manifest]) -> str:
    return filled((HEADS / name).read_text(encoding="utf-8"), known)


def _largest(holds: Sequence[Evidence]) -> Evidence:
    """The evidence that says most: a whole graph, one that is described by itself, and the one with most states."""

    def weight(one: Evidence) -> tuple[bool, bool, int]:
        expect: Mapping[str, Any] = one.file.expect or {}
        stands_alone = not one.file.description.startswith("The same")
        return expect.get("result") == "ok", stands_alone, int(expect.get("distinct", 0))

    return max(holds, key=weight)


def _shortest(falls: Sequence[Evidence]) -> list[Evidence]:
    """The shortest trace of each spec to each broken promise, findings before mutants."""
    ordered = sorted(falls, key=lambda one: (one.kind != "finding", int(str((one.file.expect or {})["trace_length"]))))
    shortest: dict[tuple[str, bool, str], Evidence] = {}
    for one in ordered:
        shortest.setdefault((one.spec, one.kind == "finding", _promise(one)), one)
    return list(shortest.values())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _claim_row(shown: ShownClaim) -> str:
    claim = shown.claim
    holds = falls = "open: " + claim.open
    if shown.holds:
        one = _largest(shown.holds)
        more = f"; {len(shown.holds) - 1} more" if len(shown.holds) > 1 else ""
        described = _cell(one.file.description.rstrip("."))
        holds = f"{described}. `kmc check {one.spec} {one.file.name}`: {_bound(one.file)}{more}"
    if shown.falls:
        shortest = _shortest(shown.falls)
        lines = [_failure(one, first=one is shortest[0]) for one in shortest]
        others = len(shown.falls) - len(shortest)
        falls = "<br>".join([*lines, f"{others} more: `kmc claims {claim.number}`."] if others else lines)
    title = _cell(f"{claim.title} ({claim.document})" + (f". **{claim.condition}.**" if claim.condition else ""))
    return f"| {claim.number} | {title} | {holds} | *{_cell(claim.without)}.* {falls} |"


def _failure(one: Evidence, *, first: bool) -> str:
    """One way in which a claim fails: what happens, the command, the length and the kind."""
    refers_back = one.file.title.startswith("The same")
    vague = one.file.title.endswith(" fails") or (first and refers_back)
    shown = one.file.description.removeprefix("Mutant: ").rstrip(".") if vague or not one.file.title else one.file.title
    happens = _cell(shown[0].upper() + shown[1:])
    return f"{happens}: `kmc check {one.spec} {one.file.name}`, {_lost(one)} ({kind_of(one)})."


def _promise(one: Evidence) -> str:
    return str((one.file.expect or {}).get("invariant", "a promise"))


def _lost(one: Evidence) -> str:
    return f"{_promise(one)}, {_fallen(one.file)}"


def _in_short(path: str) -> str:
    """The section "In short" of a text of a spec."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found = re.search(r"^## In short\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"{path} has no section In short"

    def moved(match: re.Match[str]) -> str:
        target, hash_sign, anchor = match[1].partition("#")
        file = (ROOT / path).parent.joinpath(target).resolve() if target else ROOT / path
        return f"]({os.path.relpath(file, ROOT / 'docs')}{hash_sign}{anchor})"

    return re.sub(r"\]\((?!https?:)([^)\s]+)\)", moved, found[1].strip())


def findings_page() -> str:
    """docs/findings.md: in short, the claims with what holds and what falls, and each protocol in short."""
    known = manifests()
    shown = shown_claims(read_claims(ROOT / "specs"), known)
    lines = [_head("findings.md", known)]
    conditional = [one for one in shown if one.claim.condition]
    others = [one for one in shown if one not in conditional]
    head = "| | claim | where it holds | where it fails |\n|---|---|---|---|"
    lines += [
        "## Claims that fail, or need a condition\n",
        _head("with_a_finding.md", known),
        head,
        *map(_claim_row, conditional),
        "",
    ]
    lines += ["## Claims that hold\n", head, *map(_claim_row, others), ""]
    for title, path in PROTOCOLS.values():
        lines += [f"## {title}\n", _in_short(path), "", f"The argument in full: [{path}](../{path}).", ""]
    return "\n".join([*lines, WRITTEN]) + "\n"


def gallery_page() -> str:
    """docs/gallery.md: every finding with its title, what happens, and how long the shortest behaviour is."""
    known = manifests()
    lines = [_head("gallery.md", known), "## Kinds\n", "| kind | means |\n|---|---|"]
    lines += [*(f"| {kind} | {meaning} |" for kind, meaning in meanings().items()), ""]
    for spec, manifest in known.items():
        title, path = PROTOCOLS[spec]
        lines += [f"## {title}\n"]
        for name, file in manifest.findings.items():
            one = Evidence(spec, "finding", file)
            described = file.description.rstrip(".")
            lines += [f"**{file.title}.** {described}. `kmc check {spec} {name}`: {_lost(one)} ({kind_of(one)}).\n"]
        lines += [f"What each means is in [{path}](../{path}).\n"]
    return "\n".join([*lines, WRITTEN]) + "\n"


def _verdict(row: Mapping[str, Any], name: str | None) -> str:
    if name is None:
        return "none"
    if name in row["falls"]:
        return f"**{row['falls'][name]}**"
    return "holds" if row["whole"] else f"not in {row['depth'] - 1}"


RULES_OF_853 = {
    "One change of the voters at a time: the leader waits until the last one is committed": (
        "leader_does_not_wait",
        "leader_does_not_wait_and_loses_a_value",
        "leader_does_not_wait_and_two_lead",
    ),
    "One voter in each change": ("adds_two_at_once_and_loses",),
    "No change before a record of the leader's own epoch is committed": (
        "changes_without_own_record",
        "changes_without_own_record_lose_a_value",
        "changes_without_own_record_endanger_a_value",
    ),
}
"""Rules of KIP-853 that kip_642 breaks in a model of its own for each promise."""


def _rules_of_853(manifest: Manifest) -> Iterator[str]:
    promises = [promise for promise in read_promises() if "kip_642" in promise.properties]
    yield "| rule of KIP-853 that `kip_642` breaks | " + " | ".join(promise.title for promise in promises) + " |"
    yield "|---" * (len(promises) + 1) + "|"
    for rule, names in RULES_OF_853.items():
        fallen = {str((manifest.entries[name].expect or {})["invariant"]): name for name in names}
        cells = [fallen.pop(promise.properties["kip_642"], "") for promise in promises]
        assert not fallen, f"no promise says {', '.join(fallen)}"
        told = [f"**{_fallen(manifest.entries[name]).split()[0]}** (`{name}`)" if name else "" for name in cells]
        yield f"| {rule} | " + " | ".join(told) + " |"


def _mechanism_rows(spec: str, manifest: Manifest, found: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    promises = [promise for promise in read_promises() if spec in promise.properties]
    yield "| change | property of the model | " + " | ".join(promise.title for promise in promises) + " |"
    yield "|---" * (len(promises) + 2) + "|"
    by_name = {row["mutant"]: row for row in found if row["spec"] == spec}
    for name, file in manifest.mutants.items():
        row = by_name[name]
        cells = [_verdict(row, promise.properties[spec]) for promise in promises]
        asked = {promise.properties[spec] for promise in promises}
        own = str((file.expect or {})["invariant"])
        told = f"{own}, {_fallen(file)}" if own not in asked or own not in row["falls"] else ""
        vague = file.title.endswith(" fails") or file.title.startswith("The same")
        rule = file.description if vague else file.title
        yield f"| {_cell(rule)}: `kmc check {spec} {name}` | {told} | " + " | ".join(cells) + " |"


def mechanisms_page() -> str:
    """docs/mechanisms.md: for each mutant of each protocol, which promises fall, and in how many states."""
    found = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
    known = manifests()
    lines = [_head("mechanisms.md", known), "| promise | means |\n|---|---|"]
    lines += [f"| {promise.title} | {promise.meaning} |" for promise in read_promises()]
    for spec, manifest in known.items():
        lines += ["", f"## {PROTOCOLS[spec][0]}\n", *_mechanism_rows(spec, manifest, found)]
        if spec == "kip_996":
            lines += ["", _head("mechanisms_853.md", known), *_rules_of_853(known["kip_642"])]
    return "\n".join([*lines, "", WRITTEN]) + "\n"


PAGES: Mapping[Path, Callable[[], str]] = {
    ROOT / "docs" / "findings.md": findings_page,
    ROOT / "docs" / "gallery.md": gallery_page,
    ROOT / "docs" / "mechanisms.md": mechanisms_page,
}

if __name__ == "__main__":
    for page, text in PAGES.items():
        page.write_text(text(), encoding="utf-8")
