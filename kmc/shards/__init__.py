"""Shards: a state space divided by fingerprint, with its visited states in sorted runs on disk.

Belongs here: expanding a block, merging a shard, runs, their store and manifest, and what drives them in one process or
a pool of processes. The loops, the row format and the level maker are `kmc.engine`'s. Spark's jobs are in `kmc_spark`.

Nothing is here yet.
"""
