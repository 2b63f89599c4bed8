"""What one search holds in memory: the fingerprint table, findings, and parents."""
