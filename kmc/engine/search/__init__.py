"""The breadth-first search: the loop over levels, what makes one, the levels kept, and looking back."""
