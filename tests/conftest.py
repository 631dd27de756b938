"""Fixtures of all tests."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

NO_JIT = os.environ.get("NUMBA_DISABLE_JIT") == "1"

settings.register_profile("full", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("small", deadline=None, max_examples=8, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "small" if NO_JIT else "full"))


def pytest_configure(config):
    """Without JIT the warning comes from worker threads too, which numpy's errstate does not reach."""
    if NO_JIT:
        config.addinivalue_line("filterwarnings", "ignore:overflow encountered:RuntimeWarning")


@pytest.fixture(autouse=True)
def _wrapping_integers():
    """Kernels rely on integers that wrap; without JIT numpy's scalars warn of it."""
    with np.errstate(over="ignore"):
        yield
