"""The pages of findings, gallery and mechanisms say what the specs and their results say, and the site links them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import pytest
from support.pages import findings as findings_page
from support.pages import site_hooks
from support.pages.findings import PAGES, manifests
from support.pages.kinds import kind_of, kinds_of, meanings
from support.pages.mechanisms import RESULTS, read_promises
from support.source_tree import ROOT

from kmc.frontend.loader import load_spec
from kmc.frontend.shipped import find_spec_root
from kmc.frontend.shown_claims import Evidence
from kmc.model_files.manifest import Manifest
from kmc.model_files.model_file import ModelFile

ROWS: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]
REPORT = re.compile(r"^`kmc check (\w+) (\w+)`:\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
STEP = re.compile(r"^\d+\. \*\*(\w+)", re.MULTILINE)


def test_a_report_has_the_steps_that_were_recorded() -> None:
    reports = REPORT.findall((ROOT / "docs" / "reports.md").read_text(encoding="utf-8"))
    assert len(reports) == 4
    for spec, model, steps in reports:
        path = ROOT / "results" / f"{spec}.json"
        recorded = json.loads(path.read_text(encoding="utf-8"))["models"][model]["trace"]
        assert STEP.findall(steps) == [re.split(r"\W", label)[0] for label in recorded], "run: make reports"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_up_to_date(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == PAGES[page](), "run: make docs"


SECTION = re.compile(r"^### .*?(?=^##|\Z)", re.MULTILINE | re.DOTALL)
ARGUED = re.compile(r"`(\w+)` \(.*?\. ((?:Flaw|Silence|Bound) of the (?:text|model))", re.DOTALL)


def test_a_finding_has_a_kind_and_no_kind_is_of_a_model_that_holds() -> None:
    for spec, manifest in manifests().items():
        assert manifest.findings.keys() <= kinds_of(spec).keys(), spec
        assert not [name for name in kinds_of(spec) if Evidence(spec, "", manifest.entries[name]).holds]
        assert set(kinds_of(spec).values()) <= meanings().keys()


def test_a_kind_is_the_one_that_the_findings_of_kip_642_argue() -> None:
    text = (ROOT / "specs" / "kip_642" / "FINDINGS.md").read_text(encoding="utf-8")
    argued = {found[1]: found[2] for part in SECTION.findall(text) if (found := ARGUED.search(part[:600]))}
    assert len(argued) >= 8
    kinds = kinds_of("kip_642")
    assert {name: kind.lower() for name, kind in argued.items() if name in kinds} == {
        name: kinds[name] for name in argued if name in kinds
    }


def test_a_mutant_needs_no_entry_to_have_a_kind() -> None:
    mutant = manifests()["kraft"].mutants["any_log_is_elected"]
    assert kind_of(Evidence("kraft", "mutant", mutant)) == "mutant"


def test_the_mechanisms_are_the_mutants() -> None:
    mutants = [(spec, name) for spec, manifest in manifests().items() for name in manifest.mutants]
    assert sorted((row["spec"], row["mutant"]) for row in ROWS) == sorted(mutants), "run: make mechanisms"


def disagreements(rows: list[dict[str, Any]], known: dict[str, Manifest]) -> list[str]:
    """Where a row says otherwise than the recorded result of the mutant's own property, if that is a promise."""
    found = []
    for row in rows:
        expect: Any = known[row["spec"]].mutants[row["mutant"]].expect
        asked = [promise.properties.get(row["spec"]) for promise in read_promises()]
        if expect["invariant"] not in asked:
            continue
        length = row["falls"].get(expect["invariant"])
        if length != expect["trace_length"] and not (length is None and expect["distinct"] > row["distinct"]):
            found.append(f"{row['spec']} {row['mutant']}")
    return found


def test_a_promise_falls_where_the_manifest_says() -> None:
    assert disagreements(ROWS, manifests()) == []


def test_a_row_that_says_otherwise_is_found() -> None:
    one = next(row for row in ROWS if row["mutant"] == "voters_vote_again" and row["spec"] == "kraft")
    worse = {**one, "falls": {name: length + 1 for name, length in one["falls"].items()}}
    assert disagreements([worse], manifests()) == ["kraft voters_vote_again"]


@pytest.mark.slow
def test_a_promise_names_properties_of_the_specs() -> None:
    for promise in read_promises():
        for spec, name in promise.properties.items():
            constants = next(iter(manifests()[spec].models.values())).constants
            assert name in load_spec(find_spec_root(spec), constants).properties, (promise.key, spec, name)


def test_another_figure_makes_another_page(monkeypatch: pytest.MonkeyPatch) -> None:
    before = findings_page.findings_page()
    known = manifests()
    upstream: ModelFile = known["kraft"].models["upstream"]
    assert upstream.expect is not None
    monkeypatch.setitem(cast(dict[str, object], upstream.expect), "distinct", 7)
    assert findings_page.findings_page() != before


def test_a_link_to_the_text_of_a_spec_is_one_on_the_site() -> None:
    assert (
        site_hooks._target("../specs/kraft/README.md#in-short", "findings.md", "") == "specs/kraft/README.md#in-short"
    )
    assert site_hooks._target("../../docs/models.md", "specs/kraft/README.md", "../../") == "../../models.md"
    assert site_hooks._target("https://kafka.apache.org", "findings.md", "") == "https://kafka.apache.org"


def test_a_command_links_to_the_page_that_was_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_hooks, "GALLERY", tmp_path)
    (tmp_path / "kraft.restarts.html").write_text("")
    told = site_hooks.COMMAND.sub(
        lambda match: site_hooks._linked(match, ""), "`kmc check kraft restarts` `kmc check a b`"
    )
    assert told == '<a href="traces/kraft.restarts.html"><code>kmc check kraft restarts</code></a> `kmc check a b`'
