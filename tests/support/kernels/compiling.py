"""Compiling in less time: a model once in a test that searches it several times."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest
from support.oracles import steps

from kmc.compiler.model_kernels import Atoms
from kmc.engine import check_model, check_temporal
from kmc.engine.compiled_model import CompiledModel, compile_model
from kmc.frontend.model import Model


def compile_each_model_once(patch: pytest.MonkeyPatch) -> None:
    """Until the patch ends, `check_native`, `kernels_of` and `kept` share what was compiled of the same model.

    A search compiles a copy of its model, with premises that were made for it: models are the same if all else is. With
    temporal properties, those of the same problem are shared.
    """
    compiled: list[tuple[Model, int, Atoms | None, CompiledModel]] = []

    def once(
        model: Model, fingerprint_bits: int = 64, atoms: Atoms | None = None, *, at_once: bool = False
    ) -> CompiledModel:
        for known, bits, of_formulas, kept in compiled:
            if _is_same(known, model) and (bits, of_formulas) == (fingerprint_bits, atoms):
                return kept
        compiled.append(
            (model, fingerprint_bits, atoms, compile_model(model, fingerprint_bits, atoms, at_once=at_once))
        )
        return compiled[-1][3]

    modules = [check_model, check_temporal, steps]
    # Kept states are read with tables, whose libraries most tests need not load.
    if (kept := sys.modules.get("support.runs.kept")) is not None:
        modules.append(kept)
    for module in modules:
        patch.setattr(module, "compile_model", once)


def _is_same(known: Model, model: Model) -> bool:
    names = [[premise.name for premise in each.premises] for each in (known, model)]
    return names[0] == names[1] and replace(known, premises=()) == replace(model, premises=())
