"""A folder of any file system of pyarrow: S3 and what is compatible with it, Google Cloud, Azure, HDFS, a directory.

An error of a service is one SystemFault with the service's own words (`storage_faults.py`). What may succeed later is
repeated (`retries.py`). Repeating a write changes nothing if the first attempt was applied and its answer lost, because
a name is given once, to one content.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from kmc import failpoints
from kmc.errors import CommandLineError, SystemFault
from kmc.install_hint import install_command
from kmc.shards.storage.retries import Retries
from kmc.shards.storage.storage_faults import no_bucket, storage_fault

PART_BYTES = 8 << 20
"""The number of bytes that are read or written at once."""

_OBJECT_STORES = ("s3", "gcs", "abfs")
"""Types of file systems that have no folders to be made."""

_SCHEMES_OF_OBJECTS = ("s3", "gs", "gcs", "abfs", "abfss")
_NAMES = re.compile(r"(?:/(?!\.{1,2}(?:/|$))[^/]+)*/*")
"""A path whose parts are names of objects."""

_REMOVERS = 8


def inside(address: str, name: str) -> str:
    """The address of the entry `name` in the folder of an address."""
    url = urlsplit(address)
    return urlunsplit(url._replace(path=f"{url.path.rstrip('/')}/{name}"))


def parent_and_name(address: str) -> tuple[str, str]:
    """The address of the folder that something lies in, and its name there."""
    url = urlsplit(address)
    parent, _, name = url.path.rstrip("/").rpartition("/")
    return urlunsplit(url._replace(path=parent)), name


def is_address(text: str) -> bool:
    """Whether a text is an address of a storage, and not a path."""
    return "://" in text


def require_address(address: str) -> None:
    """Raise CommandLineError KMC621 unless pyarrow understands an address, SystemFault KMC572 without pyarrow."""
    RemoteFolder(address)


RETRIES = Retries()


class RemoteFolder:
    """The folder of an address, in the form of `pyarrow.fs.FileSystem.from_uri`. Files in it are found by name."""

    def __init__(self, address: str, retries: Retries | None = None) -> None:
        self.address = address
        self._retries = retries or RETRIES
        self._fs, self._path = _opened(address)

    @property
    def is_directory(self) -> bool:
        """Whether it is a directory of this machine, or one that it sees as its own."""
        return bool(self._fs.type_name == "local")

    def write(self, name: str, content: bytes) -> None:
        """Write a small file, see `put`."""
        self.put(name, lambda: [content])

    def put(self, name: str, parts: Callable[[], Iterable[bytes | memoryview]]) -> None:
        """Write a file part by part, and from its first part again if an attempt fails. The file is there, as a whole,
        when this returns; after a failure it may be cut off.
        """
        kind = name.split("-")[0]
        failpoints.reach(f"before put {kind}")
        with self._asking("write", name):
            self._retries.of(lambda: self._attempt(name, parts()))
        if self.is_directory:
            self._sync(name)
        failpoints.reach(f"after put {kind}")

    def _attempt(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        if self._fs.type_name not in _OBJECT_STORES:
            self._fs.create_dir(self._path, recursive=True)
        with self._fs.open_output_stream(self._path_of(name)) as out:
            for piece in parts:
                out.write(piece)

    def _sync(self, name: str) -> None:
        with self._asking("sync", name):
            for path in (self._path_of(name), self._path):
                descriptor = os.open(path, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def parts(self, name: str) -> Iterator[bytes]:
        """The bytes of a file, part by part; FileNotFoundError if there is none, KMC575 if there is no bucket."""
        stream: Any = None
        offset = 0

        def following() -> bytes:
            """Read the part at `offset`, from a new stream if there is none."""
            nonlocal stream
            try:
                if stream is None:
                    stream = self._fs.open_input_file(self._path_of(name))
                    stream.seek(offset)
                read: bytes = stream.read(PART_BYTES)
            except OSError:
                stream = None
                raise
            return read

        with self._asking("read", name, missing=True):
            try:
                while piece := self._retries.of(following):
                    offset += len(piece)
                    yield piece
            except FileNotFoundError:
                self._require_bucket()
                raise
            finally:
                if stream is not None:
                    stream.close()

    def read(self, name: str) -> bytes:
        """The bytes of a small file; FileNotFoundError if there is none."""
        return b"".join(self.parts(name))

    def names(self) -> list[str]:
        """The names of its files, sorted."""
        return self._names(of_folders=False)

    def folders(self) -> list[str]:
        """The names of the folders in it, sorted."""
        return self._names(of_folders=True)

    def _names(self, *, of_folders: bool) -> list[str]:
        from pyarrow.fs import FileSelector, FileType

        wanted = FileType.Directory if of_folders else FileType.File
        with self._asking("list", ""):
            wanted_files = FileSelector(self._path, allow_not_found=True)
            infos = self._retries.of(lambda: self._fs.get_file_info(wanted_files))
        if not infos:
            self._require_bucket()
        return sorted(info.base_name for info in infos if info.type == wanted)

    def _require_bucket(self) -> None:
        """Raise SystemFault KMC575 if the bucket is not there, so that its files seem to be removed."""
        from pyarrow.fs import FileType

        bucket = self._path.partition("/")[0]
        # Some credentials may not ask for it.
        with suppress(OSError):
            if self._fs.type_name in _OBJECT_STORES and self._fs.get_file_info(bucket).type == FileType.NotFound:
                raise no_bucket(f"{bucket}, of {self.address}")

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, if they are there."""
        wanted = list(names)
        if len(wanted) < 2:
            for name in wanted:
                self._remove(name)
            return
        # A service needs some ten milliseconds for one.
        with ThreadPoolExecutor(_REMOVERS) as threads:
            for _ in threads.map(self._remove, wanted):
                pass

    def _remove(self, name: str) -> None:
        failpoints.reach(f"before remove {name.split('-')[0]}")
        with suppress(FileNotFoundError), self._asking("remove", name, missing=True):
            self._retries.of(lambda: self._fs.delete_file(self._path_of(name)))

    def remove_folder(self) -> None:
        """Remove the folder and all that lies in it, if it is there."""
        with suppress(FileNotFoundError), self._asking("remove", "", missing=True):
            self._retries.of(lambda: self._fs.delete_dir(self._path))

    def _path_of(self, name: str) -> str:
        return f"{self._path}/{name}"

    @contextmanager
    def _asking(self, what: str, name: str, *, missing: bool = False) -> Iterator[None]:
        """While the file system answers a request, turn its errors into those of `storage_fault`; with `missing`,
        FileNotFoundError is left to the caller.
        """
        try:
            yield
        except FileNotFoundError as error:
            if missing:
                raise
            raise storage_fault(what, inside(self.address, name), error) from None
        except (OSError, ValueError) as error:
            raise storage_fault(what, inside(self.address, name), error) from None


