"""kmc's own fingerprint table: lock-free insertion by several threads, fingerprints of one and of two words, growth."""
