"""The behaviour graph: steps and new states that loops record, made level by level into arrays, and sets of them.

Begin with `recorder`. `kmc.engine.lassos` searches the finished graph.
"""
