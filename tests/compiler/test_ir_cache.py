"""The disk cache of object code: found again, never trusted blindly, never in the way."""

from __future__ import annotations

import errno
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from support.drawing.ir_programs import expression_module
from support.kernels.load_module import load_module

from kmc.compile_log import CompileLog
from kmc.compiler.ir.emit_llvm import emit_llvm
from kmc.compiler.ir.nodes import Bin, Const, Var
from kmc.runtime import object_cache as cache_module
from kmc.runtime.native_module import NativeModule, Target, host_target
from kmc.runtime.object_cache import KernelCache, cache_key, cached_object
from kmc.runtime.object_code import KERNELS_VARIABLE, are_kernels_optimised, emit_object

MODULE = expression_module(Bin("add", Var("x"), Const(3)))
TEXT = emit_llvm(MODULE)
KEY = cache_key(TEXT, host_target())


class Compilations:
    """Counts the compilations that the cache did not spare."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, text: str, target: Target, *, optimised: bool) -> bytes:
        self.count += 1
        return emit_object(text, target, optimised=optimised)


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    counter = Compilations()
    monkeypatch.setattr(cache_module, "emit_object", counter)
    return counter


@pytest.fixture(autouse=True)
def log_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that cannot be written is reported once in a process, by the next test that runs a command there."""
    monkeypatch.setattr(cache_module, "LOG", CompileLog())


@pytest.fixture
def cache(tmp_path: Path) -> KernelCache:
    return KernelCache(tmp_path / "kernels")


def entry_of(cache: KernelCache) -> Path:
    """The file of the one entry."""
    assert cache.folder is not None
    return cache.folder / KEY


def test_a_second_compilation_is_spared(cache: KernelCache, compilations: Compilations) -> None:
    assert cached_object(TEXT, cache=cache) == cached_object(TEXT, cache=cache)
    assert compilations.count == 1


