"""What is lowered is freed when the compiled spec is there, without a collection of garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from support.specs.shipped import shipped_manifest

from kmc.compiler.ir.emit_llvm import emit_llvm
from kmc.compiler.model_kernels import build_kernels
from kmc.frontend.binding import bind
from kmc.frontend.shipped import find_spec_root


@pytest.fixture
def kept_garbage() -> Iterator[list[object]]:
    """What a collection finds is kept, from a beginning without garbage."""
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.disable()
    yield gc.garbage
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@pytest.mark.slow
@pytest.mark.parametrize("spec", ["kraft", "kip_996", "kip_642"])
def test_no_expression_is_left_to_the_collector(spec: str, kept_garbage: list[object]) -> None:
    model = bind(find_spec_root(spec), next(iter(shipped_manifest(spec).models.values())))
    gc.collect()
    kept_garbage.clear()  # of loading a spec
    emit_llvm(build_kernels(model).module)
    gc.collect()
    assert {type(each).__name__ for each in kept_garbage if type(each).__module__.startswith("kmc.compiler")} == set()
