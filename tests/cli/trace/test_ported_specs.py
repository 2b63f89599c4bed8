"""Specs as other people write them fail with their verdict, and every view of `kmc trace` tells why, by which steps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from runpy import run_path
from xml.etree import ElementTree

import pytest
from support.commands.cli_runner import kmc
from support.specs.ported import PORTED
from support.specs.small import IMPORTS
from support.views.diagram_readers import (
    read_dot,
    read_json,
    read_markdown_tables,
    read_mermaid,
    read_page,
    read_shiviz,
)

VIEWS = ((), ("--changes",), ("--chart",), ("--table",), ("--full",), ("--step", "1"), ("--server", "1"))
TEXTS = ("itf", "tlc-json", "graphml")

pytestmark = pytest.mark.slow


@dataclass(frozen=True, slots=True)
class Checked:
    """A check of a ported spec: the spec and its model file, the result as JSON, and the trace."""

    name: str
    words: tuple[str, str]
    result: dict[str, object]
    trace: str
    report: Path


@pytest.fixture(scope="module", params=PORTED)
def checked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Checked:
    """The check of a spec, which fails."""
    ported = PORTED[request.param]
    folder = tmp_path_factory.mktemp(request.param)
    spec, model, report = folder / "spec.py", folder / "model.cfg", folder / "report.xml"
    spec.write_text(IMPORTS + ported.source, encoding="utf-8")
    model.write_text(ported.cfg, encoding="utf-8")
    words = (str(spec), str(model))
    ran = kmc(
        "check", *words, "--engine", "python", "--json", "--run-dir", str(folder / "runs"), "--junit", str(report)
    )
    assert ran.exit_code == ported.status, ran.stderr
    (trace,) = folder.glob("runs/*/trace.itf.json")
    return Checked(request.param, words, json.loads(ran.stdout), str(trace), report)


def told(checked: Checked, *options: str) -> str:
    """What `kmc trace` prints."""
    ran = kmc("trace", checked.trace, *options)
    assert ran.exit_code == 0, ran.stderr
    return ran.stdout


def test_the_verdict_stands_with_its_explanation(checked: Checked) -> None:
    assert checked.result["why"]
    assert len(ElementTree.parse(checked.report).getroot().findall(".//failure")) == 1
    data, _ = read_page((Path(checked.trace).parent / "trace.html").read_text(encoding="utf-8"))
    assert data["lanes"] == [*PORTED[checked.name].lanes]


def test_every_text_names_every_step(checked: Checked) -> None:
    steps = read_json(told(checked, "--format", "json"))["steps"]
    for options in VIEWS:
        text = told(checked, *options) if "--server" not in options or "1" in PORTED[checked.name].lanes else ""
        whole = {("--step", "1"), ("--server", "1")}.isdisjoint({options})
        assert not whole or all(step["label"].split("(")[0] in text for step in steps if len(steps) > 1), options


def test_every_format_names_every_process(checked: Checked) -> None:
    lanes = PORTED[checked.name].lanes
    assert [*read_mermaid(told(checked, "--format", "mermaid")).names.values()][-len(lanes) :] == [*lanes]
    hosts = {host for _, host, _ in read_shiviz(told(checked, "--format", "shiviz"))}
    assert hosts <= {*lanes, "system"}
    for table in read_markdown_tables(told(checked, "--format", "markdown")):
        assert [row[0] for row in table[2:]] == [*lanes]
    steps = read_json(told(checked, "--format", "json"))["steps"]
    assert len(read_dot(told(checked, "--format", "dot")).nodes) == len(steps)
    assert all(told(checked, "--format", name) for name in TEXTS)


def test_the_trace_replays_and_becomes_a_regression_test(checked: Checked, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    ran = kmc("replay", checked.trace, "--pytest", str(file))
    assert ran.exit_code == 0, ran.stderr
    (test,) = (value for name, value in run_path(str(file)).items() if name.startswith("test_"))
    with pytest.raises(AssertionError, match="again, by these steps:"):
        test()
