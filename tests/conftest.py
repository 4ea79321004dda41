"""Settings for the whole suite."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "perp", deadline=None, max_examples=40, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("perp")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real problems that lie beside a checkout of the maintainers; a user's clone has none, and these tests skip."""
    folder = Path(__file__).resolve().parents[1].parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("the folder with real problems is not here")
    return folder
