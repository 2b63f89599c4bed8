"""What lies where: control words, packed rows, chunks of a frontier, the kernel interface, outcomes."""
