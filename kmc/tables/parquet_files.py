"""Writing Parquet files on this machine: pyarrow reads a relative path such as `s3:x/y` as an address of a storage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import LocalFileSystem


def parquet_writer(path: Path, schema: pa.Schema, **options: Any) -> pq.ParquetWriter:
    """Open a writer of a new file on this machine."""
    return pq.ParquetWriter(path.absolute(), schema, filesystem=LocalFileSystem(), compression="zstd", **options)
