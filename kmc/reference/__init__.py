"""The oracle: an interpreter of specs, slow, obvious and right, and the replayer of every counterexample."""
