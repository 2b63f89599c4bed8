"""Saving a search, loading it again, and moving parts of it to files when memory is short."""
