"""What one search holds in memory: the fingerprint table and findings."""
