"""A corpus is read as it stands, and what is wrong in one is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kmc.errors import TraceError
from kmc.lang.tla import TlaSet
from kmc.model_files.raw_values import ModelValue, RawSet
from kmc.reference.conformance.corpus import Edge, SourceState, raw_text, read_corpus

DOCUMENT: dict[str, Any] = {
    "model": "small",
    "constants": {"Server": ["a", "b"], "Limit": 3, "Deep": [["a"], []], "Fast": True, "Who": "a"},
    "variables": ["x", "y"],
    "actions": ["Go", "Stop"],
    "states": [{"x": 1, "y": {"#set": [1, 2]}}, {"x": 2, "y": {"#set": []}}],
    "sources": [
        {"state": 1, "successors": [["Go", 0, 1, {"k": 1, "by": "a"}], ["Stop", 1, 2, None]]},
        {"state": 0, "successors": []},
    ],
}


def written(folder: Path, document: Any, *, packed: bool = False) -> Path:
    """The file of a corpus."""
    path = folder / "small.json"
    data = json.dumps(document).encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_a_corpus_has_the_parts_of_its_file(packed: bool, tmp_path: Path) -> None:
    path = written(tmp_path, DOCUMENT, packed=packed)
    corpus = read_corpus(path)
    assert (corpus.path, corpus.model) == (path, "small")
    assert (corpus.variables, corpus.actions) == (("x", "y"), ("Go", "Stop"))
    a, b = ModelValue("a"), ModelValue("b")
    assert [(given.name, given.value) for given in corpus.constants] == [
        ("Server", RawSet((a, b))),
        ("Limit", 3),
        ("Deep", RawSet((RawSet((a,)), RawSet(())))),
        ("Fast", True),
        ("Who", a),
    ]
    assert {(given.span.path, given.span.line) for given in corpus.constants} == {(str(path), 1)}
    assert corpus.states == ({"x": 1, "y": {"#set": [1, 2]}}, {"x": 2, "y": {"#set": []}})
    assert corpus.variables_of(0) == {"x": 1, "y": TlaSet((1, 2))}
    assert corpus.sources == (
        SourceState(1, (Edge("Go", (("by", '"a"'), ("k", "1")), 0, 1), Edge("Stop", (), 1, 2))),
        SourceState(0, ()),
    )


def test_a_corpus_without_a_name_is_called_like_its_file(tmp_path: Path) -> None:
    assert read_corpus(written(tmp_path, {**DOCUMENT, "model": 7})).model == "7"
    unnamed = {key: value for key, value in DOCUMENT.items() if key != "model"}
    assert read_corpus(written(tmp_path, unnamed)).model == "small.json"


def source_with(*successors: Any, state: Any = 0) -> list[Any]:
    """The sources: a good one, and this."""
    return [DOCUMENT["sources"][0], {"state": state, "successors": [*successors]}]


BROKEN: list[tuple[dict[str, Any], str]] = [
    ({"states": 3}, "'states' is not a list"),
    ({"sources": {}}, "'sources' is not a list"),
    ({"variables": None}, "'variables' is not a list"),
    ({"actions": "Go"}, "'actions' is not a list"),
    ({"states": [{}, [1]]}, "state 1 is not an object"),
    ({"variables": ["x", 1]}, "'variables' holds something that is not a name"),
    ({"actions": [None]}, "'actions' holds something that is not a name"),
    ({"constants": []}, "'constants' is not an object"),
    ({"constants": {"C": None}}, "constant 'C' is null"),
    ({"constants": {"C": [1.5]}}, "constant 'C' is 1.5"),
    ({"constants": {"C": {"b": 1, "a": 2}}}, """constant 'C' is {"a":2,"b":1}"""),
    ({"constants": {"C": ["a", "a"]}}, "constant 'C': "),
    ({"sources": source_with(state=2)}, "source 1 is not a state's number with its successors"),
    ({"sources": source_with(state=-1)}, "source 1 is not a state's number with its successors"),
    ({"sources": source_with(state="0")}, "source 1 is not a state's number with its successors"),
    ({"sources": [{"state": 0}]}, "source 0 is not a state's number with its successors"),
    *(
        ({"sources": source_with(edge)}, f"source 1 has the successor {json.dumps(edge, separators=(',', ':'))}, not ")
        for edge in (
            ["Go", 2, 1, None], ["Go", -1, 1, None], ["Go", 0, 0, None], ["Go", 0, 1, []], [1, 0, 1, None],
            ["Go", 0, 1], ["Go", 0, "1", None], "Go",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("change", "what"), BROKEN)
def test_what_is_not_a_corpus_is_refused_with_the_place(change: dict[str, Any], what: str, tmp_path: Path) -> None:
    path = written(tmp_path, {**DOCUMENT, **change})
    with pytest.raises(TraceError) as caught:
        read_corpus(path)
    assert caught.value.code == "KMC432"
    assert caught.value.message.startswith(f"{path} is not a corpus: {what}")


def test_a_file_of_another_kind_is_not_a_corpus(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is not a corpus: it is not a JSON object"):
        read_corpus(written(tmp_path, [1]))


def test_a_value_of_a_state_that_is_none_names_the_state(tmp_path: Path) -> None:
    path = written(tmp_path, {**DOCUMENT, "states": [{"x": 1}, {"x": {"#odd": 1}}]})
    with pytest.raises(TraceError) as caught:
        read_corpus(path).variables_of(1)
    assert (caught.value.code, caught.value.notes) == ("KMC433", (f"in state 1 of {path}",))


def test_the_text_of_a_record_does_not_depend_on_the_order_of_its_fields() -> None:
    assert raw_text({"b": {"d": 1, "c": 2}, "a": 3}) == raw_text({"a": 3, "b": {"c": 2, "d": 1}})
    assert raw_text({"b": [1, 2], "a": "x"}) == '{"a":"x","b":[1,2]}'
