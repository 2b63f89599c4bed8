"""The memory layout: control words, packed rows, chunks of a frontier, the kernel interface, outcomes."""
