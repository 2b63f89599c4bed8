"""TLA+ modules: read, resolved and run as TLC runs them.

Rooms, lowest first: `syntax` (text to tree), `resolved` (the tree that everything after reads), `names` (modules,
instances, `.cfg` files: syntax to resolved), `values` and `run` (the interpreter of TLA+, the oracle for whatever else
runs a module). Nothing below `kmc.checking` imports this layer.
"""
