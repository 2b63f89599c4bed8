"""The native loops, compiled: once per machine, then read from the disk cache in milliseconds.

Invariant: the key of an object code covers everything that it depends on: all files of `kmc.engine`, since a loop is
made of several; the loop's own file; its specialization; llvmlite and the target. Nothing is compiled or loaded
on import, and each loop only when it is first needed. The files are read on import, which takes milliseconds: this
process does not run later changes of them.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from kmc.compile_log import LOG
from kmc.engine.loops import (
    distinct_values,
    expand,
    fingerprint_table_64,
    fingerprint_table_128,
    list_rows,
    number_steps,
    seek,
    sort_states,
    sorted_runs,
    storage,
    view_representatives,
)
from kmc.engine.native.specialization import Specialization
from kmc.engine.native.syntax import keep_text
from kmc.runtime.native_module import NativeModule, host_target
from kmc.runtime.object_cache import KernelCache, cache_key
from kmc.runtime.object_code import emit_object

_KERNEL = "loop"
_ENGINE = Path(__file__).parents[1]  # loops are made of files in several of its folders

_COMPRESSING = "+avx512vbmi2"
"""The feature of processors that have an instruction which writes some of 32 codes one behind another."""

_received: dict[str, bytes] = {}


class NativeLoop:
    """A function of words, compiled from Python and called without the interpreter lock: by Python, or by address.

    It is valid for searches with this `specialization`; a function that reads none of its options is valid for all.
    `prefetched_code` gives the code that another process is compiling, or None.
    """

    def __init__(self, function: Callable[..., Any], specialization: Specialization | None = None) -> None:
        self.function = function
        self.specialization = specialization or Specialization()
        self.prefetched_code: Callable[[], bytes | None] | None = None
        self._file_digest = _digest(Path(function.__code__.co_filename))
        self._module: NativeModule | None = None
        self._lock = Lock()

    def __call__(self, *words: int) -> int:
        """Run it."""
        return self._native(*words)

    @property
    def address(self) -> int:
        """The address of the loop: a C function from 64-bit integers to one, valid as long as this object lives."""
        return self.load().address(_KERNEL)

    @cached_property
    def _native(self) -> Callable[..., int]:
        words = [ctypes.c_int64] * self.function.__code__.co_argcount
        native: Callable[..., int] = ctypes.CFUNCTYPE(ctypes.c_int64, *words)(self.address)
        return native

    @cached_property
    def key(self) -> str:
        """The key of its code in the disk cache."""
        function = self.function
        about = [function.__module__, function.__qualname__, str(self.specialization.values)]
        about += [digest_of(_ENGINE), self._file_digest]
        return cache_key("\n".join(about), host_target())

    def is_ready(self) -> bool:
        """Whether it is loaded, or its code is in the cache."""
        if self._module is not None or self.key in _received:
            return True
        return KernelCache.of_environment().read(self.key) is not None

    def compiled(self) -> bytes:
        """Its object code, made now."""
        # Imported here, because code from the cache does not need the translation.
        from kmc.engine.native.translate import llvm_text

        values = {**self.specialization.values, "COMPRESSES": int(_COMPRESSING in host_target().present())}
        return emit_object(llvm_text(self.function, _KERNEL, values))

    def object_code(self) -> bytes:
        """Its object code: received from another process, or from the cache, or prefetched, or compiled now."""
        if (received := _received.get(self.key)) is not None:
            return received
        kept = KernelCache.of_environment()
        code = kept.read(self.key)
        if code is None:
            with LOG.compiling(f"the loop {self.function.__name__}"):
                code = (self.prefetched_code() if self.prefetched_code else None) or self.compiled()
            kept.write(self.key, code)
        return code

    def load(self) -> NativeModule:
        """Its code in this process."""
        with self._lock:
            if self._module is None:
                self._module = NativeModule(self.object_code(), [_KERNEL])
            return self._module


@cache
def digest_of(folder: Path) -> str:
    """A short digest of the Python files of a folder and of all folders in it: their paths and their contents, which
    are kept for the translation of loops.
    """
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        text = file.read_bytes()
        digest.update(f"{file.relative_to(folder).as_posix()} {len(text)}\n".encode() + text)
        keep_text(str(file), text)
    return digest.hexdigest()[:16]


def engine_digest() -> str:
    """A short digest of the sources that all loops are made of."""
    return digest_of(_ENGINE)


# On import: if a file were edited first, old code would be kept on disk under the key of the new, and no loop could be
# translated any more.
digest_of(_ENGINE)


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@cache
def yield_address() -> int:
    """The address of `usleep`, which lets another thread run."""
    return ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value or 0


@cache
def work_loop(specialization: Specialization) -> NativeLoop:
    """`expand.work` for searches with this specialization."""
    return NativeLoop(expand.work, specialization)


@cache
def view_representatives_loop(specialization: Specialization) -> NativeLoop:
    """`view_representatives.select` for searches with this specialization."""
    return NativeLoop(view_representatives.select, specialization)


@cache
def seek_loop(sharded: bool = False) -> NativeLoop:
    """`seek.seek`."""
    return NativeLoop(seek.seek, Specialization(sharded=sharded))


@cache
def check_accepted_loop() -> NativeLoop:
    """`expand.check_accepted`."""
    return NativeLoop(expand.check_accepted, Specialization(sharded=True))


@cache
def list_rows_loop() -> NativeLoop:
    """`list_rows.list_rows`."""
    return NativeLoop(list_rows.list_rows, Specialization(sharded=True))


@cache
def graph_loop(name: str, wide: bool, *, notes_slots: bool = False) -> NativeLoop:
    """A loop of `kmc.engine.loops.number_steps` by name."""
    return NativeLoop(getattr(number_steps, name), Specialization(wide=wide, edges=notes_slots))


@cache
def order_loop(name: str, wide: bool) -> NativeLoop:
    """A loop of `kmc.engine.loops.sort_states` by name."""
    return NativeLoop(getattr(sort_states, name), Specialization(wide=wide))


@cache
def value_loop(name: str) -> NativeLoop:
    """A loop of `kmc.engine.loops.distinct_values` by name."""
    return NativeLoop(getattr(distinct_values, name))


@cache
def run_loop(name: str, wide: bool, ranked: bool = False) -> NativeLoop:
    """A loop of `kmc.engine.loops.sorted_runs` by name."""
    return NativeLoop(getattr(sorted_runs, name), Specialization(wide=wide, ranked=ranked))


@cache
def move_loop(ranked: bool, wide: bool) -> NativeLoop:
    """`fingerprint_table_64.move` or its like for ranks or for fingerprints of two words."""
    if wide:
        return NativeLoop(fingerprint_table_128.move_ranked_wide if ranked else fingerprint_table_128.move_wide)
    return NativeLoop(fingerprint_table_64.move_ranked if ranked else fingerprint_table_64.move)


@cache
def settle_loop(ranked: bool, wide: bool) -> NativeLoop:
    """`fingerprint_table_64.settle` or its like for ranks or for fingerprints of two words."""
    if wide:
        return NativeLoop(fingerprint_table_128.settle_ranked_wide if ranked else fingerprint_table_128.settle_wide)
    return NativeLoop(fingerprint_table_64.settle_ranked if ranked else fingerprint_table_64.settle)


@cache
def storing_loop(name: str) -> NativeLoop:
    """A loop of `kmc.engine.loops.storage` by name."""
    return NativeLoop(getattr(storage, name))


_NUMBERING = ("give_numbers", "find_sources", "write_steps")
_ORDERING = ("count_states", "add_counts", "place_states", "sort_states")


def loops_of(specialization: Specialization) -> tuple[NativeLoop, ...]:
    """All loops that a search with this specialization may run, also to save or to find predecessors."""
    tables = [
        loop(ranked, specialization.wide)
        for loop in (move_loop, settle_loop)
        for ranked in {False, specialization.ranked}
    ]
    files = ["total", "collect_wide", "admit_wide"] if specialization.wide else ["total", "collect", "admit"]
    ranked = [view_representatives_loop(specialization)] if specialization.ranked else []
    noted = [graph_loop(name, specialization.wide) for name in _NUMBERING] if specialization.edges else []
    noted += [order_loop(name, specialization.wide) for name in _ORDERING] if specialization.edges else []
    return (work_loop(specialization), *ranked, seek_loop(), *tables, *map(storing_loop, files), *noted)


def sharded_loops_of(wide: bool, ranked: bool, edges: bool = False) -> tuple[NativeLoop, ...]:
    """All loops that the tasks of a sharded search may run; with `edges`, of one that records steps."""
    specialization = Specialization(wide=wide, ranked=ranked, sharded=True, edges=edges)
    tables = [loop(ranked, wide) for loop in (move_loop, settle_loop)]
    passes = [view_representatives_loop(specialization)] if ranked else []
    runs = [run_loop(name, wide, ranked) for name in ("make_keys", "sort_keys", "distinct", "look_up", "accept")]
    noted = [graph_loop("list_sources", wide)] if edges else []
    files = map(storing_loop, ("total", "seal", "seal_ranges", "find_ranges"))
    return (
        *(work_loop(specialization), *passes, seek_loop(sharded=True), check_accepted_loop()),
        *(*tables, *runs, *noted, run_loop("merge", wide), run_loop("extend_index", wide), *files),
    )


def table_loops() -> tuple[NativeLoop, ...]:
    """All loops that may run while the states of a sharded search are read as tables."""
    values = value_loop("number_values"), value_loop("sort_entries")
    return list_rows_loop(), *values, storing_loop("total"), storing_loop("find_ranges")


def object_codes(loops: Iterable[NativeLoop]) -> dict[str, bytes]:
    """The object code of loops by key, for another process on a machine of this kind; `receive` accepts it."""
    return {loop.key: loop.object_code() for loop in loops}


def receive(codes: Mapping[str, bytes]) -> None:
    """Use this object code in this process for the loops of these keys, which must come from a trusted place.

    Code of another kmc or for another CPU has keys that no loop here has, so it is never run.
    """
    _received.update(codes)
