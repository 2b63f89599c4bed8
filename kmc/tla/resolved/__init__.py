"""The resolved tree of a TLA+ model: the interface between `names`, which makes it, and what runs or translates it."""
