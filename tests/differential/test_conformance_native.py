"""Conformance of the compiled kernels: they are the TLA+ specs edge by edge too, and every planted fault is found."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.faults.corpora import (
    CORPORA,
    EDGES,
    KIP_996,
    KIP_996_CORPORA,
    KRAFT,
    MUTATIONS,
    Document,
    excerpt,
    fires,
    found,
    mutant,
    written,
)
from support.faults.corpus_files import change_a_successor, corpus_with

from kmc.actions.action import Action, Arguments, instances_of
from kmc.engine import kernel_steps
from kmc.engine.kernel_steps import compiled_steps
from kmc.errors import EvaluationError, InternalError
from kmc.reference.conformance.edges import ConformanceReport, conform
from kmc.runtime.codec import encode_row

SAMPLE = 20


def counted(report: ConformanceReport) -> tuple[int, int, int]:
    """What a report says was compared."""
    return report.sources, report.edges, report.generated


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPORA)
def test_no_edge_of_kraft_differs_from_tlc(name: str) -> None:
    report = conform(KRAFT, EDGES / f"{name}.json.gz", engine=compiled_steps)
    assert (report.differences[:3], counted(report)) == ((), CORPORA[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", KIP_996_CORPORA)
def test_no_edge_of_a_sample_of_kip_996_differs_from_tlc(name: str) -> None:
    report = conform(KIP_996, EDGES / f"{name}.json.gz", limit=SAMPLE, engine=compiled_steps)
    assert (report.differences[:3], report.sources, report.edges > SAMPLE) == ((), SAMPLE, True)


@pytest.mark.golden_large
@pytest.mark.parametrize("name", KIP_996_CORPORA)
def test_no_edge_of_kip_996_differs_from_tlc(name: str) -> None:
    report = conform(KIP_996, EDGES / f"{name}.json.gz", engine=compiled_steps)
    assert (report.differences[:3], counted(report)) == ((), KIP_996_CORPORA[name])


@pytest.fixture(scope="module")
def whole() -> Document:
    document: Document = json.loads(gzip.decompress((EDGES / "kraft-a.json.gz").read_bytes()))
    return document


@pytest.mark.parametrize("fault", ["ways of a guard counted once", "a message that is never sent"])
@pytest.mark.slow
def test_a_fault_of_the_spec_is_the_difference_that_the_interpreter_shows(
    fault: str, whole: Document, tmp_path: Path
) -> None:
    mutation = MUTATIONS[fault]
    root = mutant(tmp_path, mutation.file, mutation.old, mutation.new)
    corpus = written(tmp_path, excerpt(whole, fires(mutation.action), 20))
    report = conform(root, corpus, engine=compiled_steps)
    assert mutation.expected in found(report)
    assert report.differences == conform(root, corpus).differences


@pytest.mark.slow
def test_arguments_that_the_kernels_mix_up_are_a_difference(
    whole: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mixed_up(actions: tuple[Action, ...]) -> list[tuple[Action, Arguments]]:
        return [(action, arguments[::-1]) for action, arguments in instances_of(actions)]

    corpus = written(tmp_path, excerpt(whole, fires("SendFetchRequest"), 4))
    assert conform(KRAFT, corpus, engine=compiled_steps).conforms
    monkeypatch.setattr(kernel_steps, "instances_of", mixed_up)
    shown = found(conform(KRAFT, corpus, engine=compiled_steps))
    assert {("SendFetchRequest", "missing"), ("SendFetchRequest", "extra")} <= shown


@pytest.mark.slow
def test_rows_that_lose_something_are_an_error(
    whole: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = written(tmp_path, excerpt(whole, fires("BecomeLeader"), 1))
    encode = encode_row

    def forgetful(state: Any) -> list[int]:
        return encode(state.set(election_ctr=0))

    monkeypatch.setattr(kernel_steps, "encode_row", forgetful)
    with pytest.raises(InternalError, match="does not come back from its row") as caught:
        conform(KRAFT, corpus, engine=compiled_steps)
    assert caught.value.code == "KMC926"


@pytest.mark.slow
def test_an_action_that_fails_names_the_state(whole: Document, tmp_path: Path) -> None:
    root = mutant(tmp_path, "actions.py", "election_ctr=st.election_ctr + 1", "election_ctr=st.election_ctr + 99")
    corpus = written(tmp_path, excerpt(whole, fires("RequestVote"), 1))
    with pytest.raises(EvaluationError, match="'election_ctr' of State") as caught:
        conform(root, corpus, engine=compiled_steps)
    assert any(note.startswith("from state ") for note in caught.value.notes)


@pytest.mark.slow
def test_a_step_that_fails_in_compiled_code_alone_is_a_mistake_of_kmc(
    whole: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = mutant(tmp_path, "actions.py", "election_ctr=st.election_ctr + 1", "election_ctr=st.election_ctr + 99")
    corpus = written(tmp_path, excerpt(whole, fires("RequestVote"), 1))
    monkeypatch.setattr(kernel_steps, "interpreted_steps", lambda spec: lambda state: iter(()))
    with pytest.raises(InternalError, match="fails where the interpreter finds no error") as caught:
        conform(root, corpus, engine=compiled_steps)
    assert caught.value.code == "KMC921"


@pytest.mark.slow
def test_the_command_shows_a_difference_of_the_native_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = kmc("conform", "kraft", corpus_with(change_a_successor), "--engine", "native")
    rows = [line.split() for line in ran.stdout.splitlines()]
    assert (ran.exit_code, "engine native" in ran.stdout) == (12, True)
    assert [row for row in rows if row[:1] == ["electionCtr"]]


@pytest.mark.slow
def test_the_command_says_which_engine_it_compared() -> None:
    ran = kmc("conform", "kraft", str(EDGES / "kraft-b.json.gz"), "--limit", "5", "--engine", "native", "--json")
    assert (ran.exit_code, json.loads(ran.stdout)["engine"]) == (0, "native")
