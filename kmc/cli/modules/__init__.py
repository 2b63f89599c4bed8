"""Commands on TLA+ modules: the same commands as for Python specs, with another thing to check."""
