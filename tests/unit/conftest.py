"""Hypothesis draws the same examples every time: a red test is red for everybody."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "unit", derandomize=True, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unit")
