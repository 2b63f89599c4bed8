"""The views of a trace in TLC's style, whole or its changes, as `--trace` names them."""

TLC_VIEWS = ("tlc", "tlc-changes")
