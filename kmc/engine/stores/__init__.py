"""What one search holds in memory: the fingerprint table, the log of findings, and the memory budget."""
