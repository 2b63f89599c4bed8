"""Files of a run that survive a crash: durable files, the run directory and its manifest, spilled rows."""
