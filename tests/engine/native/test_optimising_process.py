"""Another process optimises kernels: what it sends, what becomes of it, and that a check needs none of it."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from support.specs.small import COUNTER, model_of

from kmc.compile_log import LOG, CompileLog
from kmc.compiler.compile_spec import compile_spec
from kmc.engine import check_model
from kmc.engine.check_model import check_native
from kmc.engine.compiled_model import CompiledModel
from kmc.engine.layout.kernel_interface import KernelTable
from kmc.engine.layout.search_outcome import Settings
from kmc.engine.optimised_kernels import OptimisedKernels, optimised_later
from kmc.engine.search_in_memory import SearchInMemory
from kmc.errors import InternalError
from kmc.frontend.model import Model
from kmc.result import Limits, Verdict
from kmc.runtime import optimising_process
from kmc.runtime.container import container_of
from kmc.runtime.native_module import host_target
from kmc.runtime.object_cache import KernelCache, cache_key, cached_object
from kmc.runtime.object_code import KERNELS_VARIABLE, emit_object
from kmc.runtime.optimising_process import OptimisingProcess

TEXT = "define i64 @kmc.main(i64 %a) {\n  %b = add i64 %a, 3\n  %c = sub i64 %b, 3\n  ret i64 %c\n}\n"


@pytest.fixture
def cache(tmp_path: Path) -> KernelCache:
    """A cache that is empty."""
    return KernelCache(tmp_path / "kernels")


@pytest.fixture
def _never_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Optimising in this process is an error."""
    monkeypatch.setattr(optimising_process, "kept_object", lambda *_, **__: pytest.fail("optimised here"))


