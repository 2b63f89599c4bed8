"""Shards: a state space divided by fingerprint, with its states in files.

A level is made in two steps, both by tasks that know nothing of each other. `expander` reads segments of the level
before it and writes new rows to a file of its own; the fingerprints of these rows go to the shards that own them.
`merger` looks them up in the sorted runs of a shard, and answers one bit a row. `sharded_search` is the loop over
levels, `store` keeps the files, `run_state` is what a saved run says of them, and `redivide` lets it go on with another
number of shards.

`executors` runs the tasks in threads. `on_processes` runs them in processes: `travel` is what these get, and `exchange`
how fingerprints come from one to another.

`object_store` keeps the files in a storage: S3, HDFS, any file system of pyarrow. `run_in_storage` says which process
owns a run there and which of its manifests counts, `stored_directories` begins and resumes it.

The loops, the row format and everything that a search in memory does too are `kmc.engine`'s. Spark's jobs are in
`kmc_spark`.
"""

SHARDS_MAX = 1 << 12
"""A search has no more shards than these."""
