"""Temporal properties by the interpreter: behaviours, least lassos by obvious means, their replay, and the verdicts."""
