"""Object code of kernels on disk, so that a model that was compiled once starts at once.

An entry is keyed by everything that decides the code: LLVM IR text, llvmlite and LLVM versions, recipe and target. It
opens with a digest of key and code; a file that does not match it (cut off, altered, copied from another entry, written
by another user) is not an entry and is written again. The same holds for anything but a regular file: a FIFO, a device
or a symbolic link at an entry's path is neither waited for nor followed. A folder that cannot be written means no
cache, never an error: the log of compilations records it (`kmc.compile_log`).
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import llvmlite
from llvmlite import binding as llvm

from kmc.cache_folder import cache_folder
from kmc.compile_log import LOG, CacheFault
from kmc.runtime.native_module import Target, host_target
from kmc.runtime.object_code import (
    RECIPE,
    UNOPTIMISED_RECIPE,
    are_kernels_optimised,
    are_kernels_optimised_later,
    emit_object,
)

_MAGIC = b"kmc kernels 1\n"
_DIGEST_BYTES = hashlib.sha256().digest_size
# Far more than the code of any spec: a file that someone else put there must not fill the memory.
_ENTRY_BYTES_MAX = 1 << 30
# O_NONBLOCK: do not wait for the writer of a FIFO.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class KernelCache:
    """The entries in one folder, which is made when the first is written; None keeps nothing."""

    folder: Path | None

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> KernelCache:
        """The cache in `kernels` under KMC_CACHE_DIR, else under XDG_CACHE_HOME/kmc, else under ~/.cache/kmc."""
        folder = cache_folder(environment)
        return cls(None if folder is None else folder / "kernels")

    def read(self, key: str) -> bytes | None:
        """The code under a key, or None when there is no sound entry."""
        if self.folder is None:
            return None
        try:
            entry = _content(self.folder / key)
        except OSError:
            return None
        code = entry[len(_MAGIC) + _DIGEST_BYTES :]
        return code if entry == _entry(key, code) else None

    def write(self, key: str, code: bytes) -> None:
        """Put code under a key, whole or not at all, even if other processes write the same entry."""
        if self.folder is None:
            LOG.not_kept(CacheFault(None, "no home directory"))
            return
        try:
            make_private(self.folder)
            _replace(self.folder / key, _entry(key, code))
        except OSError as error:
            LOG.not_kept(CacheFault(str(self.folder), error.strerror or str(error)))


def cache_key(text: str, target: Target, *, optimised: bool = True) -> str:
    """The key of the code that `emit_object` gives for the same arguments."""
    recipe = RECIPE if optimised else UNOPTIMISED_RECIPE
    versions = (llvmlite.__version__, ".".join(str(component) for component in llvm.llvm_version_info))
    digest = hashlib.sha256()
    for component in (*versions, recipe, target.triple, target.cpu, target.features, text):
        data = component.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def cached_object(
    text: str, target: Target | None = None, cache: KernelCache | None = None, title: str = "kernels"
) -> bytes:
    """The object code of kernels, from the cache (the environment's by default) if it is there.

    It is optimised unless the environment prevents that (`are_kernels_optimised`). `title` is the name of the compiled
    part in the log.
    """
    kept, chosen = cache or KernelCache.of_environment(), target or host_target()
    return kept_object(text, chosen, kept, title, optimised=are_kernels_optimised())


def first_object(
    text: str, target: Target | None = None, cache: KernelCache | None = None, title: str = "kernels"
) -> tuple[bytes, bool]:
    """The object code with which a search begins soonest, and whether it is that of `cached_object`.

    It is optimised if the cache has it so. If not, the cache keeps code that is not optimised as an entry of its own.
    """
    kept, chosen = cache or KernelCache.of_environment(), target or host_target()
    if not are_kernels_optimised_later():
        return kept_object(text, chosen, kept, title, optimised=are_kernels_optimised()), True
    code = kept.read(cache_key(text, chosen))
    if code is not None:
        return code, True
    return kept_object(text, chosen, kept, title, optimised=False), False


def kept_object(text: str, target: Target, kept: KernelCache, title: str = "kernels", *, optimised: bool) -> bytes:
    """The object code, optimised or not, from the cache if it is there."""
    key = cache_key(text, target, optimised=optimised)
    code = kept.read(key)
    if code is None:
        with LOG.compiling(title):
            code = emit_object(text, target, optimised=optimised)
        kept.write(key, code)
    return code


def _entry(key: str, code: bytes) -> bytes:
    """The bytes of an entry."""
    return _MAGIC + hashlib.sha256(key.encode() + code).digest() + code


def _content(path: Path) -> bytes:
    """The bytes of an entry; none when it is not to be trusted."""
    descriptor = os.open(path, _READ)
    try:
        if not _is_trusted(os.fstat(descriptor)):
            return b""
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def _is_trusted(entry: os.stat_result) -> bool:
    """Whether only this user can have written an entry: its code runs with this user's rights."""
    return (
        stat.S_ISREG(entry.st_mode)
        and entry.st_uid == os.geteuid()
        and not entry.st_mode & _WRITABLE_BY_OTHERS
        and entry.st_size <= _ENTRY_BYTES_MAX
    )


def make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing, for this user alone; `mkdir` does so for the last one only."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def _replace(path: Path, data: bytes) -> None:
    """Write a file under another name, then rename it; an OSError or Ctrl-C leaves no file behind."""
    descriptor, temporary = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:  # whatever ended the write is raised again
        with suppress(OSError):
            os.unlink(temporary)
        raise
