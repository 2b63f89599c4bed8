"""A model compiled and loaded: its kernels by address, and states to rows and back."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmc.compile_log import LOG
from kmc.compiler.compile_spec import compile_spec
from kmc.compiler.model_kernels import Atoms
from kmc.engine.layout.frontier import PackedState
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.loops.background_compile import compiled_in_background
from kmc.engine.loops.compiled_loops import work_loop
from kmc.engine.native.memory import Words
from kmc.engine.native.specialization import Specialization
from kmc.frontend.growing_variables import GrowthWatch
from kmc.frontend.model import Model
from kmc.lang.records import State
from kmc.process import uncollected
from kmc.result import GrowingVariable
from kmc.runtime.codec import decode_row, encode_row
from kmc.runtime.compiled_spec import CompiledSpec
from kmc.runtime.native_module import NativeModule
from kmc.runtime.object_cache import cache_key


@dataclass(frozen=True, slots=True)
class CompiledModel:
    """Kernels of a model in this process; `spec` keeps their code alive.

    `compile_seconds` is wall time; `is_new` is whether some of the code was not in the cache.
    """

    model: Model
    spec: CompiledSpec
    kernels: KernelTable
    compile_seconds: float
    is_new: bool = False

    @property
    def module(self) -> NativeModule:
        """The machine code."""
        return self.spec.module

    @property
    def code_key(self) -> str:
        """The key of everything that decides the machine code: kernels, target, and the versions of the compiler."""
        return cache_key(self.spec.llvm_ir, self.spec.target)

    def record(self, state: State) -> PackedState:
        """The packed form of a state, with its fingerprint."""
        row = self.spec.row_of(encode_row(state))
        return PackedState(self.spec.fingerprint(row), 0, row)

    def state(self, row: Words) -> State:
        """The state of a row."""
        return decode_row(self.spec.words_of(row), self.model.spec.state_class)


class PackedGrowthWatch:
    """A `GrowthWatch` over packed states."""

    def __init__(self, compiled: CompiledModel) -> None:
        self._compiled = compiled
        self._watch = GrowthWatch()

    @property
    def growing(self) -> tuple[GrowingVariable, ...]:
        """See `GrowthWatch`."""
        return self._watch.growing

    def level_made(self, level: int, sample: Callable[[int], Sequence[PackedState]]) -> None:
        """See `GrowthWatch`."""
        self._watch.level_made(level, lambda count: [self._compiled.state(record.row) for record in sample(count)])


def compile_model(
    model: Model, fingerprint_bits: int = 64, atoms: Atoms | None = None, *, at_once: bool = False
) -> CompiledModel:
    """Compile a model, or load it from the disk cache; SpecError at the author's line for a construct that is not
    compiled.

    With `atoms`, for a search that makes the behaviour graph: its actions are action instances. `at_once`: the kernels
    may not be optimised, for a search that gets the optimised ones later (`optimised_kernels.py`).
    """
    began, compiled_before = time.monotonic(), LOG.ended
    wide, edges = fingerprint_bits == 128, atoms is not None
    loop = work_loop(Specialization(wide=wide, ranked=model.view is not None, edges=edges))
    with uncollected(), compiled_in_background(loop):
        spec = compile_spec(model, fingerprint_bits=fingerprint_bits, instances=edges, atoms=atoms, at_once=at_once)
        # The loop is loaded here, so that the clock of the search does not count that.
        loop.load()

    return CompiledModel(
        model, spec, KernelTable.of(spec), time.monotonic() - began, is_new=LOG.ended > compiled_before
    )
