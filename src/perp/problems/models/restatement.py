"""Contacts written as an LCP or a boxed LCP that remembers them.

Contact data (A, b, friction) make more problems than the four models of `ContactProblem`: the Stewart-Trinkle LCP, the
problem without friction, the one with fixed bounds. Each is an ordinary `LCP` or `BoxLCP`, which any method for those
solves, with an `origin` that knows how its unknowns and the impulses of the contacts correspond. The simplest stands
here: the contacts without friction, which has their normals and the rows after the contacts alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from perp.problems.box import BoxLCP
from perp.problems.contact_laws import require_one_coefficient
from perp.problems.friction import ContactProblem
from perp.problems.inputs import MatrixLike, PerRow, PointLike, Vector, VectorLike, as_vector
from perp.problems.lcp import LCP
from perp.problems.operators import MatrixFreeOperator, Operator
from perp.problems.problem import Problem, scale_data


@dataclass(frozen=True, eq=False)
class Restatement(ABC):
    """How the unknowns of another problem and the impulses of `contacts` correspond."""

    contacts: ContactProblem

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is called in messages."""

    @abstractmethod
    def impulses(self, x: Vector) -> Vector:
        """The impulses (normal, tangent, tangent a contact, then the other rows) that unknowns stand for."""

    @abstractmethod
    def unknowns(self, impulses: Vector) -> Vector:
        """Unknowns within their bounds that stand for these impulses, or for the nearest that can be expressed."""

    def is_like(self, other: Restatement) -> bool:
        """Whether unknowns of the other mean the same here, row by row."""
        return type(self) is type(other)


class Restated(Problem):
    """What an `LCP` and a `BoxLCP` made of contacts share."""

    origin: Restatement

    def impulses(self, x: PointLike) -> Vector:
        """Contact impulses [N s] from unknowns of this problem, given as a vector or a `Result`."""
        return self.origin.impulses(as_vector(getattr(x, "x", x), "x", self.n))

    def unknowns(self, impulses: PointLike) -> Vector:
        """Unknowns of this problem from impulses of the contacts, a vector or a `Result`: a point to start from."""
        return self.origin.unknowns(as_vector(getattr(impulses, "x", impulses), "impulses", self.origin.contacts.n))

    def __repr__(self) -> str:
        contacts = self.origin.contacts.contacts
        return f"<{self.origin.title} of {contacts} contacts, {self.n} unknowns, {self.A.form} A>"


@dataclass(frozen=True, eq=False, repr=False)
class RestatedLCP(Restated, LCP):
    """An LCP made of contacts."""

    origin: Restatement

    def __init__(self, A: MatrixLike, b: VectorLike, origin: Restatement) -> None:
        super().__init__(A, b)
        object.__setattr__(self, "origin", origin)

    def equilibrated(self) -> RestatedLCP:
        scaled = scale_data(self)  # scaled rows change y, not what x means
        return self if scaled is None else RestatedLCP(*scaled, self.origin)

    def __reduce__(self) -> tuple[Any, ...]:
        return RestatedLCP, (self.A, self.b, self.origin)


@dataclass(frozen=True, eq=False, repr=False)
class RestatedBoxLCP(Restated, BoxLCP):
    """A boxed LCP made of contacts."""

    origin: Restatement

    def __init__(self, A: MatrixLike, b: VectorLike, lower: PerRow, upper: PerRow, origin: Restatement) -> None:
        BoxLCP.__init__(self, A, b, lower, upper)
        object.__setattr__(self, "origin", origin)

    def equilibrated(self) -> RestatedBoxLCP:
        scaled = scale_data(self)
        return self if scaled is None else RestatedBoxLCP(*scaled, self.lower, self.upper, self.origin)

    def __reduce__(self) -> tuple[Any, ...]:
        return RestatedBoxLCP, (self.A, self.b, self.lower, self.upper, self.origin)


def make_restated(
    A: MatrixLike, b: VectorLike, lower: Vector, upper: Vector, origin: Restatement
) -> RestatedLCP | RestatedBoxLCP:
    """An LCP where the bounds are those of one, and otherwise a boxed LCP."""
    if not lower.any() and np.isposinf(upper).all():
        return RestatedLCP(A, b, origin)
    return RestatedBoxLCP(A, b, lower, upper, origin)


def require_contacts(problem: Any, without_wide: str = "") -> ContactProblem:
    """`without_wide` is the name of what takes one coefficient a contact only."""
    if not isinstance(problem, ContactProblem):
        raise TypeError(f"problem is {type(problem).__name__}; a perp.ContactProblem is needed")
    if without_wide:
        require_one_coefficient(problem, without_wide)
    return problem


# -- without friction --------------------------------------------------------------------------------------------------


def frictionless(problem: ContactProblem) -> RestatedLCP | RestatedBoxLCP:
    """0 <= x_n  ⊥  y_n >= 0 and the rows after the contacts, with all tangents left out: x_t = 0, y_t anything.

    A third of the rows, in the form that A has (a factored A stays factored). For symmetric positive semidefinite A a
    convex problem; its normal impulses are what THESIS 2.4.2 takes the bounds of friction from (`fixed_box`).
    """
    contacts = require_contacts(problem)
    origin = Frictionless(contacts)
    rows, count = origin.rows, contacts.contacts
    lower = np.concatenate([np.zeros(count), contacts.lower])
    upper = np.concatenate([np.full(count, np.inf), contacts.upper])
    return make_restated(contacts.A.restrict(rows), contacts.b[rows], lower, upper, origin)


@dataclass(frozen=True, eq=False)
class Frictionless(Restatement):
    """The unknowns are the normal impulses, then those of the other rows."""

    @property
    def title(self) -> str:
        return "frictionless problem"

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of the contact problem that are left."""
        return np.concatenate([self.contacts.normal_rows, np.arange(self.contacts.contact_rows, self.contacts.n)])

    def impulses(self, x: Vector) -> Vector:
        impulses = np.zeros(self.contacts.n)
        impulses[self.rows] = x
        return impulses

    def unknowns(self, impulses: Vector) -> Vector:
        x = impulses[self.rows]
        count = self.contacts.contacts
        x[:count] = np.maximum(x[:count], 0.0)
        x[count:] = np.clip(x[count:], self.contacts.lower, self.contacts.upper)
        return x


# -- products ----------------------------------------------------------------------------------------------------------


def congruent_product(
    A: Operator, E: sparse.csr_array, added: sparse.csr_array | None = None, diagonal: Vector | None = None
) -> MatrixFreeOperator:
    """x -> E A E^T x + added x. (It is put together of SciPy's own operators, which can be pickled if A can.)"""
    product = LinearOperator(A.shape, matvec=A.apply, dtype=np.float64)
    whole = aslinearoperator(E) @ product @ aslinearoperator(sparse.csr_array(E.T))
    return MatrixFreeOperator(whole if added is None else whole + aslinearoperator(added), diagonal)
