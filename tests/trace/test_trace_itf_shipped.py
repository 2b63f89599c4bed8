"""A driver that reads traces with itf-py gets, of every shipped model, all states, actions and arguments."""

from __future__ import annotations

import json
from collections import Counter, namedtuple
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import itf_py
import pytest
from support.views.trace_samples import from_itf_py, in_python

from kmc.actions.relation import NextStateRelation
from kmc.frontend.binding import bind
from kmc.frontend.shipped import manifest_of, shipped_specs
from kmc.model_files.model_file import ModelFile
from kmc.reference.states.initial import initial_states
from kmc.reference.states.traces import trace_step
from kmc.result import Trace, TraceStep
from kmc.trace.files import FileStep, TraceFile, trace_file
from kmc.trace.itf import itf_text

STATES = 25


def walk(root: Path, file: ModelFile) -> TraceFile:
    """A trace of `file` that takes, wherever it can, an action that it has taken least often."""
    model = bind(root, file)
    relation = NextStateRelation(model.spec.actions, model.spec.state_class, model.spec.files)
    steps = [TraceStep(initial_states(model)[0])]
    taken: Counter[str] = Counter()
    while len(steps) < STATES and (found := list(relation.steps(steps[-1].state))):
        least = min(taken[action.title] for action, _, _ in found)
        step = min([step for step in found if taken[step[0].title] == least], key=relation.display_key)
        taken[step[0].title] += 1
        steps.append(trace_step(step))
    return trace_file(Trace(tuple(steps)), model, "ok")


def models() -> list[object]:
    """Every model of every shipped spec."""
    manifests = [(name, root, manifest_of(root)) for name, root in shipped_specs().items()]
    return [
        pytest.param(root, file, id=f"{name}-{model}")
        for name, root, manifest in manifests
        if manifest is not None
        for model, file in manifest.models.items()
    ]


@pytest.fixture(scope="module", autouse=True)
def _classes_of_records_made_once() -> Iterator[None]:
    """Let itf-py make one class for all records of the same fields, where it makes one for each record.

    It adds to the classes of variants, so these are still made each time.
    """
    made_once = cache(namedtuple)

    def made(name: str, fields: Iterable[str]) -> type:
        return made_once(name, tuple(fields)) if name == "Rec" else namedtuple(name, fields)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("itf_py.itf.namedtuple", made)
        yield


def read_by_itf_py(file: TraceFile) -> itf_py.Trace:
    """The trace as itf-py reads it from a file."""
    return itf_py.trace_from_json(json.loads(itf_text(file)))


@pytest.mark.slow
@pytest.mark.parametrize(("root", "model"), models())
def test_itf_py_reads_every_state_and_every_action_with_its_arguments_and_message(root: Path, model: ModelFile) -> None:
    file = walk(root, model)
    states = read_by_itf_py(file).states
    read = [{name: from_itf_py(state.values[name]) for name in file.variables} for state in states]
    assert read == [{name: in_python(value) for name, value in step.variables.items()} for step in file.steps]
    taken = [(s.values["mbt::actionTaken"], from_itf_py(s.values["mbt::nondetPicks"])) for s in states[1:]]
    assert taken == [(step.action, ("record", picks_of(step))) for step in file.steps[1:]]


def picks_of(step: FileStep) -> tuple[tuple[str, object], ...]:
    """The arguments of a step, and the message that it received."""
    message = () if step.message is None else (("message", in_python(step.message)),)
    return (*((name, in_python(value)) for name, value in step.arguments), *message)
