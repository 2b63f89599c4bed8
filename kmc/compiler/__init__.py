"""The compiler: a spec's next-state relation and properties as native kernels over packed states."""
