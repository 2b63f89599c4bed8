"""The process that forks Python workers on this machine: it imports what their tasks need once, before it forks.

Spark's own daemon forks first. Each worker then imports by itself, and it compiles PySpark anew, from a zip file that
has no compiled code.

Invariant: the process has one thread when it forks. So it imports nothing that starts threads, such as pyarrow.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from pathlib import Path

_MODULES = ("pyspark.worker", "kmc_spark.probe", "kmc_spark.tasks")
_ZIP = Path("pyspark", "python", "lib", "pyspark.zip")
_PY4J_PREFIX = "py4j-"


def prepare() -> None:
    """Import the modules of tasks, from installed packages."""
    # numpy's library for linear algebra starts a thread a core at its import, and no task uses it.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.path[:] = without_copies(sys.path)
    for module in _MODULES:
        import_module(module)
    # Workers share the memory of these objects as long as they do not write to it, as a collection of garbage does.
    gc.freeze()


def without_copies(path: list[str]) -> list[str]:
    """Return the places of `sys.path` without PySpark's zip files, if the package that has them is on the path itself.

    A Spark of another place, such as that of a cluster, has another version perhaps, and its zip files stay.
    """
    copies = [Path(place).parent for place in path if Path(place).parts[-len(_ZIP.parts) :] == _ZIP.parts]
    inside = [folder for folder in copies if str(folder.parents[2]) in path]
    return [place for place in path if not (place.endswith(".zip") and _is_copy(Path(place), inside))]


def _is_copy(place: Path, folders: list[Path]) -> bool:
    return place.parent in folders and (place.name == _ZIP.name or place.name.startswith(_PY4J_PREFIX))


if __name__ == "__main__":
    prepare()
    import_module("pyspark.daemon").manager()
