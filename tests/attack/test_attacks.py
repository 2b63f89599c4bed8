"""The attack finds what it is made to find: faults planted in kmc, and it says how to repeat each failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from support.modules.protocol_modules import protocol_module

from attack import __main__ as command
from attack import damage, inputs, kills
from attack.checks import WAYS, SpecChecks
from attack.drawn_spec import Action, Claim, DrawnSpec, Temporal
from attack.kmc_runs import Run, run_here
from attack.modules_part import attack_modules
from attack.specs_part import keep
from kmc.reference import search
from kmc.reference.temporal import verdicts as temporal
from kmc.tla.translate.joined_branches import _Joiner

INTERPRETER = WAYS[0]
N = ("field", ("var", "st"), "n")
AFTER = ("field", ("var", "nxt"), "n")

CHAIN = DrawnSpec(
    idents=(("Server", ("s1", "s2"), False),),
    enums=(),
    records=(),
    fields=(("n", ("int", 0, 4)),),
    init=(("start", (("n", ("lit", 0, "0")),)),),
    actions=(Action("up", (), (("require", ("lt", N, 4)), ("yield", (("n", ("plus", N, 1)),)))),),
    deadlock=False,
)
"""A counter from 0 to 4."""

CONSTRAINED = replace(CHAIN, constraints=(Claim("Near0", ("lt", N, 3)),))
STEPPED = replace(CHAIN, steps=(Claim("Step0", ("lt", AFTER, 3)),))
REFUTED = replace(CHAIN, temporal=(Temporal("Live0", ("eventually", ("eq", N, 4))),))

FAULTS: dict[str, tuple[object, str, Callable[..., Any], DrawnSpec]] = {
    "constraints are not asked": (search.Search, "_in_model", lambda *_, **__: True, CONSTRAINED),
    "steps are not checked": (search.Search, "_check_step", lambda *_: None, STEPPED),
    "lassos are not found": (temporal.GraphFinder, "least", lambda *_: None, REFUTED),
}


def differences(spec: DrawnSpec, folder: Path) -> list[str]:
    """What is wrong with a spec in the interpreter."""
    return [each.what for each in SpecChecks(spec, folder).differences([INTERPRETER])]


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, attribute, fault, spec = FAULTS[name]
    assert differences(spec, tmp_path / "before") == []
    monkeypatch.setattr(owner, attribute, fault)
    assert len(differences(spec, tmp_path / "after")) == 1


@pytest.mark.slow
def test_a_failing_spec_is_kept_without_what_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search.Search, "_check_step", lambda *_: None)
    large = replace(STEPPED, invariants=(Claim("Inv0", ("le", N, 4)),), goals=(Claim("goal0", ("eq", N, 1)),), levels=9)
    (found,) = SpecChecks(large, tmp_path / "large").differences([INTERPRETER])
    keep(large, INTERPRETER, found, tmp_path / "kept")
    source = (tmp_path / "kept" / "spec.py").read_text()
    assert "Step0" in source
    assert not {"Inv0", "goal0"} & set(source.replace("(", " ").split())
    assert found.what in (tmp_path / "kept" / "difference.txt").read_text()


@pytest.mark.slow
def test_a_module_that_is_translated_wrongly_is_kept_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = _Joiner._joined
    monkeypatch.setattr(_Joiner, "_joined", lambda self, node, scope, values: joined(self, node, scope, values[::-1]))
    counts: list[int] = []
    assert attack_modules(36, counts.append, tmp_path / "kept")
    assert counts == [3]
    kept = (tmp_path / "kept" / "Protocol.tla").read_text()
    assert kept.count("\n") < protocol_module(36).module.count("\n") - 8
    assert (tmp_path / "kept" / "difference.txt").read_text()


def answering(status: int, out: str) -> Callable[..., Run]:
    """A kmc that says this to all but the first command."""
    words: list[tuple[str, ...]] = []

    def run(*given: str, **named: Any) -> Run:
        words.append(given)
        return run_here(*given, **named) if len(words) == 1 else Run(given, status, out, "")

    return run


def checks_counted(_: int) -> None:
    """Count nothing."""


@pytest.mark.slow
@pytest.mark.parametrize(("part", "seed"), [("damage", 1), ("inputs", 1)])
def test_an_answer_that_is_a_mistake_of_kmc_is_reported(part: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module, attack = {"damage": (damage, damage.attack_damage), "inputs": (inputs, inputs.attack_inputs)}[part]
    monkeypatch.setattr(module, "ROUNDS", 3)
    monkeypatch.setattr(module, "run_here", answering(255, "error[KMC900]: KeyError: 2"))
    found = attack(seed, checks_counted, None)
    assert len(found) == 3
    assert all("KMC900" in text for text in found)


def test_a_resumed_run_with_another_count_is_reported() -> None:
    alone = dict.fromkeys(kills.COMPARED, 1)
    run = Run((), 0, '{"result": 2}', "")
    assert kills.difference(alone, run) == "result: expected 1, got 2"


def test_a_failure_is_printed_with_the_command_that_repeats_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(command.PARTS, "inputs", (lambda seed, *_: ["it broke"] if seed == 6 else [], 1))
    found = CliRunner().invoke(
        command.main, ["--only", "inputs", "--seed", "5", "--count", "3", "--keep", str(tmp_path)]
    )
    assert found.exit_code == 1
    assert "it broke" in found.stdout
    assert "-m attack --only inputs --seed 6 --count 1" in found.stdout
    assert "--seed 5 --count 1" not in found.stdout


def test_an_attack_without_a_failure_exits_0(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(command.PARTS, "inputs", (lambda *_: [], 1))
    assert (
        CliRunner().invoke(command.main, ["--only", "inputs", "--count", "2", "--keep", str(tmp_path)]).exit_code == 0
    )


def test_ctrl_c_ends_the_attack_and_is_not_a_failure_of_kmc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(search.Search, "_explore", interrupted)
    arguments = ["--only", "specs", "--seed", "1", "--count", "2", "--keep", str(tmp_path)]
    found = CliRunner().invoke(command.main, arguments)
    assert found.exit_code == 130
    assert "FAILED" not in found.stdout


def interrupted(*_: object) -> None:
    """A search that is told to end."""
    raise KeyboardInterrupt
