"""Call what an experiment brings along, so that a mistake in it costs one part of a page and not the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

Made = TypeVar("Made")


@dataclass(frozen=True)
class Trouble:
    """A part of a report that could not be made, and what was raised."""

    experiment: str
    part: str
    message: str

    def __str__(self) -> str:
        return f"{self.experiment}: {self.part}: {self.message}"


def attempt(experiment: str, part: str, make: Callable[[], Made]) -> Made | Trouble:
    """What `make` returns, or the trouble that it had."""
    try:
        return make()
    except Exception as failure:  # noqa: BLE001 (whatever is raised is shown in the place of what is missing)
        return Trouble(experiment, part, f"{type(failure).__name__}: {failure}")
