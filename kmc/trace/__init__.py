"""Traces: written to files and read from them, brought back to a spec's states, and rendered as text."""
