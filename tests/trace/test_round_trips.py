"""A trace keeps its states, actions and cycle on its way through both formats of files."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kmc.frontend.loader import Spec, load_spec
from kmc.frontend.shipped import find_spec_root
from kmc.model_files.cfg import parse_cfg
from kmc.trace.files import read_trace, resolved
from kmc.trace.itf import itf_text, parse_itf
from kmc.trace.tlc_json import parse_tlc_json, tlc_json_text
from kmc.trace.untyped_trace import TraceFile

DATA = Path(__file__).parents[1] / "data" / "views"
NAMES = ["own_vote_elects", "no_check_quorum", "no_fetches", "broken"]


@cache
def spec_of(name: str) -> Spec:
    """The spec of a trace, with its constants."""
    about = read_trace(DATA / f"{name}.itf.json").about
    return load_spec(find_spec_root(about["spec"]), parse_cfg(about["constants"], name).constants)


def anonymous(file: TraceFile) -> TraceFile:
    """The trace without what TLC's JSON does not hold: who made it; and without places in the spec, which ITF lacks."""
    steps = tuple(replace(step, location=None) for step in file.steps)
    closing = replace(file.closing, location=None) if file.closing is not None else None
    return replace(file, about={}, steps=steps, closing=closing)


@pytest.mark.parametrize("name", NAMES)
def test_itf_comes_back_from_tlcs_json(name: str) -> None:
    first = anonymous(read_trace(DATA / f"{name}.itf.json"))
    there = resolved(parse_tlc_json(tlc_json_text(first)), spec_of(name))
    back = parse_itf(itf_text(there))
    assert back == first
    assert itf_text(back) == itf_text(first)


@pytest.mark.parametrize("name", NAMES)
def test_tlcs_json_comes_back_from_itf(name: str) -> None:
    first = tlc_json_text(anonymous(read_trace(DATA / f"{name}.itf.json")))
    typed = resolved(parse_tlc_json(first), spec_of(name))
    back = anonymous(resolved(parse_itf(itf_text(typed)), spec_of(name)))
    assert tlc_json_text(back) == first
