"""The native engine: one level-synchronous search over compiled kernels, on all cores."""
