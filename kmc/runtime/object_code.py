"""LLVM IR text to object code: LLVM's O2 pipeline, then code for one CPU with all its features.

Vectorisers are off: kernels work on a few words at a time, and without them compilation is twice as fast.
"""

from __future__ import annotations

from llvmlite import binding as llvm

from kmc.compile_log import require_time
from kmc.errors import InternalError
from kmc.runtime.native_module import Target, host_target, target_machine

RECIPE = "O2, no vectorisers, small pic"
"""The recipe of `emit_object`, part of the disk cache's key. Change it when `emit_object` changes."""


def emit_object(text: str, target: Target | None = None) -> bytes:
    """The object file made of LLVM IR text, for this machine by default.

    InternalError KMC917 when LLVM refuses the text, CompileTimeout when the time for compiling runs out.
    """
    chosen = target or host_target()
    machine = target_machine(chosen)
    try:
        module = llvm.parse_assembly(text)
        module.triple = chosen.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise InternalError("KMC917", f"LLVM refuses the text made of the IR: {error}") from error
    require_time()
    _optimise(module, machine)
    require_time()
    return bytes(machine.emit_object(module))


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Run LLVM's O2 pipeline."""
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
