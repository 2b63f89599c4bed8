"""Compiling in less time: a model once in a test that searches it several times, or without LLVM's optimisations."""

from __future__ import annotations

import pytest
from llvmlite import binding as llvm
from support.oracles import steps

from kmc.compile_log import LOG
from kmc.compiler import compile_spec
from kmc.compiler.model_kernels import Atoms
from kmc.engine import check_model, check_temporal
from kmc.engine.compiled_model import CompiledModel, compile_model
from kmc.frontend.model import Model
from kmc.runtime.native_module import Target, host_target, initialise
from kmc.runtime.object_cache import KernelCache, cache_key


def compile_each_model_once(patch: pytest.MonkeyPatch) -> None:
    """Until the patch ends, `check_native` and `kernels_of` share what was compiled of the same model object.

    With temporal properties, that of the same problem object.
    """
    compiled: list[tuple[Model, int, Atoms | None, CompiledModel]] = []

    def once(model: Model, fingerprint_bits: int = 64, atoms: Atoms | None = None) -> CompiledModel:
        for known, bits, of_formulas, kept in compiled:
            if known is model and (bits, of_formulas) == (fingerprint_bits, atoms):
                return kept
        compiled.append((model, fingerprint_bits, atoms, compile_model(model, fingerprint_bits, atoms)))
        return compiled[-1][3]

    for module in (check_model, check_temporal, steps):
        patch.setattr(module, "compile_model", once)


def leave_kernels_unoptimised(patch: pytest.MonkeyPatch) -> None:
    """Until the patch ends, compile specs in this process without LLVM's optimisations, and keep that code apart.

    Compiling takes a tenth of the time, and kernels run several times as long: good for searches of few states, of
    which only the results count. The loops of the engine are compiled as always: a process keeps their keys.
    """
    patch.setattr(compile_spec, "cached_object", _cached_unoptimised)


def _cached_unoptimised(
    text: str, target: Target | None = None, cache: KernelCache | None = None, part: str = "kernels"
) -> bytes:
    """As `kmc.runtime.object_cache.cached_object`, under a key of its own."""
    kept, chosen = cache or KernelCache.of_environment(), target or host_target()
    key = cache_key(f"; unoptimised\n{text}", chosen)
    code = kept.read(key)
    if code is None:
        with LOG.compiling(part):
            code = _unoptimised(text, chosen)
        kept.write(key, code)
    return code


def _unoptimised(text: str, target: Target) -> bytes:
    initialise()
    machine = llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, features=target.features, opt=0, reloc="pic", codemodel="small"
    )
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    return bytes(machine.emit_object(module))
