"""The narrow interface to a compiled model: a few functions by address, on packed states.

All parameters and results are 64-bit integers, addresses included; memory is counted in 64-bit words. A row may be
read, never written, and never kept. Up to 64 words behind the arguments of a kernel may be read, and up to 64 words
behind its output in `out` overwritten.

- `expand(row, out, out_words)`: the unconstrained successors of a state, written to `out` one after another as records
  `[header][fingerprint][row ...]`, the header being the length of the row in words, the action's index << 32, and the
  number of times more that TLC counts this step << 48. Returns the number of records; -1 if `out` is too small for all
  of them (it is called again with more); <= -16 for error number -(result + 16) of the model.
- `check(row)`: a mask with a bit for each invariant that fails; `reachable(row, wanted)`: for each wanted reachable
  property that holds; `outside(row)`: for the first constraint that fails. `step_outside(source, row)`: for the first
  action constraint; `step(source, row)`: for each action property that fails, none for a stuttering step.
- `check_changed(source, row)` and `reachable_changed(source, row, wanted)`: the same for a successor, without the
  properties with the same result in the source: an invariant that fails in both, or a property that both have, may be
  missing.
- `step_changed(source, row)`: the same as `step`, if `step_kept(source)` is 0. That is a mask of the action properties
  that fail in every step which changes nothing that they read.
- `settle(row, fingerprint)`: under symmetry, turns a successor into the state that represents its orbit, before it is
  kept. The one exception to rows that are never written; its length stays.
- `expand_all(row, out, out_words)`: `expand` with the actions beside the next-state relation, where there are some.
- `atoms[n](row)`, `step_atoms[n](source, row)`: masks of the atoms of temporal properties that hold.
- `rank(row)`: for a view, the order of its states, the same for a whole orbit.

All of these return <= -16 for an error, as `expand`. A state is known by its fingerprint, that of its view and orbit,
which is never 0. If `wide`, a fingerprint has a second word, which is the first of the row and never 0 either. The
first `plain_words` words of a row, such as a hash sum, differ from state to state; the others repeat, and are
packed as codes where they differ from the row before. The first `implied_words` (0 or 1) of the plain ones are the
fingerprint itself.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from kmc.engine.layout import control_words as f
from kmc.engine.layout import record_structs as r
from kmc.engine.layout.control_words import Shared
from kmc.engine.layout.frontier import UNSIGNED, PackedState, state_at
from kmc.engine.native.memory import Memory, Words
from kmc.engine.native.words import NULL, Address
from kmc.invariants.kinds import KINDS, PROPERTIES_MAX, Role, kind_of
from kmc.runtime.compiled_spec import CompiledSpec


@dataclass(frozen=True, slots=True)
class KernelTable:
    """Addresses of a model's functions, 0 for one that it does not need, and the number of each kind of thing."""

    expand: Address
    action_count: int
    check: Address = NULL
    reachable: Address = NULL
    outside: Address = NULL
    step_outside: Address = NULL
    step: Address = NULL
    check_changed: Address = NULL
    reachable_changed: Address = NULL
    step_changed: Address = NULL
    step_kept: Address = NULL
    rank: Address = NULL
    settle: Address = NULL
    check_count: int = 0
    reachable_count: int = 0
    step_count: int = 0
    plain_words: int = 1
    implied_words: int = 0
    wide: bool = False
    atoms: tuple[Address, ...] = ()
    step_atoms: tuple[Address, ...] = ()
    expand_all: Address = NULL

    def __post_init__(self) -> None:
        if max(self.check_count, self.reachable_count, self.step_count) > PROPERTIES_MAX:
            raise ValueError(f"at most {PROPERTIES_MAX} properties of a kind fit a mask")
        if self.action_count > r.ACTION_MASK:
            raise ValueError(f"at most {r.ACTION_MASK} actions fit a header")

    @classmethod
    def of(cls, spec: CompiledSpec) -> KernelTable:
        """The kernels of a compiled spec, which keeps their code alive; no sources and no compiler are needed."""
        names = spec.names

        def address(name: str, wanted: bool = True) -> Address:
            return Address(spec.module.address(spec.kernels[name])) if wanted else NULL

        kernels: dict[str, Any] = {
            **{kind.kernel: address(kind.kernel, bool(names.evaluated(kind))) for kind in KINDS},
            **{
                f"{kind.kernel}_changed": address(f"{kind.kernel}_changed", bool(names.evaluated(kind)))
                for kind in KINDS
                if kind.role is not Role.BOUNDING
            },
            **{f"{kind.kernel}_count": len(names.evaluated(kind)) for kind in KINDS if kind.role is not Role.BOUNDING},
        }
        return cls(
            expand=address("expand"),
            action_count=len(names.actions),
            **kernels,
            step_kept=address("step_kept", bool(names.of(kind_of(Role.CHECKED, 2)))),
            rank=address("rank", spec.rules.view),
            settle=address("settle", "settle" in spec.kernels),
            plain_words=1 + spec.words_before,
            # Without a view, the hash sum of a row that is kept is the fingerprint.
            implied_words=int(not spec.rules.view and spec.words_before == 0),
            wide=spec.words_before > 0,
            atoms=tuple(address(name) for name in spec.kernels if name.startswith("atoms_")),
            step_atoms=tuple(address(name) for name in spec.kernels if name.startswith("step_atoms_")),
            expand_all=address("expand_all", "expand_all" in spec.kernels),
        )

    def tell(self, shared: Shared) -> None:
        """Let the loops of a search call these kernels."""
        shared.expand, shared.check, shared.invariant_count = self.expand, self.check, self.check_count
        shared.outside, shared.step_outside = self.outside, self.step_outside
        shared.reachable, shared.step, shared.rank = self.reachable, self.step, self.rank
        shared.check_changed, shared.reachable_changed = self.check_changed, self.reachable_changed
        shared.settle, shared.step_changed, shared.step_kept = self.settle, self.step_changed, self.step_kept
        shared.list_repeated = self.meets_again

    @property
    def meets_again(self) -> bool:
        """Whether a violating state may be checked more than once: with ranks, or with constraints on steps."""
        return self.rank != 0 or self.step_outside != 0

    def successors(self, row: Words) -> list[PackedState]:
        """The records that `expand` writes for one row; ValueError with its number if it reports an error."""
        out = Memory(1 << 12)
        while (count := _call(self.expand, row, out.address, out.words)) == f.OUT_TOO_SMALL:
            out = Memory(2 * out.words)
        if count < 0:
            raise ValueError(f"error number {error_number(count)} in expand")
        records, record = [], out.address
        for _ in range(count):
            records.append(state_at(record))
            record = Address(record + (r.RECORD_HEAD_WORDS + len(records[-1].row)) * f.WORD_BYTES)
        return records

    def rank_of(self, row: Words) -> int:
        """The rank of a row among those of its view; 0 for a model without ranks."""
        rank = _call(self.rank, row) if self.rank else 0
        return (rank if rank != -1 else -2) & UNSIGNED

    def is_inside(self, source: Words, row: Words) -> bool:
        """Whether all constraints hold for a step."""
        if self.outside and _call(self.outside, row) != 0:
            return False
        return self.step_outside == 0 or _call(self.step_outside, source, row) == 0


def _call(address: int, *arguments: Words | int) -> int:
    memories = [argument if isinstance(argument, int) else _padded(argument) for argument in arguments]
    addresses = [memory if isinstance(memory, int) else memory.address for memory in memories]
    return int(ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * len(addresses))(address)(*addresses))


def _padded(row: Words) -> Memory:
    memory = Memory(len(row))
    memory.array[:] = row
    return memory


def error_number(result: int) -> int:
    """The number of the model's error that a kernel reports."""
    return f.ERROR_MAX - result
