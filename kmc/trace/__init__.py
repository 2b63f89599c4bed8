"""Traces: writing and reading their files, converting them to a spec's states, and rendering them as text."""
