"""A compiled spec: one object that expands, checks and shows packed states, and travels as bytes.

Invariant: it needs neither the spec's sources nor the compiler. Its arguments and results are rows of words, names and
neutral TLA+ values. A row has the same meaning wherever `layout_digest` is the same. A choice number is valid only for
the row that it came from; engines match states by fingerprint.

Bytes hold LLVM IR, machine code for one CPU with its features, the layout, the names, the rules of a search, and the
object code of loops if an engine added it. On a machine that lacks one of the features, machine code is made again
from the LLVM IR. Threads may share an object: kernels have no state.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmc.errors import InternalError
from kmc.invariants.kinds import KINDS, PropertyKind, Role
from kmc.lang.tla import Tla, text
from kmc.runtime import blocks as b
from kmc.runtime.blocks import RowBatch, Successors, Words, rows_of_records
from kmc.runtime.codec import decode_row, encode_row, hash_sum
from kmc.runtime.container import container_of, parts_of
from kmc.runtime.hashing import SECOND, WIDE_WORDS
from kmc.runtime.kernel_errors import error_number
from kmc.runtime.native_module import NativeModule, Target
from kmc.runtime.object_cache import KernelCache, cached_object
from kmc.runtime.schema import Schema, restored
from kmc.runtime.state_layout import row_layout
from kmc.spec.variables import decode_state, encode_state

_LAYOUT_VERSION = 1
_OUT_TOO_SMALL = -1
_OUT_WORDS = 1 << 16
_WORD_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class SpecNames:
    """The names behind the masks and indices of kernels: bit k or index k represents entry k."""

    spec: str
    model: str
    actions: tuple[str, ...]
    invariants: tuple[str, ...]
    reachable: tuple[str, ...]
    constraints: tuple[str, ...]
    action_properties: tuple[str, ...]
    action_constraints: tuple[str, ...]
    premises: tuple[str, ...] = ()

    def of(self, kind: PropertyKind) -> tuple[str, ...]:
        """The names of the predicates of a kind."""
        names: tuple[str, ...] = getattr(self, kind.field)
        return names

    def evaluated(self, kind: PropertyKind) -> tuple[str, ...]:
        """The names of the predicates of the kernel of a kind: with the premises of invariants."""
        return (*self.of(kind), *self.premises) if kind.role is Role.WITNESSED else self.of(kind)


@dataclass(frozen=True, slots=True)
class SearchRules:
    """The facts about a model that a search needs besides its kernels.

    `view`: its view forgets something, so the rank distinguishes states of one view. `deadlock`: a state without
    successors is a failure. `max_depth`: states of later levels are not stored, unless it is None.
    """

    view: bool
    deadlock: bool
    max_depth: int | None


class CompiledSpec:
    """See the module docstring."""

    def __init__(
        self, names: SpecNames, schema: dict[str, Any], kernels: Mapping[str, str], llvm_ir: str | bytes, code: bytes,
        target: Target, rules: SearchRules, loops: Mapping[str, bytes] | None = None, *, is_final: bool = True,
    ) -> None:  # fmt: skip
        """`llvm_ir` is text, or compressed as it travels; `schema` is what `schema.described` gives.

        `is_final`: the machine code is not to be optimised later.

        `kernels` gives the names of the kernels of one row in the code. `loops` is object code of an engine, by key,
        that travels with the spec; it is not used here.
        """
        self.names = names
        self.kernels = dict(kernels)
        self.words_before = WIDE_WORDS if kernels["identity"] != "identity" else 0
        self.target = target
        self.rules = rules
        self.is_final = is_final
        self.loops = dict(loops or {})
        # The file and line of each check, in the process that compiled a spec with integers without bounds.
        self.places: tuple[str, ...] = ()
        self._schema_data = schema
        self._llvm_ir = llvm_ir
        self._code = code

    def to_bytes(self) -> bytes:
        """The object as bytes."""
        about = {
            "names": asdict(self.names),
            "schema": self._schema_data,
            "kernels": self.kernels,
            "target": asdict(self.target),
            "rules": asdict(self.rules),
            "loops": list(self.loops),
        }
        return container_of([json.dumps(about).encode(), _compressed(self._llvm_ir), self._code, *self.loops.values()])

    @classmethod
    def from_bytes(cls, data: bytes) -> CompiledSpec:
        """The object that `data` holds, which must come from a trusted place; SystemFault KMC541 for other bytes."""
        about, llvm_ir, code, *loops = parts_of(data)
        given = json.loads(about)
        names: dict[str, Any] = {k: v if isinstance(v, str) else tuple(v) for k, v in given["names"].items()}
        return cls(
            SpecNames(**names), given["schema"], given["kernels"], llvm_ir, code, Target(**given["target"]),
            SearchRules(**given["rules"]), dict(zip(given["loops"], loops, strict=True)),
        )  # fmt: skip

    def with_loops(self, loops: Mapping[str, bytes]) -> CompiledSpec:
        """The same compiled spec, with this object code of an engine's loops by key."""
        return CompiledSpec(
            self.names, self._schema_data, self.kernels, self._llvm_ir, self._code, self.target, self.rules, loops
        )

    def with_code(self, code: bytes) -> CompiledSpec:
        """The same compiled spec, with other machine code of its LLVM IR for its target, which is final."""
        return CompiledSpec(
            self.names, self._schema_data, self.kernels, self._llvm_ir, code, self.target, self.rules, self.loops
        )

    @cached_property
    def layout_digest(self) -> str:
        """Compiled specs with the same layout digest can read each other's rows."""
        return _digest([str(_LAYOUT_VERSION), str(self.words_before), json.dumps(self._schema_data)])

    @cached_property
    def digest(self) -> str:
        """Identifies the compiled meaning: layout, names, kernels, and whether a deadlock fails.

        The bound of levels is left out, so that a saved run can be resumed under another one.
        """
        rules = json.dumps([self.rules.view, self.rules.deadlock])
        return _digest([self.layout_digest, json.dumps(asdict(self.names)), rules, self.llvm_ir])

    @property
    def llvm_ir(self) -> str:
        """The kernels as LLVM IR, the same on every machine."""
        return self._llvm_ir if isinstance(self._llvm_ir, str) else zlib.decompress(self._llvm_ir).decode()

    @cached_property
    def module(self) -> NativeModule:
        """The machine code, loaded into this process; made again from the LLVM IR where it cannot run."""
        code = self._code
        if not self.target.runs_here():
            code = cached_object(self.llvm_ir, cache=KernelCache.of_environment())
        blocks = [f"{name}_block" for name in ("expand", "pick", *(kind.kernel for kind in KINDS))]
        return NativeModule(code, [*self.kernels.values(), *blocks, "identity_block"])

    @cached_property
    def schema(self) -> Schema:
        """The class of the states, made anew from its description, and the TLA+ variables."""
        return restored(self._schema_data)

    def expand_block(self, rows: RowBatch) -> Successors:
        """All steps of all rows; constraints are not applied."""
        out, choices_found = np.empty(_OUT_WORDS, np.int64), np.empty((1 << 10, b.CHOICE_WORDS), np.int64)
        progress = np.zeros(3, np.int64)
        failed: list[tuple[int, int]] = []
        while True:
            answer = self._call(
                "expand_block",
                [*_checked(rows), out, choices_found, progress],
                (len(rows), len(out) - b.SLACK_WORDS, len(choices_found)),
            )
            if answer == 0:
                break
            if answer == _OUT_TOO_SMALL:
                out = _enlarged(out, int(progress[1]))
            elif answer == b.NEED_RECORDS:
                choices_found = _enlarged(choices_found, int(progress[2]))
            else:
                failed.append((int(progress[0]), answer))
                progress[0] += 1
        offsets, parents, choices = choices_found[: progress[2]].T.copy()
        heads = out[offsets]
        return Successors(
            fingerprints=out[offsets + 1].view(np.uint64),
            parents=parents,
            actions=heads >> b.ACTION_SHIFT & b.ACTION_MASK,
            choices=choices,
            times=(heads >> b.TIMES_SHIFT & b.TIMES_MASK) + 1,
            rows=rows_of_records(out, int(progress[1]), offsets),
            failed=np.array([row for row, _ in failed], np.int64),
            errors=np.array([error_number(answer) for _, answer in failed], np.int64),
        )

    def pick(self, rows: RowBatch, parents: Words, choices: Words) -> RowBatch:
        """The successors that pairs (row of the block, choice) name, in their order.

        Adjacent pairs of one row share one expansion. InternalError for a choice that does not exist.
        """
        scratch, out = np.empty(_OUT_WORDS, np.int64), np.empty(_OUT_WORDS, np.int64)
        offsets, progress = np.empty(len(parents), np.int64), np.zeros(4, np.int64)
        pairs = [np.ascontiguousarray(array, np.int64) for array in (parents, choices)]
        if len(pairs[0]) != len(pairs[1]) or not ((pairs[0] >= 0) & (pairs[0] < len(rows))).all():
            raise ValueError("pairs name rows of the block")
        while True:
            answer = self._call(
                "pick_block",
                [*_checked(rows), *pairs, scratch, out, offsets, progress],
                (len(parents), len(scratch) - b.SLACK_WORDS, len(out) - b.SLACK_WORDS),
            )
            if answer == 0:
                return rows_of_records(out, int(progress[1]), offsets)
            if answer == _OUT_TOO_SMALL:
                scratch = _enlarged(scratch, 0)
            elif answer == b.NEED_RECORDS:
                out = _enlarged(out, int(progress[1]))
            else:
                parent, choice = (int(array[progress[0]]) for array in pairs)
                raise InternalError(
                    "KMC923", f"row {parent} has no successor number {choice}", help="a choice belongs to its very row"
                )

    def successor(self, row: Words, choice: int) -> Words:
        """One successor of a row; InternalError when there is no such choice."""
        return self.pick(RowBatch.of([row]), np.zeros(1, np.int64), np.array([choice]))[0]

    @property
    def fingerprint_bits(self) -> int:
        """64; or 128, and then the second word of a state's fingerprint is the first of its row."""
        return 128 if self.words_before else 64

    def fingerprints(self, rows: RowBatch) -> NDArray[np.uint64]:
        """The first word of each state's fingerprint: equal for states of one view and orbit."""
        return self._answers("identity", rows).view(np.uint64)

    def fingerprint(self, row: Words) -> int:
        """The first word of a state's fingerprint."""
        return int(self.fingerprints(RowBatch.of([row]))[0])

    def check(self, rows: RowBatch) -> Words:
        """The mask of the invariants that fail, for each row, or an error: negative, for `error_number`."""
        return self._answers("check", rows)

    def reachable(self, rows: RowBatch) -> Words:
        """The mask of the reachable properties that hold, for each row, or an error."""
        return self._answers("reachable", rows)

    def outside(self, rows: RowBatch) -> Words:
        """A mask for each row, 0 if all constraints hold, or an error."""
        return self._answers("outside", rows)

    def step(self, rows: RowBatch, parents: Words, successors: RowBatch) -> Words:
        """The mask of the action properties that fail, for each successor k of row `parents[k]`, or an error."""
        return self._step_answers("step", rows, parents, successors)

    def step_outside(self, rows: RowBatch, parents: Words, successors: RowBatch) -> Words:
        """A mask for each successor, 0 if all action constraints hold for the step, or an error."""
        return self._step_answers("step_outside", rows, parents, successors)

    def decode(self, row: Words) -> dict[str, Tla]:
        """The TLA+ variables of a row, in the order in which they are shown."""
        state = decode_row(self.words_of(row), self.schema.state_class)
        return encode_state(state, self.schema.variables)

    def encode(self, variables: dict[str, Tla]) -> Words:
        """The row of a state given by its TLA+ variables; TraceError for variables that are not a state of the spec."""
        state = decode_state(variables, self.schema.state_class, self.schema.variables)
        return self.row_of(encode_row(state))

    def row_of(self, words: list[int]) -> Words:
        """The row with these words: with fingerprints of 128 bits, the words before them are added."""
        before = [0, hash_sum(words, row_layout(self.schema.state_class), SECOND)] if self.words_before else []
        block = RowBatch.of([np.array([*before, *words], np.uint64).view(np.int64)])
        if before:
            self.fingerprints(block)
        return block[0]

    def words_of(self, row: Words) -> list[int]:
        """The words of a row without those before the state's own, 0..2**64-1."""
        return [int(word) & _WORD_MASK for word in row[self.words_before :]]

    def text(self, row: Words) -> str:
        r"""A row as TLA+, a line `/\ variable = value` for each variable."""
        return "\n".join(f"/\\ {name} = {text(value)}" for name, value in self.decode(row).items())

    def _answers(self, name: str, rows: RowBatch) -> Words:
        answers = np.empty(len(rows), np.int64)
        self._call(f"{name}_block", [*_checked(rows), answers], (len(rows),))
        return answers

    def _step_answers(self, name: str, rows: RowBatch, parents: Words, successors: RowBatch) -> Words:
        answers, sources = np.empty(len(successors), np.int64), np.ascontiguousarray(parents, np.int64)
        if len(sources) != len(successors) or not ((sources >= 0) & (sources < len(rows))).all():
            raise ValueError("every successor has a parent among the rows")
        self._call(f"{name}_block", [*_checked(rows), sources, *_checked(successors), answers], (len(successors),))
        return answers

    def _call(self, name: str, memory: Sequence[NDArray[np.int64]], arguments: Sequence[int]) -> int:
        answer = self.module.call_at(name, [array.ctypes.data for array in memory], arguments)
        return answer - (1 << 64) if answer >> 63 else answer


def _compressed(llvm_ir: str | bytes) -> bytes:
    return zlib.compress(llvm_ir.encode(), 1) if isinstance(llvm_ir, str) else llvm_ir


def _digest(components: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for component in components:
        data = component.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def _checked(rows: RowBatch) -> tuple[Words, Words]:
    """The arrays of a block; ValueError unless kernels can read its rows and the slack behind them."""
    words, starts = (np.ascontiguousarray(array, np.int64) for array in (rows.words, rows.starts))
    if len(words) < starts[-1] + b.SLACK_WORDS or starts[0] < 0 or (np.diff(starts) < 0).any():
        raise ValueError("a block has its rows inside of its words, and slack behind them")
    return words, starts


def _enlarged(array: NDArray[np.int64], used: int) -> NDArray[np.int64]:
    """An array of twice the length that begins with the used words."""
    larger = np.empty((2 * len(array), *array.shape[1:]), np.int64)
    larger[:used] = array[:used]
    return larger
