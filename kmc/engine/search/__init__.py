"""The breadth-first search: the level maker, the loop over levels, the levels kept, and predecessors."""
