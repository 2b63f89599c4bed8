"""IR to kernels that can be called in this process: text, object code (or what the disk cache has of it), loading."""

from __future__ import annotations

from kmc.compiler.ir.emit_llvm import emit_llvm, exported
from kmc.compiler.ir.nodes import Module
from kmc.runtime.native_module import NativeModule
from kmc.runtime.object_cache import KernelCache, cached_object
from kmc.runtime.object_code import emit_object


def compile_module(module: Module) -> NativeModule:
    """The kernels of a module, compiled for this machine and loaded, without the disk cache."""
    return NativeModule(emit_object(emit_llvm(module)), exported(module))


def load_module(module: Module, cache: KernelCache | None = None) -> NativeModule:
    """The kernels of a module, compiled for this machine unless the cache has them, and loaded."""
    return NativeModule(cached_object(emit_llvm(module), cache=cache), exported(module))
