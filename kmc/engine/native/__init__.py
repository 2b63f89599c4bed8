"""The machine: memory by address, threads, signals, and loops in Python translated to LLVM IR."""
