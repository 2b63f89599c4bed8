"""The parts of a story: its steps, processes, messages and changes, and values in words."""
