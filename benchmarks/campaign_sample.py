"""What the campaign draws: a problem, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perp.gallery.catalogue import Example
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

MOST_ROWS = 200


@dataclass(frozen=True, eq=False)
class Sample:
    """`solvable` is None where nobody promises to find a solution; `why` says how we know, or how it was made."""

    problem: Problem
    solvable: bool | None
    why: str
    x: Vector | None = None
    """A solution that was planted."""

    @staticmethod
    def of(example: Example, why: str) -> Sample:
        told = why if example.x is None else f"{why}, planted"
        return Sample(example.problem, example.is_solvable, told, example.x)


def draw_size(rng: np.random.Generator, most: int = MOST_ROWS) -> int:
    """Mostly small: the logarithm is spread evenly."""
    return int(np.floor(np.exp(rng.uniform(0.0, np.log(most + 1.0)))))


def draw_shares(rng: np.random.Generator) -> tuple[float, float]:
    """`active` and `degenerate`: often at an end of their range, together at most 1."""
    active = float(rng.choice([0.0, 1.0, rng.random()], p=[0.03, 0.1, 0.87]))
    degenerate = float(rng.choice([0.0, rng.random()])) * (1.0 - active)
    return active, degenerate
