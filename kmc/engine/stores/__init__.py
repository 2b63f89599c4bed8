"""The memory of one search: the fingerprint table, the log of findings, and the memory budget."""
