"""TLA+ as text and as a tree: tokens, parser, printer. Names are looked up in `kmc.tla.names`."""
