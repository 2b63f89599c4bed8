"""Native loops: what their code is kept under, what is never run, and that another process may help but need not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kmc.engine.loops import background_compile, compiled_loops, expand, view_representatives
from kmc.engine.loops.background_compile import compiled_in_background
from kmc.engine.loops.compiled_loops import NativeLoop, digest_of
from kmc.engine.native.intrinsics import inlined, load, parts, store
from kmc.engine.native.memory import Memory
from kmc.engine.native.specialization import WIDE, Specialization
from kmc.engine.native.translate import llvm_text
from kmc.runtime.container import container_of
from kmc.runtime.native_module import host_target
from kmc.runtime.object_cache import KernelCache


@inlined
def doubled(word: int) -> int:
    """Twice a word."""
    return 2 * word


@inlined
def set_first(address: int, word: int) -> None:
    """Write the first word."""
    store(address, 0, word)


def doubling(address: int, index: int) -> int:
    """Write twice the word at an index to the first; the word."""
    set_first(address, doubled(load(address, index)))
    return load(address, index)


def tripling(address: int, index: int) -> int:
    """Three times the word at an index."""
    return 3 * load(address, index)


def word_at(address: int, index: int) -> int:
    """The word at an index."""
    return load(address, index)


def width(first: int, _: int) -> int:
    """2 where fingerprints have two words."""
    return 2 if WIDE != 0 else doubled(first)


def rounding(left: int, right: int) -> int:
    """What Python and C may disagree on."""
    return left // right * 1_000_000 + left % right * 1_000 + min(left, right) - max(left, right)


def counting(first: int, end: int) -> int:
    """A loop with a step."""
    found = 0
    for number in range(first, end, 3):
        found = found * 10 + number
    return found


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KernelCache:
    """A cache folder that is empty."""
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    return KernelCache.of_environment()


@pytest.fixture
def words() -> Memory:
    """Three words: 5, 6, 7."""
    memory = Memory(3)
    memory.array[:] = 5, 6, 7
    return memory


@pytest.fixture
def never_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling in this process is an error."""

    def refuse(loop: NativeLoop) -> bytes:
        raise AssertionError("compiled here")

    monkeypatch.setattr(NativeLoop, "compiled", refuse)


