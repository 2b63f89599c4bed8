"""The translation of a resolved TLA+ model to a spec folder of kmc's language, with the place of every line."""
