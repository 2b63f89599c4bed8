"""Runs and traces on disk and in a storage: their places, their files, resuming and pruning them."""
