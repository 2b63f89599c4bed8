"""Random IR means the same as machine code and as Python: result and memory."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.drawing.ir_programs import memories, modules, run_native, run_python, words
from support.kernels.load_module import compile_module

from kmc.compiler.ir.emit_llvm import emit_llvm
from kmc.compiler.ir.emit_python import emit_python
from kmc.compiler.ir.nodes import Module

Memory = tuple[list[int], list[int]]
Run = tuple[Memory, tuple[int, int]]
runs: st.SearchStrategy[list[Run]] = st.lists(
    st.tuples(st.tuples(memories, memories), st.tuples(words, words)), min_size=1, max_size=4
)


@pytest.mark.slow
@settings(max_examples=100)
@given(modules(), runs)
def test_machine_code_and_python_agree(module: Module, runs: list[Run]) -> None:
    native, python = compile_module(module), emit_python(module)
    for memory, arguments in runs:
        assert run_native(native, memory, arguments) == run_python(python, memory, arguments)


@pytest.mark.slow
@settings(max_examples=25)
@given(modules())
def test_the_text_is_a_function_of_the_module(module: Module) -> None:
    assert (emit_llvm(module), emit_python(module).source) == (emit_llvm(module), emit_python(module).source)
