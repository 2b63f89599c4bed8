"""The command line: one file per command, and what turns results, traces and errors into text, JSON and JUnit.

Only this layer imports click and rich, and only this layer prints: results on stdout, progress and errors on stderr.
"""
