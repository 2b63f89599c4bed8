"""Compiled kernels take the interpreter's steps, state by state: every shipped spec and every example of the language.

States come from breadth-first levels and from random walks that go deep. For each, `native_steps.differences` compares
the successors with their hashes, and the masks of all properties.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.oracles.steps import Kernels, differences, kernels_of, level_states, walk_states
from support.pages.language import RUN, Example
from support.pages.language import model_of as example_model
from support.specs.corners import CORNERS
from support.specs.shipped import shipped_model, shuffle_entries
from support.specs.small import model_of as small_model

from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.model_kernels import build_kernels
from kmc.frontend.binding import bind_all
from kmc.frontend.shipped import find_spec_root, manifest_of
from kmc.model_files.value_text import parse_set
from kmc.result import Limits
from kmc.runtime.codec import encode_row
from kmc.runtime.state_layout import row_layout


def assert_same(kernels: Kernels, states: list[Any]) -> None:
    """No difference, in enough states for that to mean something."""
    assert len(states) > 0
    assert list(differences(kernels, states))[:3] == []


SHIPPED = [
    ("die_hard", "solution"),
    ("two_phase_commit", "smoke"),
    ("kraft", "smoke"),
    ("kraft", "corrected"),
    ("kraft", "restarts_two_leaders"),
    ("kraft", "standard"),
    ("kip_996", "smoke"),
    ("kip_996", "reconfiguration"),
    ("kip_996_draft", "smoke"),
    ("kip_996_draft", "with_reason"),
    ("kip_996_draft", "acked_value_lost"),
    ("kip_642", "plain_two_servers"),
    ("kip_642", "pair_failures"),
]


OPTIMISED = {
    ("kraft", "corrected"),
    ("kip_996", "reconfiguration"),
    ("kip_996_draft", "acked_value_lost"),
    ("kip_642", "pair_failures"),
}
"""Optimising the kernels of a shipped spec takes ten times as long as the rest of its test: one of each has it.

All examples and corners of the language are optimised.
"""


def shipped_parameters() -> list[Any]:
    """These, and with `make golden` all other models of kip_642, which has no TLA+ original to be compared with."""
    manifest = manifest_of(find_spec_root("kip_642"))
    assert manifest is not None
    others = [("kip_642", name) for name in manifest.models if ("kip_642", name) not in SHIPPED]
    return [*SHIPPED, *(pytest.param(*model, marks=pytest.mark.golden_large) for model in others)]


@pytest.mark.slow
@pytest.mark.parametrize(("spec", "name"), shipped_parameters())
def test_a_shipped_spec_takes_the_same_steps(spec: str, name: str, request: pytest.FixtureRequest) -> None:
    if (spec, name) in OPTIMISED:
        request.getfixturevalue("optimised_kernels")
    model = shipped_model(spec, name)
    states = level_states(model, Limits(states=400), at_most=120)
    states += walk_states(model, walks=6, depth=40, seed=1)
    assert_same(kernels_of(model), states)


def example_parameters() -> list[Any]:
    """The examples of the page that the interpreter runs."""
    return [pytest.param(example, id=f"{number}-{example.heading}") for number, example in enumerate(RUN)]


@pytest.mark.slow
@pytest.mark.usefixtures("optimised_kernels")
@pytest.mark.parametrize("example", example_parameters())
def test_an_example_of_the_language_takes_the_same_steps(example: Example, tmp_path: Path) -> None:
    model = example_model(example, tmp_path)
    assert_same(kernels_of(model), level_states(model, Limits(states=300), at_most=200))


@pytest.mark.slow
@pytest.mark.usefixtures("optimised_kernels")
@pytest.mark.parametrize("name", CORNERS)
def test_a_corner_of_the_language_takes_the_same_steps(name: str, tmp_path: Path) -> None:
    cfg, source = CORNERS[name]
    model = small_model(tmp_path, source, f"{cfg} CHECK_DEADLOCK FALSE")
    servers = [parse_set("Server={s1, s2}")] if cfg else []
    model = replace(model, invariants=bind_all(tmp_path / "spec.py", servers).invariants)
    states = level_states(model, Limits(states=400), at_most=200)
    # As Python first: it tells of a place that is not there, where machine code may read beyond a state.
    assert_same(Kernels(model, emit_python(build_kernels(model).module).call), states[:20])
    assert_same(kernels_of(model), states)


@pytest.mark.slow
def test_the_fingerprint_does_not_depend_on_the_order_of_messages() -> None:
    model = shipped_model("kraft", "smoke")
    kernels = kernels_of(model)
    layout = row_layout(model.spec.state_class)
    moved = 0
    for state in walk_states(model, walks=4, depth=40, seed=2):
        row = encode_row(state)
        shuffled = shuffle_entries(row, layout, random.Random(3))
        moved += shuffled != row
        assert kernels.identity(shuffled) == kernels.identity(row)
    assert moved > 20
