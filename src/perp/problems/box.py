"""The boxed (mixed) linear complementarity problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.errors import InvalidProblem
from perp.problems import lcp
from perp.problems.inputs import MatrixLike, PerRow, Vector, VectorLike, as_bound, freeze
from perp.problems.problem import Problem, scale_data
from perp.vocabulary import explains_arguments

if TYPE_CHECKING:
    from perp.problems.lcp import LCP

NO_BOUNDS: Vector = freeze(np.empty(0))


@explains_arguments()
@dataclass(frozen=True, eq=False, repr=False)
class BoxLCP(Problem):
    """lower <= x <= upper, y = A x + b, with y_i >= 0 where x_i = lower_i, y_i <= 0 where x_i = upper_i, else y_i = 0.

    A bound is a number or one number a row. `lower = -inf` with `upper = inf` makes a row an equation (y_i = 0);
    `lower == upper` fixes x_i and leaves y_i free.
    """

    def __init__(self, A: MatrixLike, b: VectorLike, lower: PerRow, upper: PerRow) -> None:
        super().__init__(A, b)
        low, high = checked_bounds(lower, upper, self.n)
        object.__setattr__(self, "lower", low)
        object.__setattr__(self, "upper", high)

    @property
    def kind(self) -> str:
        return "box"

    def bounds(self, x: Vector) -> tuple[Vector, Vector]:
        return self.lower, self.upper

    def equilibrated(self) -> BoxLCP:
        scaled = scale_data(self)
        return self if scaled is None else BoxLCP(*scaled, self.lower, self.upper)

    def with_rows(self, A: MatrixLike, b: VectorLike, lower: PerRow, upper: PerRow) -> BoxLCP:
        return BoxLCP(A, b, lower, upper)

    def __reduce__(self) -> tuple[Any, ...]:
        return BoxLCP, (self.A, self.b, self.lower, self.upper)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {"kind": np.array("box"), "lower": self.lower, "upper": self.upper}

    def to_lcp(self) -> LCPForm:
        """The same problem as an LCP, and the way back; needs at least one finite bound a row.

        A row bounded below is shifted, x = lower + z; one bounded above only is mirrored, x = upper - z. A row with two
        finite bounds gets a partner p_i >= 0, the part of y_i below zero:

            0 <= z  ⊥  A z + p + (A lower + b) >= 0,      0 <= p  ⊥  (upper - lower) - z >= 0.
        """
        free = np.flatnonzero(np.isinf(self.lower) & np.isinf(self.upper))
        if free.size:
            raise InvalidProblem(f"row {free[0]} has no finite bound: a row with y = 0 has no LCP form of this kind")
        mirrored = np.isinf(self.lower)
        sign = np.where(mirrored, -1.0, 1.0)
        origin = np.where(mirrored, self.upper, self.lower)
        boxed = np.flatnonzero(np.isfinite(self.lower) & np.isfinite(self.upper))
        flip = sparse.diags_array(sign)
        partner = sparse.csr_array((np.ones(boxed.size), (boxed, np.arange(boxed.size))), shape=(self.n, boxed.size))
        matrix = sparse.csr_array(flip @ self.A.to_sparse() @ flip)
        if boxed.size:
            matrix = sparse.block_array([[matrix, partner], [-partner.T, None]], format="csr")
        start = sign * self.slack(origin)
        right = np.concatenate([start, (self.upper - self.lower)[boxed]])
        form = self.A.in_this_form(matrix)
        n = self.n
        return LCPForm(lcp.LCP(form, right), lambda z: origin + sign * z[:n])


@dataclass(frozen=True)
class LCPForm:
    """An LCP with the same solutions, and `recover`, which turns a solution of it into one of the box problem."""

    problem: LCP
    recover: Callable[[Vector], Vector]


def checked_bounds(lower: Any, upper: Any, n: int) -> tuple[Vector, Vector]:
    """Bounds as read-only vectors with lower <= upper everywhere."""
    if n == 0 and _is_plain(lower) and _is_plain(upper):
        return NO_BOUNDS, NO_BOUNDS
    low = as_bound(lower, "lower", n, forbidden=np.inf)
    high = as_bound(upper, "upper", n, forbidden=-np.inf)
    crossed = low > high
    if np.count_nonzero(crossed):
        i = int(np.argmax(crossed))
        raise InvalidProblem(f"lower[{i}] = {low[i]} is greater than upper[{i}] = {high[i]}")
    return low, high


def _is_plain(bound: Any) -> bool:
    """Whether there is nothing to check in a bound of no rows: a float, or an array of no numbers."""
    return type(bound) is float or (type(bound) is np.ndarray and bound.shape == (0,) and bound.dtype == np.float64)
