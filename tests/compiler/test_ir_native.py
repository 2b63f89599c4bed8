"""Machine code: what LLVM may assume of pointers, object code that travels, and errors of this stage."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import threading
from array import array
from dataclasses import replace
from pathlib import Path

import pytest
from support.drawing.ir_programs import expression_module
from support.kernels.load_module import compile_module

from kmc.compiler.ir.emit_llvm import emit_llvm, exported, invariant_pointers
from kmc.compiler.ir.nodes import Bin, CallKernel, Const, Function, If, Let, Load, Module, Return, Store, Var
from kmc.errors import InternalError
from kmc.runtime.native_module import NativeModule, Target, host_target, target_machine
from kmc.runtime.object_code import emit_object

X = Var("x")
FIRST = Load("p", Const(0))
READ = Function("read", ("p",), (), (Return(FIRST),), frozenset({"p"}), inline=True)


def call(function: str, pointer: str, target: str) -> CallKernel:
    """A call with one pointer."""
    return CallKernel(target, function, ((pointer, Const(0)),), ())


WRITE_BETWEEN_READS = Function(
    "main",
    ("q",),
    ("x",),
    (call("read", "q", "a"), Store("q", Const(0), X), call("read", "q", "b"), Return(Bin("sub", Var("b"), Var("a")))),
)
ONLY_READS = Function("reads", ("q",), (), (call("read", "q", "a"), Return(Var("a"))), frozenset({"q"}))


def test_a_write_between_two_calls_is_seen_by_the_second() -> None:
    # `read` takes a readonly pointer, but its caller writes there between the calls.
    module = compile_module(Module((READ, WRITE_BETWEEN_READS)))
    assert module.call("main", [(array("Q", [5]), 0)], [100]) == 95


def test_words_that_a_caller_writes_are_not_invariant() -> None:
    assert invariant_pointers(Module((READ, ONLY_READS, WRITE_BETWEEN_READS)))["read"] == frozenset()


def test_words_that_no_caller_writes_are_invariant() -> None:
    assert invariant_pointers(Module((READ, ONLY_READS)))["read"] == frozenset({"p"})


def test_what_is_not_invariant_spreads_to_callees_of_callees() -> None:
    middle = replace(ONLY_READS, name="middle")
    writer = replace(WRITE_BETWEEN_READS, body=(call("middle", "q", "a"), Store("q", Const(0), X)))
    found = invariant_pointers(Module((writer, middle, READ)))
    assert (found["middle"], found["read"]) == (frozenset(), frozenset())


def test_llvm_is_told_of_readonly_pointers() -> None:
    body = (Let("a", FIRST), Store("out", Const(0), X), Return(Bin("sub", FIRST, Var("a"))))
    text = emit_llvm(Module((Function("main", ("p", "out"), ("x",), body, frozenset({"p"})),)))
    assert (text.count("noalias readonly"), text.count("!invariant.load")) == (1, 2)


def test_inline_functions_are_not_exported() -> None:
    assert exported(Module((READ, WRITE_BETWEEN_READS))) == ("main",)


def test_inline_functions_leave_no_code_of_their_own() -> None:
    assert b"kmc.read" not in emit_object(emit_llvm(Module((READ, WRITE_BETWEEN_READS))))


def test_an_unknown_kernel_has_no_address() -> None:
    with pytest.raises(InternalError, match="no kernel 'read'"):
        compile_module(Module((READ, WRITE_BETWEEN_READS))).address("read")


def test_arguments_are_taken_modulo_the_word() -> None:
    assert compile_module(expression_module(X)).call("main", [], (-1, 0)) == (1 << 64) - 1


def test_pointers_have_offsets_in_words() -> None:
    words = array("Q", [1, 2, 3, 4])
    body = (Store("p", Const(1), X),)
    compile_module(Module((Function("main", ("p",), ("x",), body),))).call("main", [(words, 2)], [9])
    assert list(words) == [1, 2, 3, 9]


def test_many_modules_live_at_once() -> None:
    modules = [compile_module(expression_module(Const(number))) for number in range(20)]
    del modules[::2]
    gc.collect()
    assert [module.call("main", [], (0, 0)) for module in modules] == list(range(1, 20, 2))


def test_threads_run_one_kernel_at_once() -> None:
    module = compile_module(expression_module(Bin("mul", X, X)))
    found: dict[int, int] = {}

    def run(number: int) -> None:
        found[number] = module.call("main", [], (number, 0))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: number * number for number in range(8)}


def test_a_loop_that_clears_words_needs_no_library() -> None:
    # LLVM would turn such loops into calls of memset, which object code on its own does not have.
    module = Module((Function("main", ("p",), (), tuple(Store("p", Const(index), Const(0)) for index in range(99))),))
    assert b"memset" not in emit_object(emit_llvm(module))


def test_text_that_is_not_llvm_is_refused() -> None:
    with pytest.raises(InternalError) as raised:
        emit_object("define i64 @f( {")
    assert raised.value.code == "KMC917"


def test_a_machine_that_llvm_does_not_know_is_refused() -> None:
    with pytest.raises(InternalError, match="cannot make code for pdp11-unknown-none") as raised:
        target_machine(Target("pdp11-unknown-none", "", ""))
    assert raised.value.code == "KMC919"


@pytest.mark.parametrize("code", [b"", b"no object code", emit_object(emit_llvm(expression_module(X)))[:200]])
def test_bytes_that_are_not_object_code_are_refused(code: bytes) -> None:
    with pytest.raises(InternalError) as raised:
        NativeModule(code, ["main"])
    assert raised.value.code == "KMC918"


def test_object_code_without_the_kernel_is_refused() -> None:
    with pytest.raises(InternalError) as raised:
        NativeModule(emit_object(emit_llvm(expression_module(X))), ["absent"])
    assert raised.value.code == "KMC918"


def test_code_for_this_machine_runs_here() -> None:
    assert host_target().runs_here()


@pytest.mark.parametrize(
    "other",
    [
        replace(host_target(), features=host_target().features + ",+feature-of-another-cpu"),
        replace(host_target(), triple="riscv64-unknown-linux-gnu"),
    ],
    ids=["a feature is missing", "another machine"],
)
def test_code_for_another_machine_does_not_run_here(other: Target) -> None:
    assert not other.runs_here()


def test_code_for_a_cpu_with_fewer_features_runs_here() -> None:
    assert replace(host_target(), cpu="x86-64", features="").runs_here()


LOADER = """
import json, sys, time
from array import array
from kmc.runtime.native_module import NativeModule
start = time.perf_counter()
module = NativeModule(open(sys.argv[1], "rb").read(), ["main"])
words = array("Q", [5, 6])
result = module.call("main", [(words, 0)], [7])
seconds = time.perf_counter() - start
loaded = [name for name in sys.modules if name.startswith("kmc.")]
print(json.dumps({"result": result, "words": list(words), "seconds": seconds, "modules": loaded}))
"""


def test_object_code_runs_in_a_fresh_process_that_has_no_compiler(tmp_path: Path) -> None:
    body = (If(X, (Store("p", Const(1), Bin("add", FIRST, X)),)), Return(Load("p", Const(1))))
    path = tmp_path / "kernels.o"
    path.write_bytes(emit_object(emit_llvm(Module((Function("main", ("p",), ("x",), body),)))))
    run = subprocess.run([sys.executable, "-c", LOADER, str(path)], capture_output=True, text=True, check=True)
    report = json.loads(run.stdout)
    assert (report["result"], report["words"]) == (12, [5, 12])
    assert set(report["modules"]) <= {"kmc.runtime", "kmc.runtime.native_module", "kmc.errors", "kmc.near_words"}
