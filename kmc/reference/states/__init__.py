"""Explored states: initial states, when two count as one, findings, traces, and the replay of a trace."""
