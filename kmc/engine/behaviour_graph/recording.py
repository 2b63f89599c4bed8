"""The settings and kernels with which loops record steps for the behaviour graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.native.memory import Memory
from kmc.engine.native.words import NULL


@dataclass(frozen=True, slots=True)
class Noting:
    """A search records its steps. `atoms` and `step_atoms`: the number of each.

    `apart` has a number per action instance, 1 for one that is not part of the next-state relation; or it has none.
    """

    atoms: int = 0
    step_atoms: int = 0
    apart: tuple[int, ...] = ()


class NotingKernels:
    """Lets loops call the kernels of atoms; the addresses that it sets are valid as long as this object lives."""

    def __init__(self, kernels: KernelTable, apart: Sequence[int] = ()) -> None:
        if kernels.rank or kernels.settle:
            raise ValueError("a view or symmetry joins states that temporal properties tell apart")
        self._kernels = kernels
        self._addresses = _memory_of(kernels.atoms), _memory_of(kernels.step_atoms)
        self._apart = _memory_of(apart) if any(apart) else None

    def tell(self, shared: Shared) -> None:
        """Let the loops of a search record steps."""
        of_states, of_steps = self._addresses
        shared.atom_kernels, shared.atom_words = of_states.address, len(self._kernels.atoms)
        shared.step_atom_kernels, shared.step_atom_words = of_steps.address, len(self._kernels.step_atoms)
        shared.expand = self._kernels.expand_all or self._kernels.expand
        shared.apart = self._apart.address if self._apart is not None else NULL


def _memory_of(words: Sequence[int]) -> Memory:
    memory = Memory(max(1, len(words)))
    memory.array[: len(words)] = words
    return memory
