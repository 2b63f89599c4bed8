"""Explanations: why a property fails, why an action is not enabled, and the facts that decide it.

Begin with `why`. A condition is followed to the part that decides it (`follow`), in the source of its function.
"""
