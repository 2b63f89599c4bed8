"""Loops that run as machine code: expand, look up, store, pack; the fingerprint tables; compiling them."""
