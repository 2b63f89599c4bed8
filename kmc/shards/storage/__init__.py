"""Files in an object store, or in any file system of pyarrow, and the process that owns a run there."""
