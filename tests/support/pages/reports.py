"""The page of reports for upstream: texts, and the traces that show what they say; `make reports` writes it."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

from support.pages.findings import HEADS, filled, manifests
from support.pages.gallery import kmc
from support.source_tree import ROOT

PAGE = ROOT / "docs" / "reports.md"
TEMPLATE = HEADS / "reports.md"
TRACE = re.compile(r"^\{trace (\w+) (\w+)\}$", re.MULTILINE)
STEPS = re.compile(r"^## What happens\n(.*?)(?=^## )", re.MULTILINE | re.DOTALL)


def steps_of(spec: str, model: str) -> str:
    """What happens in the counterexample of a model, step by step, as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        checked = kmc(["check", spec, model, "--json"], folder)
        trace = json.loads(checked.stdout)["trace_file"]
        report = kmc(["trace", str(Path(folder, trace)), "--format", "markdown"], folder).stdout
    found = STEPS.search(report)
    assert found is not None, report
    return f"`kmc check {spec} {model}`:\n\n{found[1].strip()}"


def reports_page() -> str:
    """docs/reports.md."""
    text = filled(TEMPLATE.read_text(encoding="utf-8"), manifests())
    return TRACE.sub(lambda match: steps_of(match[1], match[2]), text)


if __name__ == "__main__":
    PAGE.write_text(reports_page(), encoding="utf-8")
