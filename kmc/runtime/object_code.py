"""LLVM IR text to object code: LLVM's O2 pipeline, then code for one CPU with all its features.

Vectorisers are off: kernels work on a few words at a time, and without them compilation is twice as fast.

Code can be emitted without optimisations too. That takes a fifth of the time, and the code runs several times as long.
A search begins with it while another process optimises (`optimising_process.py`). Tests, which search few states of
many models, use no other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from llvmlite import binding as llvm

from kmc.budget import require_budget
from kmc.errors import InternalError
from kmc.runtime.native_module import Target, host_target, target_machine

RECIPE = "O2, no vectorisers, small pic"
"""The recipe of `emit_object`, part of the disk cache's key. Change it when `emit_object` changes."""

UNOPTIMISED_RECIPE = "O0, small pic"
"""The same for code without optimisations."""

_BYTES_OF_TEXT = 8
"""The memory that LLVM takes for a byte of text, without optimisations."""

KERNELS_VARIABLE = "KMC_KERNELS"
"""With the value `unoptimised`, kernels are never optimised; tests set it. With `optimised`, a search waits until they
are."""


def are_kernels_optimised(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether kernels of specs are optimised, which `KERNELS_VARIABLE` can prevent."""
    return environment.get(KERNELS_VARIABLE) != "unoptimised"


def are_kernels_optimised_later(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether a search may begin with kernels that are not optimised, and go on with optimised ones."""
    return environment.get(KERNELS_VARIABLE) not in ("unoptimised", "optimised")


def emit_object(text: str, target: Target | None = None, *, optimised: bool = True) -> bytes:
    """The object file made of LLVM IR text, for this machine by default.

    InternalError KMC917 when LLVM refuses the text, BudgetSpent when the budget for compiling is spent.
    """
    require_budget(_BYTES_OF_TEXT * len(text))
    chosen = target or host_target()
    machine = target_machine(chosen, optimised=optimised)
    try:
        module = llvm.parse_assembly(text)
        module.triple = chosen.triple
        module.data_layout = str(machine.target_data)
        module.verify()
    except RuntimeError as error:
        raise InternalError("KMC917", f"LLVM refuses the text made of the IR: {error}") from error
    require_budget()
    if optimised:
        _optimise(module, machine)
        require_budget()
    return bytes(machine.emit_object(module))


def _optimise(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> None:
    """Run LLVM's O2 pipeline."""
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
