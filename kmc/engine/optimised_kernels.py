"""The optimised kernels of a model whose search has begun with kernels that are not optimised.

The search goes on with them between two batches of states. Both are made of one LLVM IR text, so a state has the same
successors, fingerprints, masks and error numbers in both, and no result depends on when the search changes kernels.

Shards and Spark wait for optimised kernels instead: the code travels to each of their processes once, with the first
task, and a task lasts longer than the optimisation.
"""

from __future__ import annotations

import time

from kmc.compile_log import LOG
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.runtime.object_code import KERNELS_VARIABLE, are_kernels_optimised
from kmc.runtime.optimising_process import OptimisingProcess

_BEGIN_AFTER_SECONDS = 0.2
"""A search that ends sooner would end before its optimised kernels are there, so no process is started for it."""


WAIT_FOR_THEM = {KERNELS_VARIABLE: "optimised"}
"""The environment with which a check waits for optimised kernels before it begins."""


class OptimisedKernels:
    """The optimised kernels of one search; see `kmc.engine.search.level_search.LaterKernels`."""

    def __init__(self, spec: CompiledSpec, begin_after_seconds: float = _BEGIN_AFTER_SECONDS) -> None:
        self._spec = spec
        self._begin = time.monotonic() + begin_after_seconds
        self._process: OptimisingProcess | None = None
        self._is_done = False

    def arrived(self) -> KernelTable | None:
        """Return the kernels at the first call after they have become ready, else None.

        They are valid as long as this object lives. If their process was killed or had no memory, they never arrive.
        """
        if self._is_done or time.monotonic() < self._begin:
            return None
        if self._process is None:
            self._process = OptimisingProcess(self._spec.llvm_ir, self._spec.target)
            self._process.start()
        if self._process.is_running:
            return None
        self._is_done = True
        if (reason := self._process.lost) is not None:
            LOG.warn(_slower_text(reason))
            self._process.close()
            return None
        # Kept, because it holds the code.
        self._spec = self._spec.with_code(self._process.code())
        return KernelTable.of(self._spec)

    def close(self) -> None:
        """End the work on them."""
        self._is_done = True
        if self._process is not None:
            self._process.close()


def _slower_text(reason: str) -> str:
    return (
        f"The process that optimises the compiled spec ended early ({reason}), so the search goes on with slower code. "
        f"To optimise it before the search begins: export {KERNELS_VARIABLE}=optimised"
    )


def optimised_later(compiled: CompiledModel) -> OptimisedKernels | None:
    """The optimised kernels of a search with a compiled model; None if it has the last ones already."""
    return None if compiled.spec.is_final else OptimisedKernels(compiled.spec)


def kernels_in_words(compiled: CompiledModel) -> str:
    """The kind of kernels with which a search begins, for a report of its speed."""
    return "optimised" if compiled.spec.is_final and are_kernels_optimised() else "unoptimised"
