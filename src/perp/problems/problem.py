"""What all problems share: y = A x + b, bounds on x, and the questions one can ask of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from perp.errors import FileFormatError, MethodRefused
from perp.kernels.measures import projection
from perp.problems import info
from perp.problems.inputs import MatrixLike, PerRow, Vector, VectorLike, as_vector, freeze
from perp.problems.operators import Operator, as_operator

if TYPE_CHECKING:
    from perp.problems.friction import ContactProblem
    from perp.problems.info import ProblemInfo

SYMMETRY_TOLERANCE = 1e-12
"""A matrix counts as symmetric up to this share of its largest entry."""

NO_CONTACTS: Vector = freeze(np.empty(0))

SMALL_EXPONENT, LARGE_EXPONENT = -10, 20
"""A diagonal entry outside [2^-10, 2^20] is extreme.

Below, a slack within tolerance would leave x open in the third digit and more; above, rounding alone puts the slack out
of reach of the tolerance.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Problem(ABC):
    """Find x inside its bounds with y = A x + b: y_i >= 0 at a lower bound, <= 0 at an upper one, = 0 between."""

    A: Operator
    b: Vector
    lower: Vector
    upper: Vector
    """Bounds of the rows that belong to no contact; those come last."""

    def __init__(self, A: MatrixLike, b: VectorLike) -> None:
        operator = as_operator(A)
        object.__setattr__(self, "A", operator)
        object.__setattr__(self, "b", as_vector(b, "b", operator.n))

    @property
    @abstractmethod
    def kind(self) -> str:
        """The word that a method's `accepts` speaks of."""

    @abstractmethod
    def bounds(self, x: Vector) -> tuple[Vector, Vector]:
        """lower and upper as they stand at x (only friction bounds depend on it)."""

    @property
    def contacts(self) -> int:
        """The number of contacts; their rows come first."""
        return 0

    @property
    def contact_rows(self) -> int:
        """How many rows belong to contacts; the others follow."""
        return 0

    @property
    def law(self) -> tuple[np.uint64, np.uint64, Vector]:
        """What kernels are told of contacts: rows of each, the number of what bounds them, and coefficients."""
        return np.uint64(1), projection.BOXES, NO_CONTACTS

    @property
    def frictional(self) -> ContactProblem | None:
        """This problem, if it is one of contacts."""
        return None

    def as_contacts(self) -> ContactProblem:
        """This problem, for methods that accept nothing but contacts."""
        contacts = self.frictional
        if contacts is None:
            raise MethodRefused(f"{self!r} has no contacts")
        return contacts

    @property
    def n(self) -> int:
        """The number of unknowns."""
        return self.b.size

    def slack(self, x: Vector) -> Vector:
        """y = A x + b."""
        return self.A.slack(np.array(as_vector(x, "x", self.n)), self.b, np.empty(self.n))

    def project(self, x: Vector) -> Vector:
        """The nearest point within the bounds that stand at x."""
        lower, upper = self.bounds(x)
        return np.clip(x, lower, upper)

    def info(self) -> ProblemInfo:
        """Size, density, symmetry, signs of the diagonal, definiteness where it is cheap to tell, kinds of bounds."""
        return info.describe(self)

    @cached_property
    def diagonal(self) -> Vector | None:
        """The numbers A_ii, or None where the operator does not know them; found once."""
        return self.A.frozen_diagonal() if "diagonal" in self.A.ability_set else None

    @cached_property
    def has_extreme_rows(self) -> bool:
        """Whether `row_scales` may be other than 1: some diagonal entry is extreme, zero or negative."""
        return self.diagonal is not None and not is_moderate(self.diagonal)

    @cached_property
    def is_symmetric(self) -> bool | None:
        """Whether A is symmetric up to 1e-12 of its largest entry; None where that cannot be told. Found once."""
        return None if self.A.asymmetry is None else self.A.asymmetry <= SYMMETRY_TOLERANCE

    @cached_property
    def row_scales(self) -> Vector:
        """Powers of two that bring rows with an extreme diagonal entry near 1, and 1 for every other row.

        Where the diagonal entry is zero, the largest entry of the row stands for it.

        Multiplying a row of A and b by a positive number leaves the solutions as they are; so residuals are measured,
        and methods run, on rows scaled by these numbers, which costs no rounding error.
        """
        return freeze(find_row_scales(self.A, self.diagonal))

    def equilibrated(self) -> Problem:
        """The problem that methods run on: this one, or, where rows are extreme, one with its rows scaled."""
        return self

    @abstractmethod
    def with_rows(self, A: MatrixLike, b: VectorLike, lower: PerRow, upper: PerRow) -> Self:
        """A problem of the same kind, with the same contacts, if any, and other bounds of the rows after them."""

    def with_matrix(self, A: MatrixLike, b: VectorLike | None = None) -> Self:
        """The same bounds or contacts with another A, and perhaps another b."""
        parts: Any = self.__reduce__()
        make, (_, own, *others) = parts
        made: Self = make(A, own if b is None else b, *others)
        return made

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Of which kind it is and what sets it apart: what a file keeps beside A and b."""
        raise FileFormatError(f"perp has no way to save a {type(self).__name__}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} with {self.n} unknowns, {self.A.form} A>"


def is_moderate(diagonal: Vector) -> bool:
    """Whether all entries lie in [2^-10, 2^20), so that no row is extreme."""
    return not diagonal.size or bool(diagonal.min() >= 2.0**SMALL_EXPONENT and diagonal.max() < 2.0**LARGE_EXPONENT)


def find_row_scales(A: Operator, diagonal: Vector | None) -> Vector:
    """The power of two that brings each extreme diagonal entry into [1, 2); 1 for the others, and for empty rows."""
    scales = np.ones(A.n)
    if diagonal is not None and not is_moderate(diagonal):
        size = np.abs(diagonal)
        if not size.all():
            size = np.where(size == 0.0, A.row_sizes(), size)
        _, exponent = np.frexp(size)
        extreme = ((exponent <= SMALL_EXPONENT) | (exponent > LARGE_EXPONENT)) & (size != 0.0)
        scales[extreme] = np.ldexp(1.0, np.clip(1 - exponent[extreme], -1022, 1023))
    return scales


def scale_data(problem: Problem) -> tuple[Operator, Vector] | None:
    """A and b with their rows scaled by `row_scales`; None where there is nothing to scale or no room for it."""
    if not problem.has_extreme_rows:
        return None
    scales = problem.row_scales
    if (scales == 1.0).all():
        return None
    with np.errstate(over="ignore"):
        operator, b = problem.A.scale_rows(scales), problem.b * scales
    return None if operator is None or not np.isfinite(b).all() else (operator, b)
