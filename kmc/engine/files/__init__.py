"""Files of a run that survive a crash: durable files, the manifest, the run directory."""
