"""What a search notes for the behaviour graph, told to its loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.native.memory import Memory


@dataclass(frozen=True, slots=True)
class Noting:
    """A search notes its steps. `atoms` and `step_atoms`: how many of each there are.

    `apart` has a number per action instance, 1 for one that is not part of the next-state relation; or it has none.
    """

    atoms: int = 0
    step_atoms: int = 0
    apart: tuple[int, ...] = ()


class NotingKernels:
    """Lets loops call the kernels of atoms; what it tells is valid as long as it lives."""

    def __init__(self, kernels: KernelTable, apart: Sequence[int] = ()) -> None:
        if kernels.rank or kernels.settle:
            raise ValueError("a view or symmetry joins states that temporal properties tell apart")
        self._kernels = kernels
        self._addresses = _memory_of(kernels.atoms), _memory_of(kernels.step_atoms)
        self._apart = _memory_of(apart) if any(apart) else None

    def tell(self, shared: Shared) -> None:
        """Let the loops of a search note steps."""
        of_states, of_steps = self._addresses
        shared.atom_kernels, shared.atom_words = of_states.address, len(self._kernels.atoms)
        shared.step_atom_kernels, shared.step_atom_words = of_steps.address, len(self._kernels.step_atoms)
        shared.expand = self._kernels.expand_all or self._kernels.expand
        shared.apart = self._apart.address if self._apart is not None else 0


def _memory_of(words: Sequence[int]) -> Memory:
    memory = Memory(max(1, len(words)))
    memory.array[: len(words)] = words
    return memory
