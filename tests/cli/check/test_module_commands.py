"""`kmc graph`, `kmc plan`, `kmc specs` and `kmc conform` take a TLA+ module where they take a spec.

Pool.dot, PoolSymmetry.dot and Steps.dot are what TLC with one worker wrote of the models of their names, with `-dump
dot,actionlabels`.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import check_json, kmc

DATA = Path(__file__).parents[2] / "data" / "tla" / "checked"
LEASE = Path(__file__).parents[3] / "docs" / "tla" / "Lease.tla"
POOL = str(DATA / "Pool.tla")


def graph_of(*words: str) -> dict[str, Any]:
    """Return the graph that `kmc graph` prints as JSON."""
    found: dict[str, Any] = json.loads(kmc("graph", *words, "--format", "json").stdout)
    return found


@pytest.mark.parametrize(("module", "model"), [(LEASE, "Lease"), (DATA / "Grid.tla", "GridHolds")])
def test_a_graph_has_the_states_and_levels_of_a_check(module: Path, model: str) -> None:
    words = (str(module), str(module.with_name(f"{model}.cfg")))
    graph, checked = graph_of(*words), check_json(*words)
    levels = Counter(node["level"] for node in graph["nodes"])
    assert [levels[level] for level in sorted(levels)] == checked["levels"]
    generated = checked["generated_by_action"]
    drawn = Counter(edge["action"].partition("(")[0] for edge in graph["edges"])
    assert drawn.keys() == generated.keys()
    assert all(drawn[action] <= generated[action] for action in drawn)


def test_a_graph_has_the_steps_that_tlc_dumps() -> None:
    dump = (DATA / "Pool.dot").read_text()
    steps = Counter(re.findall(r'-> -?\d+ \[label="(\w+\(\w+\))"', dump))
    assert Counter(edge["action"] for edge in graph_of(POOL)["edges"]) == steps


def test_the_formats_of_a_graph_are_those_of_a_spec() -> None:
    assert kmc("graph", POOL).stdout.startswith("<graphml")
    drawn = kmc("graph", POOL, "--set", "Item={i1}", "--format", "dot").stdout
    assert 'label="Take(i1)"' in drawn
    refused = kmc("graph", POOL, "--max-states", "3")
    assert (refused.exit_code, "KMC635" in refused.stderr) == (2, True)


def test_a_plan_of_a_small_module_is_exact() -> None:
    found = json.loads(kmc("plan", POOL, "--json").stdout)
    assert (found["forecast"]["is_exact"], found["forecast"]["states"], found["engine"]) == (True, 28, "python")
    assert found["check"] == ["kmc", "check", POOL]
    shown = kmc("plan", POOL, "--quiet").stdout
    assert "Exact: these are all 28 states" in shown
    assert f"kmc check {POOL}" in shown


def test_a_plan_says_that_a_failure_ends_the_check() -> None:
    assert "A failure was found" in kmc("plan", str(DATA / "Grid.tla"), "--quiet").stdout


def test_a_plan_of_a_module_has_no_threads() -> None:
    refused = kmc("plan", POOL, "--threads", "2")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error[KMC697]: --threads cannot be used with a TLA+ module" in refused.stderr


def test_specs_lists_the_declarations_of_a_module() -> None:
    shown = [line.split() for line in kmc("specs", str(LEASE)).stdout.splitlines()]
    assert ["MaxTerm", "=", "3"] in shown
    assert ["held"] in shown
    assert ["Grant(w)"] in shown
    assert ["INVARIANT", "TypeOK"] in shown
    assert ["PROPERTY", "WritesInOrder", "No", "write", "is", "older", "than", "the", "one", "before", "it."] in shown
    assert ["MaxTerm", "=", "9"] in [
        line.split() for line in kmc("specs", str(LEASE), "--set", "MaxTerm=9").stdout.splitlines()
    ]


def test_specs_takes_the_model_that_follows_the_module() -> None:
    other = str(LEASE.with_name("LeaseUnchecked.cfg"))
    shown = [line.split() for line in kmc("specs", str(LEASE), other).stdout.splitlines()]
    assert ["ChecksTerm", "=", "FALSE"] in shown
    assert "error[KMC696]" in kmc("specs", str(LEASE), "No.cfg").stderr
    assert kmc("specs", "kraft", "smoke").exit_code == 2


def test_specs_says_how_to_check_a_module_without_a_model(tmp_path: Path) -> None:
    shutil.copy(LEASE, tmp_path)
    shown = kmc("specs", str(tmp_path / "Lease.tla"))
    assert shown.exit_code == 0
    assert "SPECIFICATION Spec, a value for Worker, a value for MaxTerm and a value for ChecksTerm." in shown.stdout
    missing = kmc("specs", str(tmp_path / "No.tla"))
    assert missing.exit_code == 150
    assert "Traceback" not in missing.output


def test_specs_names_the_definition_that_a_constant_operator_is(tmp_path: Path) -> None:
    text = "---- MODULE Sums ----\nEXTENDS Naturals\nCONSTANT Joined(_, _)\nVARIABLE x\nPlus(a, b) == a + b\n"
    (tmp_path / "Sums.tla").write_text(f"{text}Init == x = 0\nNext == x' = Joined(x, 1) % 3\n====\n")
    (tmp_path / "Sums.cfg").write_text("CONSTANT Joined <- Plus\nINIT Init\nNEXT Next\n")
    shown = [line.split() for line in kmc("specs", str(tmp_path / "Sums.tla")).stdout.splitlines()]
    assert ["Joined", "=", "Plus"] in shown


class TestConform:
    @pytest.mark.parametrize(
        ("module", "model", "edges"), [("Pool", "Pool", 72), ("Pool", "PoolSymmetry", 36), ("Steps", "Steps", 6)]
    )
    def test_a_module_has_the_steps_that_tlc_dumped(self, module: str, model: str, edges: int) -> None:
        files = (DATA / name for name in (f"{module}.tla", f"{model}.cfg", f"{model}.dot"))
        found = kmc("conform", *map(str, files), "--json")
        (report,) = json.loads(found.stdout)["corpora"]
        assert (found.exit_code, report["conforms"], report["edges"], report["generated"]) == (0, True, edges, edges)
        assert (report["missing_actions"], report["extra_actions"]) == ([], [])

    @pytest.mark.parametrize(
        ("right", "wrong", "kind"),
        [
            ("i \\in taken /\\", "i \\in taken /\\ turns > 1 /\\", "missing"),
            ("i \\in taken /\\", "", "extra"),
            ("i \\in taken /\\", "(i \\in taken \\/ i \\in Item \\ free) /\\", "times"),
        ],
    )
    def test_a_module_with_other_steps_differs(self, right: str, wrong: str, kind: str, tmp_path: Path) -> None:
        for name in ("Pool.tla", "Pool.cfg", "Count.tla"):
            shutil.copy(DATA / name, tmp_path)
        module = (DATA / "Pool.tla").read_text()
        (tmp_path / "Pool.tla").write_text(module.replace(f"Return(i) == {right}", f"Return(i) == {wrong}"))
        found = kmc("conform", str(tmp_path / "Pool.tla"), str(DATA / "Pool.dot"), "--json")
        (report,) = json.loads(found.stdout)["corpora"]
        assert found.exit_code == 12
        assert {difference["kind"] for difference in report["differences"]} == {kind}
        assert {difference["action"].partition("(")[0] for difference in report["differences"]} == {"Return"}
        shown = kmc("conform", str(tmp_path / "Pool.tla"), str(DATA / "Pool.dot")).stdout
        assert "Return(i1)" in shown

    def test_a_corpus_of_edges_gives_the_constants(self, tmp_path: Path) -> None:
        corpus = {
            "model": "small",
            "constants": {"Worker": ["w1"], "MaxTerm": 1, "ChecksTerm": True},
            "variables": ["term", "held", "last"],
            "actions": ["Grant", "Write", "GiveUp"],
            "states": [
                {"term": 0, "held": {"#map": [["w1", 0]]}, "last": 0},
                {"term": 1, "held": {"#map": [["w1", 1]]}, "last": 0},
            ],
            "sources": [{"state": 0, "successors": [["Grant", 1, 1, {"w": "w1"}]]}],
        }
        (tmp_path / "small.json").write_text(json.dumps(corpus))
        found = kmc("conform", str(LEASE), str(tmp_path / "small.json"))
        assert (found.exit_code, "MaxTerm = 1" in found.stdout) == (0, True)
        corpus["variables"], corpus["states"] = ["term"], [{"term": 0}, {"term": 1}]
        (tmp_path / "small.json").write_text(json.dumps(corpus))
        refused = kmc("conform", str(LEASE), str(tmp_path / "small.json"))
        assert (refused.exit_code, "error[KMC441]" in refused.stderr) == (151, True)

    @pytest.mark.parametrize(
        "text",
        [
            "strict digraph DiskGraph {\n}",
            'strict digraph DiskGraph {\n1 [label="x = 1"]\n1 -> 1 [label="",color="black"];\n}',
            'strict digraph DiskGraph {\n1 [label="x = 1"]\n1 -> 2 [label="Next"];\n}',
            'strict digraph DiskGraph {\n1 [label="x = {"]\n}',
        ],
    )
    def test_another_file_than_a_dump_is_refused(self, text: str, tmp_path: Path) -> None:
        (tmp_path / "wrong.dot").write_text(text)
        refused = kmc("conform", POOL, str(tmp_path / "wrong.dot"))
        assert (refused.exit_code, refused.stdout) == (151, "")
        assert "error[KMC443]" in refused.stderr
        assert "-dump dot,actionlabels FILE" in refused.stderr

    def test_the_engine_of_a_module_is_the_interpreter(self) -> None:
        refused = kmc("conform", POOL, str(DATA / "Pool.dot"), "--engine", "native")
        assert "error[KMC697]: --engine cannot be used" in refused.stderr
        assert kmc("conform", POOL, str(DATA / "Pool.cfg")).exit_code == 2


@pytest.mark.slow
def test_a_benchmark_of_a_module_has_its_runs_and_their_figures(tmp_path: Path) -> None:
    words = ("bench", POOL, str(DATA / "PoolView.cfg"), "--runs", "1", "--out", str(tmp_path))
    ran = kmc(*words)
    assert ran.exit_code == 0
    written = json.loads((tmp_path / "Pool-PoolView.json").read_text())
    assert (written["benchmark"], len(written["runs"]), written["states_asked"]) == ("Pool-PoolView", 1, 20_000)
    assert (written["python"]["generated"], written["python"]["distinct"]) == (25, 8)
    assert str(DATA) not in json.dumps(written)
    assert "interpreter" in ran.stdout
    refused = kmc("bench", POOL, "--threads", "2")
    assert (refused.exit_code, "error[KMC697]: --threads" in refused.stderr) == (2, True)