@pytest.fixture
def two_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process is worth it."""
    monkeypatch.setattr(background_compile, "usable_cpus", lambda: 2)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "loops.py").write_text("from fields import WORD\n")
    (tmp_path / "control_words.py").write_text("WORD = 8\n")
    return tmp_path


def test_a_loop_does_what_its_python_says(words: Memory) -> None:
    assert (NativeLoop(doubling)(words.address, 1), words.array.tolist()) == (6, [12, 6, 7])


@pytest.mark.parametrize("left", [-7, 7])
@pytest.mark.parametrize("right", [-2, 2])
def test_a_loop_divides_like_python(left: int, right: int) -> None:
    assert NativeLoop(rounding)(left, right) == rounding(left, right)


def test_a_loop_counts_like_python() -> None:
    assert NativeLoop(counting)(1, 9) == counting(1, 9) == 147


@pytest.mark.parametrize(("wide", "answer"), [(True, 2), (False, 10)])
def test_a_specialization_decides_what_a_loop_does(wide: bool, answer: int) -> None:
    assert NativeLoop(width, Specialization(wide=wide))(5, 0) == answer


def test_what_is_specialized_away_is_not_part_of_a_loop() -> None:
    texts = [llvm_text(width, "loop", Specialization(wide=wide).values) for wide in (True, False)]
    assert ["doubled" in text for text in texts] == [False, True]


@pytest.mark.parametrize("option", ["wide", "ranked", "fuzz_schedule"])
def test_loops_for_another_specialization_have_keys_of_their_own(option: str) -> None:
    assert NativeLoop(width, Specialization(**{option: True})).key != NativeLoop(width).key


@pytest.mark.parametrize("other", [{"cpu": "another"}, {"features": "+sse2"}, {"triple": "another"}])
def test_loops_for_another_processor_have_keys_of_their_own(
    other: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = NativeLoop(expand.work).key
    monkeypatch.setattr(compiled_loops, "host_target", lambda: replace(host_target(), **other))
    assert NativeLoop(expand.work).key != here


def test_a_changed_number_in_another_file_gives_another_key(files: Path) -> None:
    before = digest_of(files)
    digest_of.cache_clear()
    (files / "control_words.py").write_text("WORD = 4\n")
    assert digest_of(files) != before


def test_a_changed_number_in_a_file_of_an_inner_folder_gives_another_key(files: Path) -> None:
    inner = files / "loops" / "tables"
    inner.mkdir(parents=True)
    (inner / "slots.py").write_text("SLOTS = 8\n")
    before = digest_of(files)
    digest_of.cache_clear()
    (inner / "slots.py").write_text("SLOTS = 4\n")
    assert digest_of(files) != before


def test_a_file_moved_to_another_folder_gives_another_key(files: Path) -> None:
    (files / "loops").mkdir()
    before = digest_of(files)
    digest_of.cache_clear()
    (files / "control_words.py").rename(files / "loops" / "control_words.py")
    assert digest_of(files) != before


def test_the_same_files_give_the_same_key(files: Path) -> None:
    before = digest_of(files)
    digest_of.cache_clear()
    assert digest_of(files) == before


def copied_engine(folder: Path) -> Path:
    """A copy of kmc, to be edited and imported by a process that runs in `folder`; its engine's folder."""
    whole = Path(compiled_loops.__file__).parents[2]
    shutil.copytree(whole, folder / "kmc", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "kmc" / "engine"


KEY = "from kmc.engine.loops import compiled_loops as c; print(c.work_loop(c.Specialization()).key, c.__file__)"


@pytest.mark.slow
@pytest.mark.parametrize("file", ["loops/pack.py", "layout/control_words.py", "native/intrinsics.py"])
def test_a_change_in_any_folder_of_the_engine_gives_loops_another_key(tmp_path: Path, file: str) -> None:
    engine = copied_engine(tmp_path)

    def printed() -> list[str]:
        command = [sys.executable, "-c", KEY]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()

    before, where = printed()
    with (engine / file).open("a") as source:
        print("CHANGED = 1", file=source)
    assert Path(where).is_relative_to(tmp_path)
    assert printed()[0] != before


EDITED = """
from pathlib import Path
from kmc.engine.layout import control_words
from kmc.engine.loops import compiled_loops
before = compiled_loops.digest_of.__wrapped__(Path(control_words.__file__).parents[1])
with open(control_words.__file__, "a") as file:
    print("LINE_WORDS = 4", file=file)
after = compiled_loops.digest_of.__wrapped__(Path(control_words.__file__).parents[1])
print([before, after].index(compiled_loops.digest_of(Path(control_words.__file__).parents[1])), before != after)
"""


@pytest.mark.slow
def test_a_file_edited_after_it_was_imported_does_not_change_the_key(tmp_path: Path) -> None:
    copied_engine(tmp_path)
    ran = subprocess.run([sys.executable, "-c", EDITED], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "0 True\n", ran.stderr


LATE = """
from kmc.engine.loops import compiled_loops, expand
with open(expand.__file__, "w") as file:
    print("work = 1", file=file)
print(len(compiled_loops.seek_loop().compiled()) > 0)
"""


@pytest.mark.slow
def test_a_loop_of_a_file_edited_after_it_was_imported_is_translated_as_it_was(tmp_path: Path) -> None:
    copied_engine(tmp_path)
    ran = subprocess.run([sys.executable, "-c", LATE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout == "True\n", ran.stderr


def test_loops_of_one_file_have_keys_of_their_own() -> None:
    assert NativeLoop(doubling).key != NativeLoop(tripling).key


@pytest.mark.usefixtures("own_cache")
def test_a_loop_is_compiled_once(words: Memory, request: pytest.FixtureRequest) -> None:
    NativeLoop(tripling).load()
    request.getfixturevalue("never_compiled")
    assert NativeLoop(tripling)(words.address, 0) == 15


LOADED = """
import sys
from kmc.engine import check_model
from kmc.engine.loops import compiled_loops
compiled_loops.view_representatives_loop(compiled_loops.Specialization()).load()
print("kmc.engine.native.translate" in sys.modules)
"""


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_kept_code_is_loaded_without_the_translation() -> None:
    NativeLoop(view_representatives.select).load()
    ran = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False)
    assert ran.stdout == "False\n", ran.stderr


def test_code_of_other_files_is_not_run(own_cache: KernelCache, words: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_loops, "digest_of", lambda _folder: "before a change")
    stale = NativeLoop(tripling)
    own_cache.write(stale.key, NativeLoop(word_at).compiled())
    assert stale(words.address, 0) == 5
    monkeypatch.undo()
    assert own_cache.folder is not None
    monkeypatch.setenv("KMC_CACHE_DIR", str(own_cache.folder.parent))
    assert NativeLoop(tripling)(words.address, 0) == 15


def test_damaged_code_is_not_run(own_cache: KernelCache, words: Memory) -> None:
    loop = NativeLoop(tripling)
    own_cache.write(loop.key, NativeLoop(word_at).compiled())
    assert own_cache.folder is not None
    path = own_cache.folder / loop.key
    path.write_bytes(path.read_bytes()[:-1])
    assert loop(words.address, 0) == 15


def test_a_loop_runs_without_a_place_to_keep_its_code(
    tmp_path: Path, words: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A file where the folder should be: it cannot be made, whatever rights this process has.
    (tmp_path / "cache").write_text("")
    monkeypatch.setenv("KMC_CACHE_DIR", str(tmp_path / "cache"))
    assert NativeLoop(tripling)(words.address, 0) == 15


def test_the_code_of_a_loop_refers_to_nothing_outside() -> None:
    declared = [line for line in llvm_text(doubling, "loop").splitlines() if line.startswith("declare")]
    assert [line for line in declared if "llvm." not in line] == []


def test_an_intrinsic_is_not_called_by_python() -> None:
    with pytest.raises(AssertionError, match="part of a compiled loop"):
        load(0, 0)


def test_parts_stay_functions() -> None:
    assert doubled in parts
    assert doubled(4) == 8


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache", "two_cpus", "never_compiled")
def test_another_process_compiles_a_loop() -> None:
    loop = NativeLoop(view_representatives.select, Specialization(ranked=True))
    with compiled_in_background(loop):
        loop.load()
    assert loop.is_ready()


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache", "two_cpus", "never_compiled")
def test_a_path_that_is_not_text_is_passed_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [tmp_path / "a folder", *sys.path])
    loop = NativeLoop(view_representatives.select, Specialization(ranked=True, wide=True))
    with compiled_in_background(loop):
        loop.load()
    assert loop.is_ready()


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started."""
    started: list[subprocess.Popen[bytes]] = []
    begin = background_compile._started

    def noted(loop: NativeLoop) -> Any:
        child = begin(loop)
        assert child is not None
        started.append(child)
        return child

    monkeypatch.setattr(background_compile, "_started", noted)
    return started


@pytest.mark.usefixtures("own_cache", "two_cpus")
def test_a_killed_process_costs_time_only(words: Memory, children: list[subprocess.Popen[bytes]]) -> None:
    loop = NativeLoop(tripling)
    with compiled_in_background(loop):
        children[0].kill()
        assert loop(words.address, 0) == 15


@pytest.mark.usefixtures("own_cache", "two_cpus")
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, ValueError])
def test_no_process_outlives_the_block(
    interruption: type[BaseException], children: list[subprocess.Popen[bytes]]
) -> None:
    with pytest.raises(interruption), compiled_in_background(NativeLoop(tripling)):
        raise interruption
    assert children[0].returncode is not None


@pytest.mark.usefixtures("own_cache", "two_cpus")
def test_one_process_serves_a_block_in_a_block(children: list[subprocess.Popen[bytes]]) -> None:
    loop = NativeLoop(tripling)
    with compiled_in_background(loop):
        with compiled_in_background(loop):
            pass
        assert loop.prefetched_code is not None
    assert len(children) == 1


@pytest.mark.usefixtures("own_cache", "two_cpus")
def test_no_process_is_started_for_a_loop_that_is_kept(children: list[subprocess.Popen[bytes]]) -> None:
    NativeLoop(tripling).load()
    with compiled_in_background(NativeLoop(tripling)):
        pass
    assert children == []


@pytest.mark.usefixtures("own_cache", "two_cpus")
def test_no_process_is_started_for_a_loop_when_one_that_may_do_instead_is_kept(
    children: list[subprocess.Popen[bytes]],
) -> None:
    NativeLoop(tripling, Specialization(ranked=True)).load()
    with compiled_in_background(NativeLoop(tripling), NativeLoop(tripling, Specialization(ranked=True))):
        pass
    assert children == []


@pytest.mark.usefixtures("own_cache", "two_cpus")
@pytest.mark.parametrize("executable", ["/there/is/none", "", None])
def test_no_interpreter_costs_time_only(executable: str | None, words: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    loop = NativeLoop(tripling)
    with compiled_in_background(loop):
        assert loop(words.address, 0) == 15


@pytest.mark.usefixtures("own_cache", "two_cpus")
@pytest.mark.parametrize("sent", ["another key", "damaged", "no code"])
def test_code_that_a_process_has_no_reason_to_send_is_not_run(
    sent: str, words: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = NativeLoop(word_at).compiled()
    parts_sent = {
        "another key": container_of([b"key of another kmc", code]),
        "damaged": container_of([NativeLoop(tripling).key.encode(), code])[:-1],
        "no code": container_of([]),
    }
    program = f"import sys; sys.stdout.buffer.write(bytes.fromhex('{parts_sent[sent].hex()}'))"
    monkeypatch.setattr(background_compile, "_PROGRAM", program)
    loop = NativeLoop(tripling)
    with compiled_in_background(loop):
        assert loop(words.address, 0) == 15
