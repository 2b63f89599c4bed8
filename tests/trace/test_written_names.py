"""Names and strings of TLA+ in ITF: whatever a trace has of both, it is read as it was."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.views.trace_samples import trees

from kmc.lang.tla import Tla, TlaMap, TlaRecord, TlaSeq, TlaSet, TlaText
from kmc.trace.itf import itf_text, parse_itf
from kmc.trace.untyped_trace import FileStep, TraceFile

WORDS = st.sampled_from(["a", "n1", "a_OF_MODEL_VALUES", "a_OF_MODEL_VALUES_OF_MODEL_VALUES"])
LEAVES = st.builds(lambda word, is_text: TlaText(word) if is_text else word, WORDS, st.booleans())


def kinds(tree: Tla) -> object:
    """Return a tree in which strings and names differ; Python finds them equal."""
    match tree:
        case bool() | int():
            return type(tree), tree
        case str():
            return isinstance(tree, TlaText), str(tree)
        case TlaSet(elements) | TlaSeq(elements):
            return type(tree), tuple(map(kinds, elements))
        case TlaMap(pairs):
            return type(tree), tuple((kinds(key), kinds(value)) for key, value in pairs)
        case TlaRecord(fields):
            return type(tree), tuple((name, kinds(value)) for name, value in fields)


@pytest.mark.slow
@given(st.lists(trees(st.integers(), LEAVES), min_size=1, max_size=3), LEAVES)
def test_names_and_strings_are_read_back(values: list[Tla], argument: str) -> None:
    steps = tuple(FileStep({"x": value}, "Go" if i else None, (("k", argument),) if i else ())
                  for i, value in enumerate((*values, TlaText("end"))))  # fmt: skip
    read = parse_itf(itf_text(TraceFile(("x",), steps)))
    assert [kinds(step.variables["x"]) for step in read.steps] == [kinds(step.variables["x"]) for step in steps]
    assert [kinds(value) for step in read.steps for _, value in step.arguments] == [kinds(argument)] * len(values)


def test_a_trace_without_strings_is_written_as_before() -> None:
    document = json.loads(itf_text(TraceFile(("x",), (FileStep({"x": "n1"}),))))
    assert "kmc-names" not in document["#meta"]
    assert document["states"][0]["x"] == "n1"
