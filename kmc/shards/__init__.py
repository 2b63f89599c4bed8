"""Shards: a state space divided by fingerprint, with its states in files.

A level is made in two steps, both by tasks that know nothing of each other (`level`). `expander` reads segments of the
level before it and writes new rows to a file of its own; the fingerprints of these rows go to the shards that own them.
`merger` looks them up in the sorted runs of a shard, and answers one bit a row. `sharded_search` is the search over
such levels.

`files` holds the store and the formats of its files; `storage` keeps them in an object store instead of a folder.
`executors` runs the tasks in threads or processes. `graph` makes the behaviour graph of temporal properties from files.

The loops, the row format and everything that a search in memory does too are `kmc.engine`'s. Spark's jobs are in
`kmc_spark`.
"""
