"""Benchmarks of the engines: named benchmarks, runs in fresh processes, and costs per state."""
