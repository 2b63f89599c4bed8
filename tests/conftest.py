"""What every test shares: no deadlines, failures that say how to reproduce them, and Ctrl-C that is heard."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

settings.register_profile("kmc", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kmc")

# A shell that starts the tests in the background has them and their children ignore Ctrl-C, which some of them send.
signal.signal(signal.SIGINT, signal.default_int_handler)
