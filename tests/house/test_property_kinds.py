"""The table of property kinds is complete, and what a kind is called stands in few files."""

from __future__ import annotations

import inspect
import io
import re
import tokenize
from dataclasses import fields
from functools import cache
from typing import Any

import pytest
from support.source_tree import sources

from kmc.engine.layout.kernel_interface import KernelTable
from kmc.frontend.checks.subset import DECORATORS
from kmc.frontend.model import Model
from kmc.invariants.kinds import KINDS, SHOWN, PropertyKind, Role, kind_of
from kmc.invariants.properties import Predicate
from kmc.model_files.model_file import ModelFile
from kmc.result import Trace, TraceStep, Verdict, Violation
from kmc.runtime.compiled_spec import SpecNames
from kmc.spec.declare import SpecFacade

NAMED_IN = {
    "action_property": {
        "kmc/checking/modules/checked_module.py",
        "kmc/checking/modules/module_counterexample.py",
        "kmc/engine/layout/record_structs.py",
        "kmc/engine/layout/search_outcome.py",
        "kmc/engine/loops/check_properties.py",
        "kmc/engine/stores/finding_log.py",
        "kmc/invariants/kinds.py",
        "kmc/invariants/properties.py",
        "kmc/runtime/compiled_spec.py",
        "kmc/spec/declare.py",
        "kmc/tla/translate/folder.py",
        "kmc/tla/translate/layout.py",
        "kmc/tla/translate/translator.py",
        "kmc/frontend/model.py",
        "kmc/frontend/checks/subset.py",
    },
    "reachable": {
        "kmc/checking/modules/checked_module.py",
        "kmc/compiler/passes/read_sets.py",
        "kmc/engine/violation_report.py",
        "kmc/engine/files/run_manifest.py",
        "kmc/engine/files/typed_json.py",
        "kmc/engine/layout/control_words.py",
        "kmc/engine/layout/kernel_interface.py",
        "kmc/engine/layout/search_outcome.py",
        "kmc/engine/loops/check_properties.py",
        "kmc/engine/search/breadth_first.py",
        "kmc/shards/search_counts.py",
        "kmc/engine/search/counters.py",
        "kmc/engine/search/level_maker.py",
        "kmc/invariants/kinds.py",
        "kmc/invariants/properties.py",
        "kmc/runtime/compiled_spec.py",
        "kmc/spec/declare.py",
        "kmc/frontend/binding.py",
        "kmc/frontend/model.py",
    },
}
"""The files whose code names a kind. Others loop over the table, or ask it for a role."""

WORDS = {"action_property": re.compile(r"(?i)action_?propert"), "reachable": re.compile(r"(?i)reachable")}

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


@cache
def names_in(source: str) -> set[str]:
    """The names of a file, and its strings that are one word."""
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    strings = {token.string.strip("\"'") for token in tokens if token.type == tokenize.STRING}
    return {token.string for token in tokens if token.type == tokenize.NAME} | {s for s in strings if s.isidentifier()}


@pytest.mark.parametrize("word", list(NAMED_IN))
def test_code_names_a_kind_only_where_its_meaning_is(word: str) -> None:
    # Names and strings stand in the text as they are, and finding them takes long.
    read = [source for source in sources("kmc") if WORDS[word].search(source.text)]
    found = {source.path for source in read if any(WORDS[word].search(name) for name in names_in(source.text))}
    assert found == NAMED_IN[word]


def test_every_class_of_predicates_has_one_row() -> None:
    assert sorted(kind.declared.__name__ for kind in KINDS) == sorted(
        cls.__name__ for cls in Predicate.__subclasses__()
    )


def test_role_and_number_of_states_tell_a_kind() -> None:
    assert [kind_of(kind.role, kind.states) for kind in KINDS] == list(KINDS)
    assert sorted(SHOWN, key=KINDS.index) == list(KINDS)


@kinds
def test_a_spec_declares_it(kind: PropertyKind) -> None:
    assert DECORATORS[kind.name] == "bare"
    assert inspect.getdoc(getattr(SpecFacade, kind.name))


@kinds
def test_a_model_and_a_compiled_spec_have_it(kind: PropertyKind) -> None:
    assert all(kind.field in {field.name for field in fields(cls)} for cls in (Model, SpecNames))
    assert set(kind.selected_by) <= {field.name for field in fields(ModelFile)}


@kinds
def test_the_engine_has_its_kernel(kind: PropertyKind) -> None:
    known = {field.name for field in fields(KernelTable)}
    assert kind.kernel in known
    assert (f"{kind.kernel}_count" in known) == (kind.role is not Role.BOUNDING)


@kinds
def test_only_a_violation_has_an_exit_status(kind: PropertyKind) -> None:
    state: Any = None
    trace = Trace((TraceStep(state),))
    violation = Violation(Verdict.VIOLATION, "P", trace, is_step=kind.states == 2)
    assert kind.exit_status == (violation.exit_status if kind.role is Role.CHECKED else None)
