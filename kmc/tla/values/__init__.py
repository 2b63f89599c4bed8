"""Values of TLA+ as TLC has them: equality, order, text, and the sets that are not enumerated."""
