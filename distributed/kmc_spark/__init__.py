"""Spark runs the tasks of a sharded search: sessions, and the jobs of a level. All else is in `kmc.shards`."""
