"""Compiles a model: kernels, LLVM IR, machine code (from the disk cache if possible), and names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kmc.actions.action import Action, instances_of
from kmc.compiler.block_kernels import block_functions
from kmc.compiler.ir.emit_llvm import emit_llvm
from kmc.compiler.ir.nodes import Module
from kmc.compiler.model_kernels import Atoms, all_actions, build_kernels, has_others
from kmc.compiler.passes.read_sets import ONLY_CHANGED
from kmc.compiler.symmetry.fingerprint_kernels import settles
from kmc.frontend.model import Model
from kmc.invariants.kinds import KINDS
from kmc.runtime.compiled_spec import CompiledSpec, SearchRules, SpecNames
from kmc.runtime.native_module import Target, host_target
from kmc.runtime.object_cache import KernelCache, cached_object, first_object
from kmc.runtime.schema import Schema, described

_OF_ROWS = ("expand", "identity", *(kind.kernel for kind in KINDS), *ONLY_CHANGED)

_STACK_FRAMES = 10_000
"""Python's frames while code is written: 60 calls one in another, of some hundred each, and what wrote the call."""


def compile_spec(
    model: Model,
    cache: KernelCache | None = None,
    target: Target | None = None,
    *,
    instances: bool = False,
    fingerprint_bits: int = 64,
    atoms: Atoms | None = None,
    at_once: bool = False,
) -> CompiledSpec:
    """The compiled form of a model, for this machine by default; SpecError at the author's line for a construct that is
    refused.

    With `instances`, an action is an action with its arguments: `RequestVote(n1)`. Fingerprints have 64 or 128 bits.
    With `atoms`, for temporal properties: they have kernels, and the actions beside the next-state relation are there.
    `at_once`: unless the cache has optimised code, it is not optimised (see `CompiledSpec.is_final`).
    """
    wide = fingerprint_bits == 128
    with _deep_stack():
        kernels_made = build_kernels(model, instances=instances, wide=wide, atoms=atoms)
        of_rows = kernels_made.module.functions
        llvm_ir = emit_llvm(Module((*of_rows, *block_functions(wide=wide))))
    chosen = target or host_target()
    title = f"{len(of_rows)} functions of {model.spec.name} {model.name}"
    if at_once:
        code, is_final = first_object(llvm_ir, chosen, cache, title)
    else:
        code, is_final = cached_object(llvm_ir, chosen, cache, title), True
    further = {"rank": model.view is not None, "settle": settles(model) and not wide}
    further["expand_all"] = has_others(model, atoms)
    asked = (*atoms.kernels(1), *atoms.kernels(2)) if atoms is not None else ()
    names = (*_OF_ROWS, *(name for name, there in further.items() if there), *asked)
    kernels = {name: f"{name}_128" if wide else name for name in names}
    schema = described(Schema(model.spec.state_class, model.spec.variables))
    rules = SearchRules(model.view is not None, model.deadlock, model.max_depth)
    shown = _names(model, all_actions(model) if atoms is not None else model.spec.actions, instances=instances)
    compiled = CompiledSpec(shown, schema, kernels, llvm_ir, code, chosen, rules, is_final=is_final)
    compiled.places = tuple(f"{Path(path).name}:{getattr(node, 'lineno', 1)}" for node, path in kernels_made.checks)
    return compiled


@contextmanager
def _deep_stack() -> Iterator[None]:
    """Let calls that are written one into the other be as many as the compiler takes, whatever Python's limit is."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _STACK_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _names(model: Model, actions: tuple[Action, ...], *, instances: bool) -> SpecNames:
    labels = [action.label(arguments) for action, arguments in instances_of(actions)] if instances else None
    return SpecNames(
        spec=model.spec.name,
        model=model.name,
        actions=tuple(labels or (action.title for action in actions)),
        **{kind.field: tuple(prop.name for prop in model.of(kind)) for kind in KINDS},
        premises=tuple(premise.name for premise in model.premises),
    )
