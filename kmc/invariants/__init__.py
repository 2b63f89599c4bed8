"""What a property of a state or a step is: invariants, action properties, constraints, views, symmetry, goals."""
