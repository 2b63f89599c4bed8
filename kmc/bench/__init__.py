"""Measuring the engines: named benchmarks, runs in fresh processes, and what a run costs per state."""
