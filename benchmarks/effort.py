"""How much is measured, and where the numbers go."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, replace

Row = dict[str, object]
"""One measurement as it is written to --out."""


@dataclass(frozen=True)
class Effort:
    dense_sizes: tuple[int, ...] = (50, 200, 500, 1000)
    instances: int = 3
    """Random problems of each dense size."""
    repeats: int = 9
    contact_rows: tuple[int, ...] = (1_000, 5_000, 20_000)
    seeds: int = 20
    limit: float = 60.0
    """Seconds for one run; and what a peer may spend in all on the seeds of one size and one kind of step."""
    cold_seconds: float = 120.0
    """What all cold runs of one kind and size may take together."""
    growth_rows: tuple[int, ...] = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
    grids: tuple[int, int] = (100, 30)
    """Edges of the square and of the cube on which the Poisson matrices stand."""
    stewart_trinkle_seeds: int = 100
    lemke_seeds: int = 5
    """How many of those the Lemkes are asked for: they take seconds each."""


QUICK = Effort(
    dense_sizes=(50, 200),
    instances=2,
    repeats=3,
    contact_rows=(300, 1_000),
    seeds=3,
    limit=2.0,
    cold_seconds=2.0,
    growth_rows=(1_000, 2_000, 5_000),
    grids=(50, 12),
    stewart_trinkle_seeds=5,
    lemke_seeds=2,
)


def read_effort(options: Namespace) -> Effort:
    """The usual effort, or the quick one, with what was asked for by name."""
    asked = {
        "dense_sizes": options.sizes,
        "contact_rows": options.rows,
        "growth_rows": options.growth_rows,
        "seeds": options.seeds,
        "limit": options.limit,
    }
    given = {name: value for name, value in asked.items() if value is not None}
    return replace(QUICK if options.quick else Effort(), **given)