def _opened(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        from pyarrow.fs import FileSystem
    except ImportError:
        hint = f"install it: {install_command('storage')}"
        raise SystemFault("KMC572", "pyarrow is not installed", help=hint) from None
    url = _parts_of(address)
    if url.scheme == "s3" and "allow_delayed_open" not in url.query:
        # A small file is one request then, not three.
        url = url._replace(query="&".join(filter(None, [url.query, "allow_delayed_open=true"])))
    try:
        system, path = FileSystem.from_uri(urlunsplit(url))
    except ValueError as error:
        raise _misread(address, str(error)) from None
    except OSError as error:
        raise storage_fault("open", address, error) from None
    if not path.strip("/"):
        raise _misread(address, "it names no bucket or folder")
    return system, path.rstrip("/")


def _parts_of(address: str) -> Any:
    try:
        url = urlsplit(address)
    except ValueError as error:
        raise _misread(address, str(error)) from None
    if not url.scheme or not is_address(address):
        raise _misread(address, "it does not begin with the name of a file system")
    if url.password is not None:
        # It would appear in the run's files, in lists of runs and in logs.
        shown = address.replace(f":{url.password}@", ":...@")
        raise _misread(shown, "it holds a password, which belongs into the environment")
    if "#" in address:
        # What comes before it may be half of a password.
        raise _misread(f"{url.scheme}://...#...", "a '#' is not part of a name: write %23")
    if url.scheme in _SCHEMES_OF_OBJECTS and not _NAMES.fullmatch(url.path):
        raise _misread(address, "a folder in an object store has a name that is not '', '.' or '..'")
    return url


def _misread(address: str, why: str) -> CommandLineError:
    return CommandLineError(
        "KMC621",
        f"'{address}' is not an address of a storage: {why}",
        help="write s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, abfs://..., hdfs://HOST/FOLDER or file:///FOLDER, "
        "and %XX for a character that is not allowed there",
    )