@pytest.fixture
def _optimised_later(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Kernels are compiled as for a user, with a cache that is empty."""
    monkeypatch.delenv(KERNELS_VARIABLE)
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))


def compiled_at_once(model: Model) -> CompiledModel:
    """A model as a search that begins at once has it, without loops."""
    spec = compile_spec(model, at_once=True)
    return CompiledModel(model, spec, KernelTable.of(spec), 0.0)


def ended(process: OptimisingProcess) -> OptimisingProcess:
    """The process when it runs no more."""
    while process.is_running:
        time.sleep(0.01)
    return process


def started(cache: KernelCache, text: str = TEXT) -> OptimisingProcess:
    """A process that optimises a text."""
    process = OptimisingProcess(text, host_target(), cache)
    process.start()
    return process


@pytest.mark.usefixtures("_never_here")
def test_the_code_is_that_of_this_process_and_is_kept(cache: KernelCache) -> None:
    code = ended(started(cache)).code()
    assert code == emit_object(TEXT) == cache.read(cache_key(TEXT, host_target()))


def test_code_that_was_sent_in_vain_is_kept(cache: KernelCache) -> None:
    ended(started(cache)).close()
    assert cache.read(cache_key(TEXT, host_target())) == emit_object(TEXT)


def test_closing_ends_the_process_at_once_and_keeps_nothing(cache: KernelCache) -> None:
    process = started(cache)
    child = process._process
    assert child is not None
    process.close()
    process.close()
    assert (child.returncode, process.is_running) == (-signal.SIGKILL, False)
    assert cache.folder is not None
    assert not cache.folder.exists()


KILLED = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
WITHOUT_MEMORY = "from kmc.runtime import optimising_process as p; "
WITHOUT_MEMORY += "p.emit_object = lambda *_: (_ for _ in ()).throw(MemoryError); p.send()"
LOST = {KILLED: "it was killed by signal 9", WITHOUT_MEMORY: "the system gave it no memory"}


def test_a_process_that_fails_costs_time_only(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimising_process, "_PROGRAM", "raise SystemExit(1)")
    process = ended(started(cache))
    assert (process.lost, process.code()) == (None, emit_object(TEXT))


@pytest.mark.parametrize("program", LOST)
def test_the_end_of_a_process_says_why_there_is_no_code(
    program: str, cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimising_process, "_PROGRAM", program)
    process = started(cache)
    assert ended(process).lost == LOST[program]
    process.close()


def test_a_process_for_which_there_is_no_memory_is_lost(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr("subprocess.Popen", refused)
    process = started(cache)
    assert (process.is_running, process.lost) == (False, "the system gave it no memory")
    process.close()


@pytest.mark.usefixtures("_never_here")
def test_a_search_goes_on_without_optimised_kernels_when_their_process_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimising_process, "_PROGRAM", KILLED)
    log = CompileLog()
    monkeypatch.setattr("kmc.engine.optimised_kernels.LOG", log)
    compiled = compiled_at_once(model_of(tmp_path, COUNTER))
    later = OptimisedKernels(compiled.spec, begin_after_seconds=0)
    while not later._is_done:
        assert later.arrived() is None
    assert later.arrived() is None
    assert later._process is not None
    assert later._process._process is None, "nothing of it is left"
    (text,) = log.warnings_to_show()
    assert "ended early (it was killed by signal 9), so the search goes on with slower code" in text
    assert log.warnings_to_show() == []


@pytest.mark.parametrize("executable", ["/there/is/none", "", None])
def test_no_interpreter_costs_time_only(
    executable: str | None, cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    process = started(cache)
    assert not process.is_running
    assert process.code() == emit_object(TEXT)


@pytest.mark.parametrize("sent", ["another key", "damaged", "nothing"])
def test_code_that_a_process_has_no_reason_to_send_is_not_run(
    sent: str, cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = emit_object(TEXT.replace("3", "4"))
    parts = {
        "another key": container_of([b"key of another kmc", wrong]),
        "damaged": container_of([cache_key(TEXT, host_target()).encode(), wrong])[:-1],
        "nothing": b"",
    }
    program = f"import sys; sys.stdout.buffer.write(bytes.fromhex('{parts[sent].hex()}'))"
    monkeypatch.setattr(optimising_process, "_PROGRAM", program)
    assert ended(started(cache)).code() == emit_object(TEXT)


def test_ctrl_c_does_not_end_the_process(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    # Before it reads, so that the signal comes while it works.
    program = "import os, signal; from kmc.runtime import optimising_process as p; "
    program += "cache_key = p.cache_key; "
    program += "p.cache_key = lambda *all: [os.kill(os.getpid(), signal.SIGINT), cache_key(*all)][1]; p.send()"
    monkeypatch.setattr(optimising_process, "_PROGRAM", program)
    monkeypatch.setattr(optimising_process, "kept_object", lambda *_, **__: pytest.fail("optimised here"))
    assert ended(started(cache)).code() == emit_object(TEXT)


def test_a_text_that_llvm_refuses_is_the_error_of_this_process(cache: KernelCache) -> None:
    with pytest.raises(InternalError, match="LLVM refuses the text") as caught:
        ended(started(cache, "define i64 @f( {")).code()
    assert caught.value.code == "KMC917"


@pytest.mark.slow
@pytest.mark.usefixtures("_optimised_later", "_never_here")
def test_a_new_model_has_its_optimised_kernels_later_and_the_next_time_at_once(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER)
    compiled = compiled_at_once(model)
    later = optimised_later(compiled)
    assert later is not None
    assert later.arrived() is None, "before its time no process is started"
    later = OptimisedKernels(compiled.spec, begin_after_seconds=0)
    tables: list[KernelTable] = []
    while not tables:
        if (table := later.arrived()) is not None:
            tables.append(table)
    assert tables[0].expand != compiled.kernels.expand
    row = compiled.record(next(model.spec.init())).row
    assert [record.fingerprint for record in tables[0].successors(row)] == [
        record.fingerprint for record in compiled.kernels.successors(row)
    ]
    assert later.arrived() is None
    later.close()
    again = compiled_at_once(model)
    assert (again.spec.is_final, optimised_later(again)) == (True, None)


@pytest.mark.usefixtures("_optimised_later")
def test_the_cache_keeps_code_of_both_kinds(tmp_path: Path) -> None:
    model = model_of(tmp_path, COUNTER)
    compiled = LOG.ended
    first, second = (compile_spec(model, at_once=True) for _ in range(2))
    assert (LOG.ended - compiled, first.is_final, second.is_final) == (1, False, False)
    assert compile_spec(model).is_final
    assert compile_spec(model, at_once=True).is_final
    assert LOG.ended - compiled == 2


@pytest.mark.usefixtures("_optimised_later")
def test_closing_before_the_kernels_arrive_leaves_no_process(tmp_path: Path) -> None:
    later = OptimisedKernels(compile_spec(model_of(tmp_path, COUNTER), at_once=True), begin_after_seconds=0)
    assert later.arrived() is None
    assert later._process is not None
    child = later._process._process
    assert child is not None
    later.close()
    assert later.arrived() is None
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


@pytest.mark.usefixtures("_optimised_later")
@pytest.mark.parametrize("value", ["optimised", "unoptimised"])
def test_a_kind_of_kernels_that_is_named_is_the_only_one(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KERNELS_VARIABLE, value)
    spec = compile_spec(model_of(tmp_path, COUNTER), at_once=True)
    assert spec.is_final
    assert spec._code == emit_object(spec.llvm_ir, optimised=value == "optimised") == cached_object(spec.llvm_ir)


@pytest.mark.parametrize("fails", [False, True])
def test_a_check_that_ends_before_leaves_no_process(
    fails: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimising_process, "_PROGRAM", "import time; time.sleep(600)")
    later: list[OptimisedKernels] = []

    def search_of(compiled: CompiledModel, initial: Any, settings: Settings, *_: Any, **__: Any) -> SearchInMemory:
        later.append(OptimisedKernels(compiled.spec, begin_after_seconds=0))
        search = SearchInMemory(compiled.kernels, initial, settings, later=later[0])
        search._poll()
        if fails:
            monkeypatch.setattr(search, "_explore", lambda: 1 // 0)
        return search

    model = model_of(tmp_path, COUNTER, "CHECK_DEADLOCK FALSE")
    monkeypatch.setattr(check_model, "_compiled", lambda *_, **__: (compiled_at_once(model), None))
    with pytest.raises(ZeroDivisionError) if fails else nullcontext():
        assert check_native(model, Limits(), search_of=search_of).verdict is Verdict.OK
    assert later[0]._process is not None
    assert (later[0]._process._process, later[0]._process.is_running) == (None, False)
