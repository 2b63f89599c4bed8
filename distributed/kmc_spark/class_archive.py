"""An archive of the classes of Spark's driver, with which its JVM needs half of the CPU time to start.

The JVM maps the archive instead of reading and verifying ten thousand classes. It compares the archive with its own
build, with all jars and with a checksum. Where one differs, it loads classes as always, and prints nothing.

Invariant: no session waits for an archive or fails because of one. A process of low priority makes it after the
first session that had none, whole or not at all. KMC_JAVA_ARCHIVE in the environment: `read` makes none, and `off` uses
none either.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from kmc.cache_folder import cache_folder
from kmc.runtime.object_cache import make_private

ARCHIVE_VARIABLE = "KMC_JAVA_ARCHIVE"
OFF, READ = "off", "read"

QUIET = "-Xlog:cds*=off"
"""Without this option the JVM warns on stdout, of jars that changed and of classes that an archive cannot have."""

_FORMAT = 1
_KEPT = 3
_SUFFIX, _SIZE, _FAILED = ".jsa", ".size", ".failed"
_UNFINISHED = "new-"
_LIBRARIES = ("libjvm.so", "libjvm.dylib")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

# They put folders before the jars or behind them, and an archive is for jars only.
_CLASS_PATHS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH", "SPARK_PREPEND_CLASSES")

# In the paths of this process, whatever the folder and the environment would add. The first process ends at once, so
# that the system waits for the other one.
_PROGRAM = "import json, os, sys\nif os.fork(): os._exit(0)\nos.nice(10)\nsys.path[:] = json.loads(sys.argv[1])\n"
_PROGRAM += "from kmc_spark.train_archive import train; train(sys.argv[2])"


def archive_file(
    program: str, options: str, spark_home: str, environment: Mapping[str, str] = os.environ
) -> Path | None:
    """Return the place of the archive for a Java program with these options and the jars of Spark at `spark_home`.

    None if there can be none, or if KMC_JAVA_ARCHIVE is `off`.
    """
    folder = cache_folder(environment)
    if folder is None or environment.get(ARCHIVE_VARIABLE) == OFF or _has_folders(spark_home, environment):
        return None
    try:
        key = _key(program, options, spark_home)
    except OSError:
        return None
    file = folder / "java" / f"{key}{_SUFFIX}"
    # A colon in the option would end the name.
    return None if ":" in str(file) else file


def _has_folders(spark_home: str, environment: Mapping[str, str]) -> bool:
    """Return whether the class path has more than jars. A folder that does not exist does not count."""
    conf = environment.get("SPARK_CONF_DIR") or os.path.join(spark_home, "conf")
    return os.path.exists(conf) or any(environment.get(name) for name in _CLASS_PATHS[1:])


def _key(program: str, options: str, spark_home: str) -> str:
    """Return a digest of everything that the JVM compares; OSError if there is no such JVM or Spark."""
    home = Path(os.path.realpath(program)).parent.parent
    library = next((path for name in _LIBRARIES if (path := home / "lib" / "server" / name).exists()), home / "none")
    jars = sorted(_identity(Path(entry.path)) for entry in os.scandir(os.path.join(spark_home, "jars")))
    text = json.dumps([_FORMAT, _identity(library), options, jars])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _identity(file: Path) -> tuple[str, int, int]:
    found = file.stat()
    return str(file), found.st_size, found.st_mtime_ns


def archive_options(file: Path | None) -> str:
    """Return the options with which a JVM uses an archive; none if it is not there, whole, and of this user."""
    if file is None or not _is_sound(file):
        return ""
    # The checksum takes less than 0.1 s.
    return f"{shlex.quote(f'-XX:SharedArchiveFile={file}')} -XX:+VerifySharedSpaces {QUIET}"


def _is_sound(file: Path) -> bool:
    """Return whether a file has the size with which it was written, and only this user can have written it.

    Its code runs with this user's rights. A JVM that maps a file which was cut dies when it reads beyond the end.
    """
    try:
        found = file.lstat()
        size = int(file.with_suffix(_SIZE).read_bytes())
    except (OSError, ValueError):
        return False
    is_own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
    return is_own and not found.st_mode & _WRITABLE_BY_OTHERS and found.st_size == size


def make_later(file: Path | None, environment: Mapping[str, str] = os.environ) -> None:
    """Start the process that makes an archive, unless there is one, or none could be made before."""
    if file is None or environment.get(ARCHIVE_VARIABLE) or _is_decided(file) or not sys.executable:
        return
    with suppress(OSError):
        subprocess.run(
            [sys.executable, "-P", "-c", _PROGRAM, json.dumps([*map(str, sys.path)]), str(file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            check=False,
        )


def _is_decided(file: Path) -> bool:
    return _is_sound(file) or file.with_suffix(_FAILED).exists()


def make(file: Path, write: Callable[[Path], object]) -> None:
    """Let `write` make an archive under another name, and put it at its place; at most one process does so at a time.

    If it wrote none, a mark says so, and no process tries again. OSError if the folder cannot be written.
    """
    make_private(file.parent)
    with _alone(file.parent) as is_alone:
        if not is_alone or _is_decided(file):
            return
        for left in file.parent.glob(f"{_UNFINISHED}*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=file.parent) as folder:
            written = Path(folder) / file.name
            write(written)
            if not written.exists():
                file.with_suffix(_FAILED).touch()
                return
            with written.open("rb") as data:
                os.fsync(data.fileno())
            file.with_suffix(_SIZE).write_text(str(written.stat().st_size))
            os.replace(written, file)
        _remove_old(file)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Yield whether no other process makes an archive in the folder during the block."""
    with (folder / "lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def _remove_old(file: Path) -> None:
    """Keep the last archives; a JVM that runs with another one is not disturbed."""
    others = [path for path in file.parent.glob(f"*{_SUFFIX}") if path != file]
    for old in sorted(others, key=lambda path: path.stat().st_mtime_ns, reverse=True)[_KEPT:]:
        for name in (old, old.with_suffix(_SIZE)):
            name.unlink(missing_ok=True)
