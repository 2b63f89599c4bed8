"""Symmetry: permuted values, signatures, canonical representatives and their fingerprints."""
