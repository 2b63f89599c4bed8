"""What a storage cannot do for now is asked again, with pauses, up to a limit; what it refuses is not."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from support.runs.pauses import Pauses
from support.runs.s3_server import S3Server

from kmc.errors import SystemFault
from kmc.shards.files.store import new_name
from kmc.shards.files.word_files import read_words, write_words
from kmc.shards.storage import remote_folder
from kmc.shards.storage.file_cache import FileCache
from kmc.shards.storage.object_store import PyarrowStore
from kmc.shards.storage.remote_folder import RemoteFolder
from kmc.shards.storage.retries import Retries
from kmc.shards.storage.storage_faults import Trouble, is_busy, may_succeed_later, storage_fault, trouble_in

BUSY = (
    "AWS Error INTERNAL_FAILURE during GetObject operation: Failed to flush response stream (eof: 0, bad: 1)",
    "AWS Error SLOW_DOWN during ListObjectsV2 operation: Please reduce your request rate.",
    "AWS Error SERVICE_UNAVAILABLE during PutObject operation",
    "AWS Error UNKNOWN (HTTP status 503) during HeadObject operation: No response body.",
    "AWS Error UNKNOWN (HTTP status 429) during GetObject operation: TooManyRequests",
    "AWS Error UNKNOWN (HTTP status 500) during HeadObject operation: No response body.",
)
LOST = (
    "AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 52, Server returned nothing",
    "curlCode: 28, Timeout was reached: Operation timed out after 3000 milliseconds",
    "[Errno 104] Connection reset by peer",
    "AWS Error NO_SUCH_UPLOAD during CompleteMultipartUpload operation: The upload does not exist.",
)
FORBIDDEN = (
    "AWS Error ACCESS_DENIED during PutObject operation: Access Denied",
    "AWS Error INVALID_ACCESS_KEY_ID during ListObjectsV2 operation: The key does not exist in our records.",
    "AWS Error SIGNATURE_DOES_NOT_MATCH during PutObject operation: The request signature does not match.",
    "AWS Error UNKNOWN (HTTP status 400) during PutObject operation: Unable to parse ExceptionName: ExpiredToken",
    "AWS Error UNKNOWN (HTTP status 403) during HeadObject operation: No response body.",
    "[Errno 13] Failed to open local file. Detail: [errno 13] Permission denied",
    "[Errno 30] Failed to create directory. Detail: [errno 30] Read-only file system",
)
REFUSED = (
    "AWS Error ACCESS_DENIED during HeadObject operation: No response body.",
    "AWS Error NO_SUCH_BUCKET during PutObject operation",
    "AWS Error UNKNOWN (HTTP status 403) during HeadObject operation",
    "AWS Error UNKNOWN (HTTP status 404) during HeadObject operation",
    "Path does not exist 'kmc-bucket/x/bits-5030-1'",
    "[Errno 28] No space left on device",
)


def failing(*texts: str) -> Callable[[], str]:
    """A request that fails with each of these texts, and is answered then."""
    left = list(texts)

    def request() -> str:
        if left:
            raise OSError(left.pop(0))
        return "answer"

    return request


@pytest.mark.parametrize("text", [*BUSY, *LOST])
def test_what_may_succeed_later_is_asked_again(text: str) -> None:
    pauses = Pauses()
    assert pauses.retries.of(failing(text, text)) == "answer"
    assert pauses.waited == [0.4, 0.8]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_is_not_asked_again(text: str) -> None:
    pauses = Pauses()
    with pytest.raises(OSError, match=re.escape(text)):
        pauses.retries.of(failing(text, text))
    assert pauses.waited == []


def test_a_missing_file_is_not_asked_for_again() -> None:
    pauses = Pauses()

    def missing() -> None:
        raise FileNotFoundError("no such file: runs/SLOW_DOWN/bits-1")

    with pytest.raises(FileNotFoundError):
        pauses.retries.of(missing)
    assert pauses.waited == []


def test_what_is_busy_is_told_from_what_is_not_reached() -> None:
    assert [is_busy(text) for text in (*BUSY, *LOST, *REFUSED)] == [True] * 6 + [False] * 10
    assert [may_succeed_later(text) for text in (*BUSY, *LOST, *REFUSED)] == [True] * 10 + [False] * 6


@pytest.mark.parametrize(
    ("code", "begins", "texts"),
    [
        ("KMC573", "the storage cannot answer now: cannot read s3://b/x: AWS", BUSY),
        ("KMC570", "the storage is not reached: cannot read", LOST),
        ("KMC574", "the storage refuses access: cannot read", FORBIDDEN),
        ("KMC575", "there is no such bucket: cannot read", REFUSED[1:2]),
        ("KMC570", "cannot read s3://b/x: ", REFUSED[3:]),
    ],
)
def test_each_error_of_a_storage_says_what_it_is(code: str, begins: str, texts: Sequence[str]) -> None:
    for text in texts:
        fault = storage_fault("read", "s3://b/x", OSError(text))
        assert (fault.code, fault.message.startswith(begins), text in fault.message) == (code, True, True), text


@pytest.mark.parametrize("name", ["SLOW_DOWN", "timed out", "HTTP status 503", "AWS Error NETWORK_CONNECTION"])
def test_the_names_of_objects_do_not_decide_what_an_error_is(name: str) -> None:
    text = f"When reading information for key '{name}' in bucket '{name}': AWS Error ACCESS_DENIED during HeadObject"
    assert trouble_in(text) is Trouble.REFUSED
    assert trouble_in(f"[Errno 13] Failed to open local file '/{name}'. Detail: Permission denied") is Trouble.REFUSED


def test_a_full_storage_says_to_make_room() -> None:
    for text in ("[Errno 28] No space left on device", "AWS Error UNKNOWN (HTTP status 507) during PutObject"):
        assert storage_fault("write", "s3://b/x", OSError(text)).help == "make room there"


def test_pauses_grow_up_to_a_bound_and_attempts_end() -> None:
    pauses = Pauses(attempts=9, seconds_max=1000)
    with pytest.raises(OSError, match="SLOW_DOWN"):
        pauses.retries.of(failing(*[BUSY[1]] * 9))
    assert pauses.waited == [0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0, 5.0]
    pauses = Pauses(0.5)
    assert pauses.retries.of(failing(*BUSY[:5])) == "answer"
    assert pauses.waited == [0.2, 0.4, 0.8, 1.6, 2.5], "a random part of the bound"


def test_no_attempt_begins_after_the_last_second() -> None:
    pauses = Pauses(attempts=100, seconds_max=4.0)
    with pytest.raises(OSError, match="SLOW_DOWN"):
        pauses.retries.of(failing(*[BUSY[1]] * 100))
    assert pauses.waited == [0.4, 0.8, 1.6]


class FailingStream:
    """A stream of bytes whose calls fail as often as the list says: each call takes one of `fails`."""

    def __init__(self, data: bytes, fails: list[bool]) -> None:
        self._stream, self._fails = io.BytesIO(data), fails

    def seek(self, place: int) -> None:
        self._call()
        self._stream.seek(place)

    def read(self, size: int) -> bytes:
        self._call()
        return self._stream.read(size)

    def close(self) -> None:
        self._stream.close()

    def _call(self) -> None:
        if self._fails and self._fails.pop(0):
            raise OSError(BUSY[0])


@pytest.mark.parametrize("number", range(8))
def test_no_part_is_read_twice_whichever_call_fails(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_folder, "PART_BYTES", 4)
    folder = RemoteFolder(tmp_path.as_uri(), Pauses().retries)
    # The second read fails, then one call of the repetition.
    fails = [False, False, True, *(at == number for at in range(8))]
    opened = SimpleNamespace(open_input_file=lambda _: FailingStream(b"0123456789", fails))
    monkeypatch.setattr(folder, "_fs", opened)
    assert folder.read("bits-1") == b"0123456789"


@pytest.fixture
def folder_of(s3: S3Server, tmp_path: Path) -> Callable[[Retries], RemoteFolder]:
    """A folder on a server, with these retries."""
    return lambda retries: RemoteFolder(s3.address(tmp_path.name), retries)


FolderOf = Callable[[Retries], RemoteFolder]


@pytest.mark.slow
@pytest.mark.parametrize("status", [503, 500, 429, 0])
def test_a_small_object_is_read_from_a_server_that_fails_now_and_then(
    status: int, folder_of: FolderOf, s3: S3Server
) -> None:
    pauses = Pauses()
    folder = folder_of(pauses.retries)
    folder.write("bits-1", b"12345678")
    with s3.failing(2, 3, status=status, path="bits-", methods=("GET",)) as asked:
        assert [folder.read("bits-1") for _ in range(3)] == [b"12345678"] * 3
    assert asked == [9]
    # pyarrow itself repeats what a broken connection ended.
    assert pauses.waited == ([0.4, 0.8] * 3 if status else [])


@pytest.mark.parametrize("status", [503, 429])
def test_a_server_that_fails_for_ever_is_one_error(status: int, folder_of: FolderOf, s3: S3Server) -> None:
    pauses = Pauses()
    folder = folder_of(pauses.retries)
    folder.write("bits-1", b"12345678")
    with s3.failing(1, status=status, path="bits-", methods=("GET",)) as asked, pytest.raises(SystemFault) as caught:
        folder.read("bits-1")
    assert (caught.value.code, asked, len(pauses.waited)) == ("KMC573", [6], 5)


@pytest.mark.parametrize("status", [429, 0])
def test_a_write_is_repeated_with_all_its_parts(status: int, folder_of: FolderOf, s3: S3Server) -> None:
    pauses = Pauses()
    folder = folder_of(pauses.retries)
    with s3.failing(2, 3, status=status, path="run-", methods=("PUT",)):
        folder.put("run-1", lambda: iter([b"1234", b"5678"]))
    assert folder.read("run-1") == b"12345678"
    # pyarrow itself repeats what a broken connection ended, and no status 429.
    assert pauses.waited == ([0.4, 0.8] if status else [])


def test_a_server_that_refuses_is_asked_once(folder_of: FolderOf, s3: S3Server) -> None:
    pauses = Pauses()
    folder = folder_of(pauses.retries)
    folder.write("bits-1", b"12345678")
    with s3.failing(1, status=403, path="bits-") as asked, pytest.raises(SystemFault, match="ACCESS_DENIED"):
        folder.read("bits-1")
    with pytest.raises(FileNotFoundError):
        folder.read("bits-2")
    assert (asked, pauses.waited) == ([1], [])


@pytest.mark.parametrize("status", [503, 0])
def test_a_reading_that_fails_in_the_middle_goes_on_there(
    status: int, folder_of: FolderOf, s3: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_folder, "PART_BYTES", 64)
    folder, whole = folder_of(Pauses().retries), bytes(range(256)) * 2
    folder.write("run-1", whole)
    with s3.failing(1, 3, status=status, path="run-", methods=("GET",)) as asked:
        assert folder.read("run-1") == whole
    assert asked[0] >= 12, "eight parts, some of them twice"


def test_a_file_of_words_is_read_whole_from_a_server_that_fails_now_and_then(s3: S3Server, tmp_path: Path) -> None:
    address, words = s3.address(tmp_path.name), np.arange(9)
    store = PyarrowStore(RemoteFolder(address), FileCache(tmp_path / "writer", 1 << 20))
    file = write_words(store, new_name("words", 0, 0), [words])
    reader = PyarrowStore(RemoteFolder(address, Pauses().retries), FileCache(tmp_path / "reader", 1 << 20))
    with s3.failing(4, 5, methods=("GET",)):
        assert read_words(reader, file).array.tolist() == words.tolist()