def test_code_from_the_cache_computes_the_same(cache: KernelCache) -> None:
    results = [load_module(MODULE, cache).call("main", [], (4, 0)) for _ in range(2)]
    assert results == [7, 7]


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def cut_inside_the_head(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def alter_the_code(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)


def alter_the_digest(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data)


def append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def put_bare_code(path: Path) -> None:
    path.write_bytes(emit_object(TEXT))


def put_another_entry(path: Path) -> None:
    other = KernelCache(path.parent / "other")
    cached_object(emit_llvm(expression_module(Const(0))), cache=other)
    (written,) = (path.parent / "other").iterdir()
    path.write_bytes(written.read_bytes())


DAMAGES = [
    cut_off,
    cut_inside_the_head,
    empty,
    alter_the_code,
    alter_the_digest,
    append,
    put_bare_code,
    put_another_entry,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_not_read(cache: KernelCache, damage: Callable[[Path], None]) -> None:
    cached_object(TEXT, cache=cache)
    damage(entry_of(cache))
    assert cache.read(KEY) is None


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_entry_is_written_anew(cache: KernelCache, damage: Callable[[Path], None]) -> None:
    code = cached_object(TEXT, cache=cache)
    damage(entry_of(cache))
    assert cached_object(TEXT, cache=cache) == code
    assert cache.read(KEY) == code


def test_a_folder_in_the_place_of_an_entry_is_not_an_entry(cache: KernelCache) -> None:
    entry_of(cache).mkdir(parents=True)
    assert NativeModule(cached_object(TEXT, cache=cache), ["main"]).call("main", [], (4, 0)) == 7


def put_fifo(path: Path) -> None:
    os.mkfifo(path)


def put_device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero: reading it never ends
    except PermissionError:
        pytest.skip("only root makes devices")


def put_folder(path: Path) -> None:
    path.mkdir()


def put_symlink_loop(path: Path) -> None:
    path.symlink_to(path)


def put_symlink_to_an_entry(path: Path) -> None:
    other = KernelCache(path.parent / "other")
    cached_object(TEXT, cache=other)
    path.symlink_to(path.parent / "other" / KEY)


def put_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        # The path itself may be longer than a socket's may.
        descriptor = os.open(path.parent, os.O_RDONLY)
        made.bind(f"/proc/self/fd/{descriptor}/{path.name}")
        os.close(descriptor)


def put_huge_file(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 42)


IN_THE_WAY = [put_fifo, put_device, put_folder, put_symlink_loop, put_symlink_to_an_entry, put_socket, put_huge_file]


@pytest.mark.slow
@pytest.mark.parametrize("put", IN_THE_WAY)
def test_what_is_not_a_file_of_code_is_neither_read_nor_waited_for(put: Callable[[Path], None], tmp_path: Path) -> None:
    cache = KernelCache(tmp_path / "kernels")
    entry_of(cache).parent.mkdir()
    put(entry_of(cache))
    # In a process of its own: one that hangs ends this test and not the suite.
    read = f"from kmc.runtime.object_cache import *; print(KernelCache(Path({str(cache.folder)!r})).read({KEY!r}))"
    ran = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, timeout=600, check=False)
    assert (ran.stdout, ran.stderr) == ("None\n", "")
    code = cached_object(TEXT, cache=cache)
    assert code == emit_object(TEXT)
    assert put is put_folder or cache.read(KEY) == code


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_an_entry_that_others_can_write_is_not_read(mode: int, cache: KernelCache) -> None:
    cached_object(TEXT, cache=cache)
    entry_of(cache).chmod(mode)
    assert cache.read(KEY) is None


def test_a_file_that_cannot_be_read_is_not_an_entry(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    code = cached_object(TEXT, cache=cache)

    def refused(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:  # root may read every file
        patch.setattr("os.open", refused)
        assert cache.read(KEY) is None
    assert cache.read(KEY) == code


def test_every_folder_that_is_made_is_for_this_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        cached_object(TEXT, cache=KernelCache.of_environment({"XDG_CACHE_HOME": str(tmp_path / "cache")}))
    finally:
        os.umask(before)
    made = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert sorted(path.name for path in made) == ["cache", "kernels", "kmc"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "kmc").mkdir()
    (tmp_path / "kmc").chmod(0o755)
    cached_object(TEXT, cache=KernelCache(tmp_path / "kmc" / "kernels"))
    assert stat.S_IMODE((tmp_path / "kmc").stat().st_mode) == 0o755


@pytest.mark.parametrize("name", ["x" * 300, "/".join(["x" * 200] * 30)])
def test_a_folder_whose_name_is_too_long_means_no_cache(name: str, tmp_path: Path, compilations: Compilations) -> None:
    cache = KernelCache(tmp_path / name)
    assert cached_object(TEXT, cache=cache) == cached_object(TEXT, cache=cache)
    assert compilations.count == 2


def test_an_entry_of_another_user_is_not_read(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cached_object(TEXT, cache=cache)
    own = entry_of(cache).stat().st_uid
    monkeypatch.setattr("os.geteuid", lambda: own + 1)
    assert cache.read(KEY) is None


def test_a_folder_that_cannot_be_made_means_no_cache(tmp_path: Path, compilations: Compilations) -> None:
    (tmp_path / "file").write_text("")
    cache = KernelCache(tmp_path / "file" / "kernels")
    assert cached_object(TEXT, cache=cache) == cached_object(TEXT, cache=cache)
    assert compilations.count == 2


def test_no_folder_means_no_cache(compilations: Compilations) -> None:
    cached_object(TEXT, cache=KernelCache(None))
    cached_object(TEXT, cache=KernelCache(None))
    assert compilations.count == 2


@pytest.mark.parametrize("reason", [OSError, KeyboardInterrupt])
def test_a_failed_write_leaves_no_file(
    reason: type[BaseException], cache: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: str, target: Path) -> None:
        raise reason("no space")

    monkeypatch.setattr("os.replace", refuse)
    with suppress(KeyboardInterrupt):
        cache.write(KEY, b"code")
    assert cache.folder is not None
    assert list(cache.folder.iterdir()) == []


@pytest.mark.parametrize(
    "other",
    [
        cache_key(TEXT + " ", host_target()),
        cache_key(TEXT, replace(host_target(), cpu="another")),
        cache_key(TEXT, replace(host_target(), features="")),
        cache_key(TEXT, replace(host_target(), triple="another")),
    ],
    ids=["text", "cpu", "features", "triple"],
)
def test_the_key_depends_on(other: str) -> None:
    assert other != KEY


def test_the_key_depends_on_the_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llvmlite.__version__", "another")
    assert cache_key(TEXT, host_target()) != KEY


def test_the_key_depends_on_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "RECIPE", "another")
    assert cache_key(TEXT, host_target()) != KEY


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"KMC_CACHE_DIR": "/own", "XDG_CACHE_HOME": "/shared"}, "/own/kernels"),
        ({"KMC_CACHE_DIR": "", "XDG_CACHE_HOME": "/shared"}, "/shared/kmc/kernels"),
        ({"XDG_CACHE_HOME": "relative"}, "/home/someone/.cache/kmc/kernels"),
        ({}, "/home/someone/.cache/kmc/kernels"),
    ],
)
def test_the_environment_names_the_folder(
    environment: dict[str, str], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/someone")
    assert KernelCache.of_environment(environment).folder == Path(folder)


WRITER = """
import sys
from pathlib import Path
from kmc.runtime.object_cache import KernelCache
cache = KernelCache(Path(sys.argv[1]))
code = bytes([int(sys.argv[2])]) * 300_000
print("ready", flush=True)
sys.stdin.readline()
wrong = 0
for _ in range(50):
    cache.write("key", code)
    read = cache.read("key")
    wrong += read is None or len(set(read)) != 1 or len(read) != len(code)
print(wrong)
"""


@pytest.mark.slow
def test_writers_at_the_same_time_leave_whole_entries(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "kernels"), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in (1, 2, 3)
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    found = [writer.communicate("go\n")[0] for writer in writers]
    assert (found, [path.name for path in (tmp_path / "kernels").iterdir()]) == (["0\n"] * 3, ["key"])


def test_code_without_optimisations_is_another_entry(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    optimised = cached_object(TEXT, cache=cache)
    monkeypatch.setenv(KERNELS_VARIABLE, "unoptimised")
    assert cached_object(TEXT, cache=cache) == emit_object(TEXT, optimised=False) != optimised
    assert cache.folder is not None
    kept = {path.name for path in cache.folder.iterdir()}
    assert kept == {KEY, cache_key(TEXT, host_target(), optimised=False)}


@pytest.mark.parametrize("value", ["optimised", "", "Unoptimised"])
def test_no_other_value_of_the_variable_prevents_optimisations(value: str) -> None:
    assert are_kernels_optimised({KERNELS_VARIABLE: value})


def test_kernels_without_optimisations_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KERNELS_VARIABLE, "unoptimised")
    assert NativeModule(cached_object(TEXT, cache=KernelCache(None)), ["main"]).call("main", [], (4, 0)) == 7
