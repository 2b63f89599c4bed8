"""The page of a counterexample: one HTML file that needs nothing else, and the parts of it that the explorer shows."""
