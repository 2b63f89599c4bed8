"""Searches that know states by 128 bits: the same counts, also where 64 bits are too few to tell states apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.commands.cli_runner import kmc
from support.specs.golden import golden_cases, outcome
from support.specs.shipped import shipped_model
from support.specs.wide import model_named

from kmc.checking.collision_odds import collision_warnings
from kmc.compiler import compile_spec
from kmc.compiler.ir import build as x
from kmc.compiler.ir.nodes import CallKernel, Const, Function, Module, Return, Var
from kmc.compiler.model_kernels import Kernels, build_kernels
from kmc.engine.check_model import check_native
from kmc.engine.collision_bound import collision_bound
from kmc.engine.compiled_model import compile_model
from kmc.engine.layout.search_outcome import SearchOutcome, Settings
from kmc.engine.search.breadth_first import Search
from kmc.frontend.model import Model
from kmc.reference.states.initial import initial_states
from kmc.result import Limits

SMALL = 20_000
CASES = [case for case in golden_cases("kraft") if case.expect.get("distinct", SMALL) < SMALL]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_golden_counts_come_out(case: Any) -> None:
    result = check_native(case.model(), Limits(), threads=2, fingerprint_bits=128)
    assert outcome(result, case.expect) == case.expect


def searched(model: Model, bits: int, settings: Settings) -> SearchOutcome:
    """A search of a model whose fingerprints have this many bits."""
    compiled = compile_model(model, bits)
    records = [compiled.record(state) for state in initial_states(model)]
    return Search(compiled.kernels, records, replace(settings, deadlock=model.deadlock)).run()


def weakened(kernels: Kernels) -> Kernels:
    """Kernels whose fingerprints have a first word of 10 bits only."""
    weak = Function(
        "identity",
        ("row",),
        (),
        (
            CallKernel("full", "strong", (("row", x.ZERO),), ()),
            Return(x.binary("or", x.binary("and", Var("full"), Const(-1 << 54)), x.ONE)),
        ),
        frozenset({"row"}),
    )
    functions = [
        replace(function, name="strong") if function.name == "identity" else function
        for function in kernels.module.functions
    ]
    return replace(kernels, module=Module((*functions, weak)))


@pytest.fixture
def weak_first_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(model: Model, **options: Any) -> Kernels:
        return weakened(build_kernels(model, **options))

    monkeypatch.setattr(compile_spec, "build_kernels", build)


MODELS: dict[str, tuple[Callable[[], Model], int]] = {
    "plain": (lambda: shipped_model("kraft", "smoke"), 10_468),
    "symmetry": (lambda: model_named("kraft", "standard"), 36_862),
}


@pytest.mark.slow
@pytest.mark.usefixtures("weak_first_words")
@pytest.mark.parametrize("name", MODELS)
def test_a_first_word_that_is_weak_loses_states_with_64_bits(name: str) -> None:
    made, distinct = MODELS[name]
    assert searched(made(), 64, Settings()).distinct < distinct // 10


@pytest.mark.slow
@pytest.mark.usefixtures("weak_first_words")
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_first_word_that_is_weak_loses_none_with_128_bits(name: str, threads: int) -> None:
    made, distinct = MODELS[name]
    # The table grows many times; schedule_seed let threads meet at the same slots.
    settings = Settings(threads=threads, table_slots=64, chunk_rows=16, schedule_seed=7 if threads > 1 else None)
    assert searched(made(), 128, settings).distinct == distinct


@pytest.mark.slow
@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_view_that_forgets_keeps_one_state_of_each(weak: bool, threads: int, request: pytest.FixtureRequest) -> None:
    model = replace(model_named("kraft", "upstream"), invariants=())
    limits = Limits(depth=11)
    wanted = searched(model, 64, Settings(limits=limits))
    if weak:
        request.getfixturevalue("weak_first_words")
    found = searched(model, 128, Settings(threads=threads, limits=limits, table_slots=64, chunk_rows=16))
    assert (found.generated, found.levels, found.generated_by_action) == (
        wanted.generated,
        wanted.levels,
        wanted.generated_by_action,
    )
    assert wanted.distinct > 1_000


def test_the_bound_is_that_of_128_bits() -> None:
    assert collision_bound(10**9, 64) == pytest.approx(10**18 / 2**65)
    assert collision_bound(10**9, 128) == pytest.approx(10**18 / 2**129)


@pytest.mark.slow
def test_the_command_takes_the_width_and_says_it() -> None:
    done = kmc("check", "kraft", "smoke", "--fingerprint-bits", "128", "--no-run-dir")
    assert (done.exit_code, "128-bit fingerprints" in done.stdout) == (0, True)


def test_a_bound_that_is_too_high_is_a_warning_with_the_command_to_type() -> None:
    result = check_native(shipped_model("die_hard", "solution"), Limits())
    command = "kmc check kraft large --fingerprint-bits 128"
    assert collision_warnings(replace(result, collision_bound=0.0009), command) == ()
    (warning,) = collision_warnings(replace(result, collision_bound=0.02), command)
    assert "at most 1 in 50." in warning
    assert warning.endswith(command)


def test_128_bits_warn_of_nothing() -> None:
    result = check_native(shipped_model("die_hard", "solution"), Limits(), fingerprint_bits=128)
    assert collision_warnings(replace(result, collision_bound=0.02), "kmc check") == ()


@pytest.mark.slow
def test_a_run_that_was_cut_short_goes_on_with_its_width(tmp_path: Path) -> None:
    runs = ("--run-dir", str(tmp_path))
    cut = kmc("check", "kraft", "smoke", "--fingerprint-bits", "128", "--max-states", "2000", "--json", *runs)
    assert (cut.exit_code, json.loads(cut.stdout)["fingerprint_bits"]) == (20, 128)
    (folder,) = tmp_path.iterdir()
    done = json.loads(kmc("check", "--resume", str(folder), "--json").stdout)
    found = {key: done[key] for key in ("result", "generated", "distinct", "depth", "fingerprint_bits")}
    assert found == {"result": "ok", "generated": 23_167, "distinct": 10_468, "depth": 30, "fingerprint_bits": 128}
