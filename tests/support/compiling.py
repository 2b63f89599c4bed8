"""Compiling a model once in a test that searches it several times: lowering takes longer than most searches."""

from __future__ import annotations

import pytest
from support import native_steps

from kmc.engine import check_model
from kmc.engine.compiled_model import CompiledModel, compile_model
from kmc.spec.model import Model


def compile_each_model_once(patch: pytest.MonkeyPatch) -> None:
    """Until the patch ends, `check_native` and `kernels_of` share what was compiled of the same model object."""
    compiled: list[tuple[Model, int, CompiledModel]] = []

    def once(model: Model, fingerprint_bits: int = 64) -> CompiledModel:
        for known, bits, kept in compiled:
            if known is model and bits == fingerprint_bits:
                return kept
        compiled.append((model, fingerprint_bits, compile_model(model, fingerprint_bits)))
        return compiled[-1][2]

    for module in (check_model, native_steps):
        patch.setattr(module, "compile_model", once)
