"""What every test shares: Hypothesis asserts nothing about wall-clock time and prints how to reproduce a failure."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("kmc", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kmc")
