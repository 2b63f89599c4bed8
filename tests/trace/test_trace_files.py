"""Trace files and specs: which format a file has, what a file says of a check, and the state that `--from` picks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.views.trace_samples import DATA, kinds, kraft

from kmc.errors import TraceError
from kmc.lang.tla import Tla
from kmc.model_files.model_file import render_cfg
from kmc.result import TraceStep
from kmc.trace.files import pick, pick_state, read_trace, to_trace, trace_file
from kmc.trace.itf import itf_text
from kmc.trace.text import render
from kmc.trace.tlc_json import tlc_json_text


@pytest.fixture
def itf_path(tmp_path: Path) -> Path:
    """The counterexample of KRaft with a restart, 7 states, in ITF."""
    path = tmp_path / "restart.json"
    path.write_text(itf_text(kraft().file), encoding="utf-8")
    return path


@pytest.fixture
def tlc_path(tmp_path: Path) -> Path:
    """The same in TLC's JSON."""
    path = tmp_path / "restart.itf.json"  # a misleading name on purpose
    path.write_text(tlc_json_text(kraft().file), encoding="utf-8")
    return path


def test_an_itf_file_is_known_by_its_content(itf_path: Path) -> None:
    assert to_trace(read_trace(itf_path), kraft().spec) == kraft().trace


def test_a_file_of_tlc_is_known_by_its_content(tlc_path: Path) -> None:
    assert to_trace(read_trace(tlc_path), kraft().spec) == kraft().trace


def test_a_file_with_a_byte_order_mark_is_read(itf_path: Path) -> None:
    itf_path.write_bytes(b"\xef\xbb\xbf" + itf_path.read_bytes())
    assert len(read_trace(itf_path).steps) == 7


def test_a_file_knows_where_it_was_read(itf_path: Path) -> None:
    assert read_trace(itf_path).path == str(itf_path)


def test_what_is_known_about_the_check_is_kept() -> None:
    sample = kraft()
    assert dict(sample.file.about) == {
        "spec": "kraft",
        "model": "smoke",
        "status": "violation",
        "property": "NoIllegalState",
        "constants": render_cfg(sample.model.file),
        "digest": sample.model.digest,
        "kmc_version": sample.file.about["kmc_version"],
    }


def test_no_property_is_named_when_none_was_violated() -> None:
    sample = kinds()
    assert "property" not in trace_file(sample.trace, sample.model, "deadlock").about


def test_the_variables_stand_in_the_order_of_the_specs_table() -> None:
    file = trace_file(kinds().trace, kinds().model, "deadlock")
    assert file.variables == tuple(file.steps[0].variables)


def test_a_lasso_is_written_with_its_closing_step() -> None:
    sample = kraft()
    closing = replace(sample.trace.steps[4], state=sample.trace.steps[1].state)
    file = trace_file(sample.trace, sample.model, "liveness", loop=1, closing=closing)
    assert [line.text for line in render(file, changed_only=True)][-1] == "Back to state 2: <Restart(n2)>"


def test_a_file_without_a_spec_can_be_printed(tlc_path: Path) -> None:
    lines = [line.text for line in render(read_trace(tlc_path), changed_only=True)]
    assert "* /\\ votesGranted = [..., n1 |-> <<n1, n2>>]" in lines


def test_the_default_state_is_the_last(itf_path: Path) -> None:
    assert pick_state(str(itf_path), kraft().spec) == kraft().trace.steps[-1].state


@pytest.mark.parametrize("number", [1, 3, 7])
def test_states_are_picked_by_their_number_from_1(itf_path: Path, number: int) -> None:
    assert pick_state(f"{itf_path}#{number}", kraft().spec) == kraft().trace.steps[number - 1].state


def test_a_state_of_a_file_of_tlc_is_picked(tlc_path: Path) -> None:
    assert pick_state(f"{tlc_path}#3", kraft().spec) == kraft().trace.steps[2].state


def test_a_path_may_hold_the_sign_that_separates_the_step(tmp_path: Path) -> None:
    path = tmp_path / "run#2"
    path.write_text(itf_text(kraft().file), encoding="utf-8")
    assert [pick(str(path))[1], pick(f"{path}#2")[1]] == [7, 2]


@pytest.mark.parametrize("step", ["0", "8", "-1", "x", "", "1.0", "99999999999999999999"])
def test_a_step_that_is_not_in_the_trace_is_refused(itf_path: Path, step: str) -> None:
    with pytest.raises(TraceError) as caught:
        pick_state(f"{itf_path}#{step}", kraft().spec)
    assert (caught.value.code, caught.value.message) == ("KMC425", f"'{itf_path}' has no state '{step}'")
    assert caught.value.help == f"write {itf_path}#N with N in 1..7"


def test_a_picked_state_needs_no_known_action(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(itf_text(kraft().file).replace('"mbt::actionTaken": "Restart"', '"mbt::actionTaken": "Reboot"'))
    assert pick_state(f"{path}#5", kraft().spec) == kraft().trace.steps[4].state


def test_a_trace_without_actions_has_its_states(tmp_path: Path) -> None:
    document = json.loads(itf_text(kraft().file))
    document["vars"] = [name for name in document["vars"] if not name.startswith("mbt::")]
    document["states"] = [
        {name: value for name, value in state.items() if not name.startswith("mbt::")} for state in document["states"]
    ]
    path = tmp_path / "trace.itf.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    steps = [TraceStep(step.state, None, "Next") for step in kraft().trace.steps[1:]]
    assert to_trace(read_trace(path), kraft().spec).steps == (TraceStep(kraft().trace.steps[0].state), *steps)


def test_the_sample_of_tlc_is_read_from_its_file() -> None:
    assert len(to_trace(read_trace(DATA / "tlc-three-states.json"), kraft().spec)) == 3


@pytest.mark.parametrize(
    "given",
    [
        (("i", "n1"), ("v", "v1")),
        (("v", "v1"), ("i", "n1")),
        (("m", "n1"), ("value", "v1")),
        (("extra", 3), ("v", "v1"), ("i", "n1")),
    ],
)
def test_arguments_are_taken_by_name_or_by_position(given: tuple[tuple[str, Tla], ...]) -> None:
    sample = kraft()
    steps = [*sample.file.steps]
    steps[1] = replace(steps[1], action="ClientRequest", arguments=given)
    step = to_trace(replace(sample.file, steps=tuple(steps)), sample.spec).steps[1]
    assert [(name, str(value)) for name, value in step.arguments] == [("i", "n1"), ("v", "v1")]
    assert step.label == "ClientRequest(n1, v1)"
