"""Settings for all tests."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Compiled kernels are slow on their first call only; a time limit for each example would see that and nothing else.
settings.register_profile("farpoint", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("farpoint")
