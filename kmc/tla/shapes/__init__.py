"""Shapes: what the values of a variable or an expression of a TLA+ module may be, found by observation and by flow."""
