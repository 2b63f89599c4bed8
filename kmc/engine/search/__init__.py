"""The breadth-first search: levels, workers, counters."""
