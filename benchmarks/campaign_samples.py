"""The samples of the campaign by their numbers: sample k is the same problem on every day and in every process."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.campaign_contacts import draw_hidden_contacts, draw_moving_bodies, draw_planted_contacts, draw_restated
from benchmarks.campaign_gallery import draw_gallery
from benchmarks.campaign_matrices import HAS_NONE, HAS_THEORY, MakeMatrix, spd
from benchmarks.campaign_planted import (
    SMALL,
    draw_badly_scaled,
    draw_box,
    draw_factored,
    draw_gamble,
    draw_huge_or_tiny,
    draw_lcp,
    draw_products,
    draw_stencil,
)
from benchmarks.campaign_sample import MOST_ROWS, Sample
from benchmarks.campaign_unsolvable import (
    draw_contradicting_equations,
    draw_contradicting_joints,
    draw_contradicting_rows,
    draw_farkas,
    draw_feasible_unsolvable,
)
from perp import gallery

FIRST_SEED = 20_250_901

DrawSample = Callable[[np.random.Generator, int], Sample]
"""Draws a problem of at most so many rows."""
DrawWith = Callable[[MakeMatrix, np.random.Generator, int], Sample]


def _any_of(draw: DrawWith, makers: tuple[MakeMatrix, ...]) -> DrawSample:
    def draw_sample(rng: np.random.Generator, most: int) -> Sample:
        make = makers[int(rng.integers(len(makers)))]
        sample = draw(make, rng, most)
        return Sample(sample.problem, sample.solvable, f"{make.__name__}, {sample.why}", sample.x)

    return draw_sample


def _small(draw: DrawSample) -> DrawSample:
    return lambda rng, most: draw(rng, min(most, SMALL))


def _all_structures() -> dict[str, DrawSample]:
    table: dict[str, DrawSample] = {}
    for make in HAS_THEORY:
        table[f"lcp/{make.__name__}"] = partial(draw_lcp, make)
        if make.__name__ != "copositive":  # which says nothing where x may be negative
            table[f"box/{make.__name__}"] = partial(draw_box, make)
    for make in HAS_NONE:
        table[f"lcp/{make.__name__}"] = _small(partial(draw_lcp, make))
        table[f"box/{make.__name__}"] = _small(partial(draw_box, make))
    table["scaled/badly"] = _any_of(draw_badly_scaled, HAS_THEORY)
    table["scaled/badly spd"] = partial(draw_badly_scaled, spd)
    table["scaled/units"] = _any_of(draw_huge_or_tiny, HAS_THEORY)
    table["form/products"] = _any_of(draw_products, HAS_THEORY)
    table["form/products contacts"] = draw_hidden_contacts
    table["form/factored"] = draw_factored
    table["form/stencil"] = draw_stencil
    for model in ("box", "cone", "convex", "disc"):
        for dimension in (2, 3):
            table[f"contacts/{model} {dimension}d planted"] = partial(draw_planted_contacts, model, dimension)
            table[f"contacts/{model} {dimension}d moving"] = partial(draw_moving_bodies, model, dimension)
    for restatement in ("stewart_trinkle", "frictionless", "fixed_box"):
        for dimension in (2, 3):
            table[f"restated/{restatement} {dimension}d"] = partial(draw_restated, restatement, dimension)
    for kind in gallery.kinds().values():
        table[f"gallery/{kind.name}"] = partial(draw_gallery, kind)
    table["gamble/no class"] = partial(draw_gamble, HAS_NONE)
    table["none/farkas"] = draw_farkas
    table["none/contradicting rows"] = draw_contradicting_rows
    table["none/contradicting equations"] = draw_contradicting_equations
    table["none/feasible"] = draw_feasible_unsolvable
    table["none/contradicting joints"] = draw_contradicting_joints
    return table


STRUCTURES = _all_structures()
NAMES = tuple(STRUCTURES)


def structure_of(number: int) -> str:
    """Each structure in turn."""
    return NAMES[number % len(NAMES)]


def draw_sample(number: int, most: int = MOST_ROWS) -> Sample:
    """Sample `number`: the same bits for the same number (LAPACK's last bits aside, which the machine decides)."""
    rng = np.random.default_rng((FIRST_SEED, number))
    return STRUCTURES[structure_of(number)](rng, most)
