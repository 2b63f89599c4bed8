"""An object store in this process whose requests fail by a plan: pyarrow's file system of S3, without a server.

Its errors have the texts of pyarrow 26 on a server that fails so (`s3_server.py`).
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

BUCKET = "bucket"
TEXTS = {
    "slow": "AWS Error SLOW_DOWN during {} operation: Please reduce your request rate.",
    "broken": "AWS Error UNKNOWN (HTTP status 500) during {} operation: No response body.",
    "small": "AWS Error INTERNAL_FAILURE during {} operation: Failed to flush response stream (eof: 0, bad: 1)",
    "many": "AWS Error UNKNOWN (HTTP status 429) during {} operation: Unable to parse ExceptionName: TooManyRequests",
    "dropped": "AWS Error NETWORK_CONNECTION during {} operation: curlCode: 52, Server returned nothing",
    "unanswered": "AWS Error NETWORK_CONNECTION during {} operation: curlCode: 52, Server returned nothing",
    "cut": "AWS Error NETWORK_CONNECTION during {} operation: curlCode: 18, Transferred a partial file",
}
"""The faults, with their texts. A request that is `unanswered` was done, and one that is `cut` was begun."""


@dataclass(slots=True)
class FailingStore:
    """The objects of one bucket, by path. A `share` of the requests fails, drawn from `seed`.

    A list does not show the objects that `lags` says.
    """

    seed: int = 0
    share: float = 0.0
    kinds: Sequence[str] = tuple(TEXTS)
    objects: dict[str, bytes] = field(default_factory=dict)
    asked: int = 0
    refused: str | None = None
    lags: Callable[[str], bool] = lambda path: False
    type_name: str = "s3"
    _draws: random.Random = field(default_factory=random.Random)

    def plan(self, seed: int, share: float) -> None:
        """Let requests fail from now on."""
        self.share = share
        self._draws = random.Random(seed)

    def refuse(self, name: str | None) -> None:
        """Refuse all requests of this name from now on."""
        self.refused = name

    @contextmanager
    def _request(self, name: str) -> Iterator[bool]:
        """A request, which is done in the block: by half only if it is cut."""
        self.asked += 1
        if name == self.refused:
            raise OSError(TEXTS["dropped"].format(name))
        fault = self._draws.choice(self.kinds) if self._draws.random() < self.share else None
        if fault not in (None, "unanswered", "cut"):
            raise OSError(TEXTS[fault].format(name))
        yield fault == "cut"
        if fault is not None:
            raise OSError(TEXTS[fault].format(name))

    @contextmanager
    def open_output_stream(self, path: str) -> Iterator[io.BytesIO]:
        """A new object, which is there when the block ends."""
        content = io.BytesIO()
        yield content
        with self._request("PutObject") as cut:
            whole = content.getvalue()
            self.objects[path] = whole[: len(whole) // 2] if cut else whole

    def open_input_file(self, path: str) -> _Input:
        """An object, to be read part by part."""
        with self._request("HeadObject"):
            if path not in self.objects:
                raise FileNotFoundError(2, f"Path does not exist '{path}'")
        return _Input(self, path)

    def part(self, path: str, offset: int, size: int) -> bytes:
        """A part of an object."""
        with self._request("GetObject"):
            if path not in self.objects:
                raise OSError(f"When reading object '{path}': AWS Error NO_SUCH_KEY during GetObject operation")
            return self.objects[path][offset : offset + size]

    def get_file_info(self, wanted: Any) -> Any:
        """Files and folders in a folder, or what lies at a path."""
        from pyarrow.fs import FileInfo, FileType

        if isinstance(wanted, str):
            return FileInfo(wanted, FileType.Directory if wanted == BUCKET else FileType.NotFound)
        with self._request("ListObjectsV2"):
            base = f"{wanted.base_dir}/"
            rests = [path.removeprefix(base) for path in self.objects if path.startswith(base) and not self.lags(path)]
        folders = {rest.split("/")[0] for rest in rests if "/" in rest}
        files = {rest for rest in rests if "/" not in rest}
        infos = [FileInfo(base + name, FileType.Directory) for name in folders]
        return [*infos, *(FileInfo(base + name, FileType.File) for name in files)]

    def delete_file(self, path: str) -> None:
        """Remove an object."""
        with self._request("DeleteObject"):
            if self.objects.pop(path, None) is None:
                raise FileNotFoundError(2, f"Path does not exist '{path}'")

    def delete_dir(self, path: str) -> None:
        """Remove all objects below a path, some of them at a time."""
        for name in [name for name in self.objects if name.startswith(f"{path}/")]:
            with self._request("DeleteObjects"):
                self.objects.pop(name, None)


class _Input:
    def __init__(self, store: FailingStore, path: str) -> None:
        self._store, self._path, self._offset = store, path, 0

    def seek(self, offset: int) -> None:
        self._offset = offset

    def read(self, size: int) -> bytes:
        piece = self._store.part(self._path, self._offset, size)
        self._offset += len(piece)
        return piece

    def close(self) -> None:
        """Nothing is open."""
