"""Passes over whole kernels: guard hoisting, read sets of properties, fingerprints of 128 bits."""
