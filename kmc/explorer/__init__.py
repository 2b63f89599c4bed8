"""The explorer: a local page on which a person walks the states of a model."""
