"""Machine code of kernels in this process: from the bytes of an object file to functions with addresses.

Invariant: this module needs llvmlite and `kmc.errors` and nothing else of kmc, so a process that only runs kernels
needs no compiler. An address is valid as long as its `NativeModule` lives.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from llvmlite import binding as llvm

from kmc.errors import InternalError

if TYPE_CHECKING:
    # collections.abc has it from Python 3.12 on; type checkers bring this package along.
    from typing_extensions import Buffer

_WORD_BYTES = 8
_library_numbers = count()


@dataclass(frozen=True, slots=True)
class Target:
    """The machines that object code is for: LLVM's triple, the CPU's name, and its features as `+a,-b,...`."""

    triple: str
    cpu: str
    features: str

    def runs_here(self) -> bool:
        """Whether this machine has the triple and every feature that the code may use."""
        host = host_target()
        return self.triple == host.triple and self.present() <= host.present()

    def present(self) -> frozenset[str]:
        """The features that the machines have, each as `+a`."""
        return frozenset(feature for feature in self.features.split(",") if feature.startswith("+"))


def symbol(name: str) -> str:
    """The name of the kernel `name` in object code; the prefix keeps it apart from the C library's names."""
    return f"kmc.{name}"


@cache
def host_target() -> Target:
    """This machine."""
    initialise()
    features = llvm.get_host_cpu_features().flatten()
    return Target(llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


@cache
def initialise() -> None:
    """Make LLVM ready for this machine; needed once per process."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def target_machine(target: Target, *, optimised: bool = True) -> llvm.TargetMachine:
    """LLVM's code generator for a target, optimising as usual or not at all; InternalError when LLVM has none."""
    initialise()
    level = 2 if optimised else 0
    try:
        return llvm.Target.from_triple(target.triple).create_target_machine(
            cpu=target.cpu, features=target.features, opt=level, reloc="pic", codemodel="small"
        )
    except RuntimeError as error:
        raise InternalError("KMC919", f"LLVM cannot make code for {target.triple}: {error}") from error


class NativeModule:
    """Kernels that can be called; LLVM's engine lives as long as this object."""

    def __init__(self, code: bytes, names: Iterable[str]) -> None:
        """Load object code that defines the kernels `names`; InternalError (KMC918) when it does not."""
        self._engine = llvm.create_lljit_compiler(target_machine(host_target()), use_jit_link=True)
        library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
        wanted = tuple(names)
        for name in wanted:
            library.export_symbol(symbol(name))
        try:
            # Within an engine, LLVM takes each library name only once.
            self._library = library.link(self._engine, f"kernels{next(_library_numbers)}")
        except RuntimeError as error:
            raise InternalError("KMC918", f"LLVM does not load the object code: {error}") from error
        self._addresses = {name: int(self._library[symbol(name)]) for name in wanted}

    @property
    def names(self) -> tuple[str, ...]:
        """The kernels that have an address."""
        return tuple(self._addresses)

    def address(self, name: str) -> int:
        """The address of a kernel: C's `uint64_t name(uint64_t *pointer..., uint64_t parameter...)`."""
        if name not in self._addresses:
            raise InternalError("KMC918", f"the object code exports no kernel '{name}'")
        return self._addresses[name]

    def call(self, name: str, pointers: Sequence[tuple[Buffer, int]], arguments: Sequence[int] = ()) -> int:
        """The result of a kernel, 0..2**64-1, for tests and single calls.

        Each pointer is a writable buffer of 64-bit words (`array("Q")`, a numpy array) and an offset in words; other
        Python threads run meanwhile.
        """
        return self.call_at(
            name, [_address_of(buffer) + offset * _WORD_BYTES for buffer, offset in pointers], arguments
        )

    def call_at(self, name: str, addresses: Sequence[int], arguments: Sequence[int] = ()) -> int:
        """`call` with memory by address, which the caller keeps alive."""
        types = [ctypes.c_void_p] * len(addresses) + [ctypes.c_uint64] * len(arguments)
        kernel = ctypes.CFUNCTYPE(ctypes.c_uint64, *types)(self.address(name))
        return int(kernel(*addresses, *(argument & (1 << 64) - 1 for argument in arguments)))


def _address_of(buffer: Buffer) -> int:
    """The address of a writable buffer."""
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer))
