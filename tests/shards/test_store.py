"""Every store of shards keeps files alike: in a folder, in a directory by pyarrow, on a server like S3."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.runs.s3_server import S3Server
from support.runs.shards import store_in

from kmc.engine.files.run_directory import RunDirectory
from kmc.engine.native.memory import Words
from kmc.errors import CommandLineError, KmcError, SystemFault
from kmc.shards.files.store import ShardStore, new_name
from kmc.shards.storage import object_store, remote_folder
from kmc.shards.storage.file_cache import FileCache
from kmc.shards.storage.object_store import PyarrowStore
from kmc.shards.storage.remote_folder import RemoteFolder, inside, parent_and_name, require_address

KINDS = ("folder", "directory", "s3")
AddressOf = Callable[[str], str]
StoreOf = Callable[[str], ShardStore]


def pyarrow_store(address: str, cache: Path, bytes_max: int = 1 << 30) -> PyarrowStore:
    return PyarrowStore(RemoteFolder(address), FileCache(cache, bytes_max))


@pytest.fixture
def store_of(address_of: AddressOf, tmp_path: Path) -> StoreOf:
    """A store of this kind. Made again, it reads the files that the first one wrote."""
    caches: list[Path] = []

    def store(kind: str) -> ShardStore:
        if kind == "folder":
            return store_in(tmp_path / "folder")
        caches.append(tmp_path / f"cache{len(caches)}")
        return pyarrow_store(address_of(kind), caches[-1])

    return store


def written(store: ShardStore, name: str, *parts: Words) -> str:
    return written_from(store, name, parts)


def written_from(store: ShardStore, name: str, parts: Iterable[Words]) -> str:
    with store.writing(name) as out:
        for part in parts:
            out.write(part)
    return name


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_read_as_it_was_written(kind: str, store_of: StoreOf) -> None:
    few, many = np.arange(3), np.arange(100_000) * 7
    name = written(store_of(kind), new_name("rows", 3, 1), few, many, few[:0])
    for store in (store_of(kind), store_of(kind)):
        found = store.read(name, 100_003)
        assert found.words == 100_003
        assert found.array.tolist() == [*few.tolist(), *many.tolist()]
        again = store.read(name, 100_003)
        store.remove([name])
        # What is read stays, whatever becomes of the file.
        assert again.array.tolist() == found.array.tolist()
        written(store, name, few, many)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_is_there_when_its_writing_ends(kind: str, store_of: StoreOf) -> None:
    store, other, name = store_of(kind), store_of(kind), new_name("bits", 1, 0)
    if kind != "folder":
        with store.writing(name) as out:
            out.write(np.arange(10))
            assert other.names() == []
    else:
        written(store, name, np.arange(10))
    store.sync([name])
    assert other.names() == [name]


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_those_of_files_of_searches(kind: str, store_of: StoreOf) -> None:
    store = store_of(kind)
    assert store.names() == []
    names = sorted(written(store, new_name(kind, 1, n), np.arange(2)) for kind in ("rows", "run") for n in range(3))
    assert store.names() == names
    store.remove(name for name in names[1:])
    store.remove(names[1:2])  # which is not there any more
    assert store.names() == names[:1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [9, 11, 0])
def test_a_file_of_another_size_is_damaged(kind: str, words: int, store_of: StoreOf) -> None:
    name = written(store_of(kind), new_name("run", 1, 0), np.arange(10))
    for store in (store_of(kind), store_of(kind)):
        with pytest.raises(SystemFault, match="another size") as caught:
            store.read(name, words)
        assert caught.value.code == "KMC551"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["rows-1-1-0123456789abcdef", "rows-1-1-../../../../x", "../secret"])
def test_a_file_that_is_not_there_is_damaged(kind: str, name: str, store_of: StoreOf) -> None:
    with pytest.raises(SystemFault, match=name.replace(".", r"\.")) as caught:
        store_of(kind).read(name, 2)
    assert caught.value.code == "KMC551"


@pytest.mark.parametrize("reason", [errno.EMFILE, errno.EACCES, errno.EIO])
@pytest.mark.parametrize("kind", ["run", "run.json", "checkpoint"])
def test_a_file_that_the_system_does_not_open_is_not_called_damaged(
    kind: str, reason: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_in(tmp_path / "checkpoint")
    name = written(store, new_name("run", 1, 0), np.arange(10))
    opened = os.open

    def refused(path: Any, *given: Any, **named: Any) -> int:
        if Path(path).name == (name if kind == "run" else kind):
            raise OSError(reason, os.strerror(reason))
        return opened(path, *given, **named)

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(SystemFault, match=os.strerror(reason)) as caught:
        _ = store.read(name, 10) if kind == "run" else RunDirectory.opened(tmp_path)
    assert caught.value.code == "KMC558"


def test_a_file_that_threads_wait_for_is_fetched_once(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = s3.address(tmp_path.name)
    name = written(pyarrow_store(address, tmp_path / "writer"), new_name("bits", 1, 0), np.arange(1000))
    store, parts = pyarrow_store(address, tmp_path / "reader"), RemoteFolder.parts
    fetched: list[str] = []

    def recorded(folder: RemoteFolder, name: str) -> Any:
        fetched.append(name)
        return parts(folder, name)

    monkeypatch.setattr(RemoteFolder, "parts", recorded)
    sums: list[int] = []
    threads = [threading.Thread(target=lambda: sums.append(int(store.read(name, 1000).array.sum()))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sums, fetched) == ([499_500] * 8, [name])


def test_a_file_larger_than_memory_for_it_goes_in_parts(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "PART_BYTES", 1000)
    monkeypatch.setattr(remote_folder, "PART_BYTES", 1000)
    sizes: list[int] = []
    put, parts = RemoteFolder.put, RemoteFolder.parts

    def told(found: Iterable[bytes]) -> Iterator[bytes]:
        for part in found:
            sizes.append(len(part))
            yield part

    monkeypatch.setattr(RemoteFolder, "put", lambda self, name, given: put(self, name, lambda: told(given())))
    monkeypatch.setattr(RemoteFolder, "parts", lambda self, name: told(parts(self, name)))
    address = s3.address(tmp_path.name)
    name = written(pyarrow_store(address, tmp_path / "writer"), new_name("run", 1, 0), np.arange(1300))
    assert sizes == [1000] * 10 + [400]
    assert pyarrow_store(address, tmp_path / "reader").read(name, 1300).array.sum() == 1300 * 1299 // 2
    assert sizes == ([1000] * 10 + [400]) * 2


def test_a_file_of_many_parts_is_whole(s3: S3Server, tmp_path: Path) -> None:
    # The service gets it as an upload of several parts.
    address, words = s3.address(tmp_path.name), np.arange(2_500_000)
    name = written(pyarrow_store(address, tmp_path / "writer"), new_name("rows", 1, 0), words)
    found = pyarrow_store(address, tmp_path / "reader").read(name, len(words))
    assert np.array_equal(found.array, words)


def test_the_cache_keeps_what_was_used_last(tmp_path: Path) -> None:
    address, size = f"file://{tmp_path}/storage", 8000
    store = pyarrow_store(address, tmp_path / "cache", 4 * size)
    names = [written(store, new_name("run", 1, number), np.full(size // 8, number)) for number in range(4)]

    def cached() -> set[str]:
        return {path.name for path in (tmp_path / "cache").iterdir()}

    assert cached() == set(names)
    held = store.read(names[1], size // 8)
    assert store.read(names[0], size // 8).array[0] == 0
    names += [written(store, new_name("run", 1, number), np.full(size // 8, number)) for number in range(4, 7)]
    assert cached() == {names[0], *names[4:]}
    assert held.array[0] == 1
    # All are read again from the storage.
    assert [int(store.read(name, size // 8).array[-1]) for name in names] == list(range(7))
    assert len(cached()) == 4


def test_a_writing_that_fails_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    store = pyarrow_store(f"file://{tmp_path}/storage", tmp_path / "cache")

    def words() -> Iterator[Words]:
        yield np.arange(5)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        written_from(store, new_name("run", 1, 0), words())
    assert (list((tmp_path / "cache").iterdir()), store.names()) == ([], [])


def refusal(address: str) -> KmcError:
    with pytest.raises(KmcError) as caught:
        RemoteFolder(address).write("x", b"1")
    return caught.value


@pytest.mark.usefixtures("credentials")
def test_a_missing_bucket_says_what_to_do(s3: S3Server) -> None:
    error = refusal(s3.address("folder", bucket="no-such-bucket"))
    assert (error.code, "NO_SUCH_BUCKET" in error.message) == ("KMC575", True)
    assert error.help == "make the bucket, or correct the address"


@pytest.mark.usefixtures("credentials")
def test_a_bucket_that_is_gone_is_not_a_folder_without_files(s3: S3Server) -> None:
    folder = RemoteFolder(s3.address("folder", bucket="no-such-bucket"))
    for ask in (folder.names, folder.folders, lambda: folder.read("x")):
        with pytest.raises(SystemFault, match="there is no such bucket: no-such-bucket") as caught:
            ask()
        assert caught.value.code == "KMC575"
    assert RemoteFolder(s3.address("no-such-folder")).names() == []


def test_missing_credentials_say_what_to_do(s3: S3Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    RemoteFolder(s3.address(tmp_path.name)).write("x", b"1")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SystemFault, match="ACCESS_DENIED") as caught:
        RemoteFolder(s3.address(tmp_path.name)).read("x")
    assert (caught.value.code, "AWS_ACCESS_KEY_ID" in (caught.value.help or "")) == ("KMC574", True)


def test_a_directory_that_cannot_be_written_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert refusal(f"file://{tmp_path}/file/folder").code == "KMC570"


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("a/folder", "name of a file system"),
        ("/a/folder", "name of a file system"),
        ("nonsense://a/b", "Unrecognized filesystem type"),
        ("s3://a bucket/x", "syntax error"),
        ("s3://bucket/x?region=a&colour=red", "colour"),
        ("s3://?region=a", "no bucket or folder"),
        ("s3://key:SECRET@bucket/x?region=a", "password"),
        ("s3://key:SEC#RET@bucket/x", "write %23"),
        ("s3://bucket/a#b", "write %23"),
        ("s3://bucket/a//b", "has a name"),
        ("s3://bucket/a/../b", "has a name"),
        ("gs://bucket/./b", "has a name"),
        ("s3://[x/y", "Invalid IPv6"),
    ],
)
def test_a_wrong_address_is_refused(address: str, why: str) -> None:
    with pytest.raises(CommandLineError, match=why) as caught:
        require_address(address)
    assert (caught.value.code, "SEC" in str(caught.value.message)) == ("KMC621", False)


def test_the_address_of_a_run_keeps_the_options_of_its_storage() -> None:
    address = inside("s3://bucket/runs/?region=x&scheme=http", "a-run")
    assert address == "s3://bucket/runs/a-run?region=x&scheme=http"
    assert parent_and_name(address) == ("s3://bucket/runs?region=x&scheme=http", "a-run")
    assert inside("s3://bucket?region=x", "a-run") == "s3://bucket/a-run?region=x"
    assert parent_and_name("file:///a/b/") == ("file:///a", "b")
