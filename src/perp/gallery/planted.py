"""Plant a solution first, then choose b so that it solves the problem.

num4lcp, the code behind NOTES section 7, draws x >= 0 and sets b_i = -(A x)_i where x_i > 0, b_i = 0 elsewhere; its x
solves nothing wherever (A x)_i < 0. Here x and its slack y are drawn together, complementary row by row, and

    b = y - A x.

The rows play their parts in exact shares, at places drawn at random. Non-zero numbers stay at least 0.1 away from zero
and from their bounds, so that what a row does is never a matter of rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from perp.gallery.catalogue import Example
from perp.gallery.options import About
from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector, freeze
from perp.problems.lcp import LCP
from perp.problems.operators import Operator, as_operator

Seed = int | np.random.Generator
Active = Annotated[float, About("share of rows with x > 0 (box: strictly between the bounds)", 0.0, 1.0)]
Degenerate = Annotated[float, About("share of rows with x = 0 (box: at a bound) and y = 0", 0.0, 1.0)]
ActiveContacts = Annotated[float, About("share of contacts that carry an impulse", 0.0, 1.0)]
Sliding = Annotated[float, About("share that slides among the contacts that carry an impulse", 0.0, 1.0)]
GrazingContacts = Annotated[float, About("share of contacts that touch with x = 0 and y = 0", 0.0, 1.0)]


def planted_lcp(A: Any, *, active: float = 0.5, degenerate: float = 0.0, seed: Seed = 0) -> Example:
    """An LCP with this A: a share `active` of rows with x > 0 = y, `degenerate` with x = y = 0, the rest x = 0 < y."""
    rng = np.random.default_rng(seed)
    operator = as_operator(A)
    part = draw_parts(operator.n, (active, degenerate), rng)
    x = np.where(part == 0, draw_sizes(rng, operator.n), 0.0)
    y = np.where(part == 2, draw_sizes(rng, operator.n), 0.0)
    return Example(LCP(operator, right_hand_side(operator, x, y)), freeze(x), name="planted")


def planted_box(
    A: Any, lower: Any, upper: Any, *, active: float = 0.5, degenerate: float = 0.0, seed: Seed = 0
) -> Example:
    """A boxed LCP with this A and these bounds.

    Of the rows that have a choice, a share `active` lies strictly between the bounds (y = 0), `degenerate` at a bound
    with y = 0, the rest at a bound with y of the sign that it asks for; a row with two bounds takes either with equal
    chance. Rows without bounds have y = 0; fixed rows (lower = upper) any y.
    """
    rng = np.random.default_rng(seed)
    operator = as_operator(A)
    frame = BoxLCP(operator, np.zeros(operator.n), lower, upper)
    x, y = _draw_box(frame.lower, frame.upper, active, degenerate, rng)
    problem = BoxLCP(operator, right_hand_side(operator, x, y), frame.lower, frame.upper)
    return Example(problem, freeze(x), name="planted")


def planted_contacts(
    A: Any,
    friction: Any,
    model: str = "box",
    *,
    dimension: int = 3,
    extra_rows: int | None = None,
    lower: Any = -np.inf,
    upper: Any = np.inf,
    active: float = 0.5,
    sliding: float = 0.5,
    degenerate: float = 0.0,
    seed: Seed = 0,
) -> Example:
    """A frictional contact problem with this A, whose contacts do one of four things:

        slide      x_n > 0,  y_n = 0,  y_t not 0, x_t on the bound (box: both tangents; cone: the disc) opposing y_t
        stick      x_n > 0,  y_n = 0,  y_t = 0,   x_t inside
        graze      x = 0,    y = 0                                            (`degenerate`)
        separate   x = 0,    y_n > 0,  y_t anything, for its bounds have collapsed to zero

    In the convex model y_n is greater by friction |y_t|: what slides opens, and what separates is within the dual cone.
    In the disc model, where `friction` is the radius, contacts without a normal impulse rub, too: those that separate
    have x_t on the rim opposing y_t, those that graze have x_t on the rim and y_t = 0.
    Rows after the contacts (`extra_rows`, `lower`, `upper`) are planted as in `planted_box`.
    """
    rng = np.random.default_rng(seed)
    operator = as_operator(A)
    frame = ContactProblem(
        operator,
        np.zeros(operator.n),
        friction,
        model,
        dimension=dimension,
        extra_rows=extra_rows,
        lower=lower,
        upper=upper,
    )
    x, y = _draw_contacts(frame, (active * sliding, active * (1.0 - sliding), degenerate), rng)
    b = right_hand_side(operator, x, y)
    problem = ContactProblem(
        operator, b, frame.friction, model, dimension=dimension, lower=frame.lower, upper=frame.upper
    )
    return Example(problem, freeze(x), name="planted")


def right_hand_side(A: Operator, x: Vector, y: Vector) -> Vector:
    """b = y - A x, by the product that later judges x."""
    return y - A.apply(x)


def draw_parts(count: int, shares: Sequence[float], rng: np.random.Generator) -> NDArray[np.intp]:
    """Give part k to a share `shares[k]` of `count` places taken at random, and the last part to those left over."""
    ends = np.cumsum(shares)
    if len(ends) and ends[-1] > 1.0 + 1e-12:
        raise ValueError(f"shares must not add up to more than 1: {' + '.join(f'{share:g}' for share in shares)}")
    order = rng.permutation(count)
    part = np.empty(count, dtype=np.intp)
    part[order] = np.searchsorted(np.rint(ends * count), np.arange(count), side="right")
    return part


def draw_sizes(rng: np.random.Generator, count: int) -> Vector:
    """Positive numbers, evenly spread over 0.1..1."""
    return rng.uniform(0.1, 1.0, count)


def _draw_box(
    lower: Vector, upper: Vector, active: float, degenerate: float, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    n = lower.size
    below, above = np.isfinite(lower), np.isfinite(upper)
    low, high = np.where(below, lower, 0.0), np.where(above, upper, 0.0)
    fixed, free = lower == upper, ~below & ~above
    choosing = np.flatnonzero(~fixed & ~free)
    part = np.zeros(n, dtype=np.intp)
    part[choosing] = draw_parts(choosing.size, (active, degenerate), rng)
    part[fixed] = 2

    distance = draw_sizes(rng, n)
    spread = rng.uniform(0.1, 0.9, n)
    inside = np.where(below & above, low + spread * (high - low), np.where(below, low + distance, high - distance))
    inside[free] = rng.standard_normal(n)[free]
    at_upper = above & (~below | (rng.random(n) < 0.5))
    x = np.where(part == 0, inside, np.where(at_upper, high, low))
    y = np.where(part == 2, np.where(at_upper, -1.0, 1.0) * draw_sizes(rng, n), 0.0)
    return x, y


def _draw_contacts(frame: ContactProblem, shares: Sequence[float], rng: np.random.Generator) -> tuple[Vector, Vector]:
    contacts, tangents = frame.contacts, frame.dimension - 1
    part = draw_parts(contacts, shares, rng)
    slides, sticks, separates = part == 0, part == 1, part == 3
    x, y = np.zeros((contacts, 1 + tangents)), np.zeros((contacts, 1 + tangents))
    x[:, 0] = np.where(slides | sticks, draw_sizes(rng, contacts), 0.0)
    y[:, 0] = np.where(separates, draw_sizes(rng, contacts), 0.0)

    limit = frame.tangent_limits(x.reshape(-1))[:, None]
    heading = rng.standard_normal((contacts, tangents))
    if frame.model != "box":
        heading /= np.linalg.norm(heading, axis=1, keepdims=True)
        slip = draw_sizes(rng, contacts)[:, None] * heading
        hold = 0.9 * np.sqrt(rng.random(contacts))[:, None] * heading
    else:
        heading = np.sign(heading)
        slip = rng.uniform(0.1, 1.0, heading.shape) * heading
        hold = rng.uniform(-0.9, 0.9, heading.shape)
    x[slides, 1:] = (-limit * heading)[slides]
    x[sticks, 1:] = (limit * hold)[sticks]
    y[slides, 1:] = slip[slides]
    if frame.model == "disc":
        x[~sticks, 1:] = (-limit * heading)[~sticks]
        y[separates, 1:] = slip[separates]
    else:
        y[separates, 1:] = rng.standard_normal(heading.shape)[separates]
    if frame.model == "convex":
        y[:, 0] += frame.friction * np.linalg.norm(y[:, 1:], axis=1)

    x_rest, y_rest = _draw_box(frame.lower, frame.upper, shares[0] + shares[1], shares[2], rng)
    return np.concatenate([x.reshape(-1), x_rest]), np.concatenate([y.reshape(-1), y_rest])
