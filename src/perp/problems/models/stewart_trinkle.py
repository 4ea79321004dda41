"""The contact LCP of Stewart and Trinkle (NOTES eq. 25-27): friction along K directions of the tangent plane.

NOTES says that the impulses act as -J^T x; with B = J M^-1 J^T and v = B x + b, as eq. 27 has them, it is +J^T x.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector, require_count
from perp.problems.models.restatement import (
    RestatedBoxLCP,
    RestatedLCP,
    Restatement,
    congruent_product,
    make_restated,
    require_contacts,
)
from perp.problems.operators import Operator
from perp.problems.operators.base import TO_SPARSE
from perp.problems.operators.sparse import SparseOperator

PLANAR = 2
"""In two dimensions the tangent line has two directions."""

MOST = 1024
"""Directions that a contact may have: the polygon then differs from the disc by 5e-6 of its radius."""


def stewart_trinkle(problem: ContactProblem, directions: int | None = None) -> RestatedLCP | RestatedBoxLCP:
    """The LCP of Stewart & Trinkle (1996), Anitescu & Potra (1997) of the same contacts: non-symmetric, zero diagonal.

    Contact c owns K + 2 unknowns x_c = (x_n, x_1, ..., x_K, beta), K = `directions`, an even number >= 4 (default 4; in
    two dimensions 2). With unit vectors t_i at equal angles, B = E A E^T along them, e a vector of ones, and mu the
    coefficient of the contact,

            | B_nn    B_nt   0 |
        A = | B_tn    B_tt   e |,    b = (b_n, b_t, 0),     0 <= x  ⊥  A x + b >= 0                 (NOTES eq. 27)
            | mu     -e^T    0 |

    where mu and e couple rows of one contact only. A sliding contact has beta = max_i (-t_i . y_t) > 0, and the t_i
    where the maximum is, the most opposing one, carries mu x_n: its direction is off by up to pi / K, and the energy
    that it takes by a share of at most 1 - cos(pi / K). The friction cone is the polygon that the mu x_n t_i span.

    Rows after the contacts follow with their own bounds, which make it a boxed LCP (unless they are those of an LCP).
    Of contacts with fixed discs (model `disc`) the radius stands in b and 0 in the place of mu, as in the friction step
    of staggering (NOTES eq. 110b). Unless every contact slides, the x_i and beta are not unique.

    The problem keeps `origin`, and has `impulses(x)` and `unknowns(impulses)` for the way back and forth.
    """
    contacts = require_contacts(problem, "stewart_trinkle")
    origin = StewartTrinkle(contacts, _checked_directions(directions, contacts.dimension))
    width, extra = origin.width, contacts.n - contacts.contact_rows
    lower = np.concatenate([np.zeros(contacts.contacts * width), contacts.lower])
    upper = np.concatenate([np.full(contacts.contacts * width, np.inf), contacts.upper])
    b = np.zeros((contacts.contacts, width))
    free = contacts.b[: contacts.contact_rows].reshape(contacts.contacts, contacts.dimension)
    b[:, :-1] = free @ origin.expand.T
    if contacts.model == "disc":
        b[:, -1] = contacts.friction
    right = np.concatenate([b.reshape(-1), contacts.b[contacts.contact_rows :]])
    return make_restated(_assemble(origin, extra), right, lower, upper, origin)


@dataclass(frozen=True, eq=False)
class StewartTrinkle(Restatement):
    """The unknowns (x_n, x_1, ..., x_K, beta) of each contact, then the other rows."""

    directions: int

    @property
    def title(self) -> str:
        return f"Stewart-Trinkle problem ({self.directions} directions)"

    @property
    def width(self) -> int:
        """How many unknowns a contact has."""
        return self.directions + 2

    @property
    def tangents(self) -> Matrix:
        """The unit vectors t_i, one a row, in the plane (or on the line) of the tangents."""
        return unit_vectors(self.directions, self.contacts.dimension)

    @property
    def expand(self) -> Matrix:
        """E of one contact: from velocities along (normal, tangents) to those along (normal, t_1, ..., t_K)."""
        E = np.zeros((self.directions + 1, self.contacts.dimension))
        E[0, 0] = 1.0
        E[1:, 1:] = self.tangents
        return E

    def impulses(self, x: Vector) -> Vector:
        rows = self.contacts.contacts * self.width
        parts = x[:rows].reshape(self.contacts.contacts, self.width)
        return np.concatenate([(parts[:, :-1] @ self.expand).reshape(-1), x[rows:]])

    def unknowns(self, impulses: Vector) -> Vector:
        """Each tangential impulse by the two t_i beside it, and beta as small as its slack allows.

        A tangential impulse beyond the polygon is shortened until it lies on its edge; normals below zero become zero.
        """
        contacts = self.contacts
        given = impulses[: contacts.contact_rows].reshape(contacts.contacts, contacts.dimension)
        parts = np.zeros((contacts.contacts, self.width))
        parts[:, 0] = np.maximum(given[:, 0], 0.0)
        weights = _split(given[:, 1:], self.tangents)
        total = weights.sum(axis=1)
        limit = contacts.friction if contacts.model == "disc" else contacts.friction * parts[:, 0]
        factor = np.divide(limit, total, out=np.ones(total.size), where=total > limit)
        parts[:, 1:-1] = factor[:, None] * weights
        others = np.clip(impulses[contacts.contact_rows :], contacts.lower, contacts.upper)
        x = np.concatenate([parts.reshape(-1), others])
        y = contacts.A.slack(self.impulses(x), contacts.b, np.empty(contacts.n))
        slip = y[: contacts.contact_rows].reshape(given.shape)[:, 1:]
        x[self.width - 1 : parts.size : self.width] = np.max(-slip @ self.tangents.T, axis=1, initial=0.0)
        return x

    def is_like(self, other: Restatement) -> bool:
        return isinstance(other, StewartTrinkle) and other.directions == self.directions


def unit_vectors(count: int, dimension: int = 3) -> Matrix:
    """`count` directions at equal angles; the second half are exactly the negatives of the first."""
    if dimension == 2:
        return np.array([[1.0], [-1.0]])
    angle = 2.0 * np.pi * np.arange(count // 2) / count
    half = np.stack([np.sin(0.5 * np.pi - angle), np.sin(angle)], axis=1)
    return np.concatenate([half, 0.0 - half])


def _checked_directions(directions: int | None, dimension: int) -> int:
    if dimension == 2:
        if directions not in (None, PLANAR):
            raise ValueError(f"directions is {directions}; contacts in two dimensions have {PLANAR}")
        return PLANAR
    if directions is None:
        return 4
    require_count(directions, "directions", least=4)
    if directions > MOST:
        raise ValueError(f"directions is {directions}; at most {MOST}, beyond which nothing but the memory grows")
    if directions % 2:
        raise ValueError(f"directions is {directions}; an even number is needed, so that every t_i has its opposite")
    return int(directions)


def _split(tangential: NDArray[np.float64], tangents: Matrix) -> NDArray[np.float64]:
    """Weights >= 0 of the t_i that add up to each vector; no more than two, of neighbours, are not zero."""
    if tangents.shape[1] == 1:
        return np.maximum(tangential * tangents[:, 0], 0.0)
    count = len(tangents)
    angle = np.arctan2(tangential[:, 1], tangential[:, 0]) % (2.0 * np.pi)
    before = np.floor(angle * count / (2.0 * np.pi)).astype(np.intp) % count
    after = (before + 1) % count
    own = np.arange(len(tangential))
    weights = np.zeros((len(tangential), count))
    area = _cross(tangents[0], tangents[1])  # of the parallelogram of two neighbours
    weights[own, before] = np.maximum(_cross(tangential, tangents[after]), 0.0) / area
    weights[own, after] = np.maximum(_cross(tangents[before], tangential), 0.0) / area
    return weights


def _cross(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    product: NDArray[np.float64] = p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]
    return product


def _assemble(origin: StewartTrinkle, extra: int) -> Operator:
    """Eq. 27 contact by contact. A that is only a product stays one."""
    contacts, width = origin.contacts, origin.width
    wide = np.zeros((width, contacts.dimension))
    wide[:-1] = origin.expand
    own = np.zeros((contacts.contacts, width, width))
    own[:, 1:-1, -1] = 1.0
    own[:, -1, 0] = 0.0 if contacts.model == "disc" else contacts.friction
    own[:, -1, 1:-1] = -1.0
    E = sparse.kron(sparse.eye_array(contacts.contacts), wide, format="csr")
    coupling = _block_diagonal(own)
    if extra:
        E = sparse.block_diag([E, sparse.eye_array(extra)], format="csr")
        coupling = sparse.block_diag([coupling, sparse.csr_array((extra, extra))], format="csr")
    if TO_SPARSE in contacts.A.ability_set:
        # contacts are coupled by three velocities each (two in the plane), and other rows by no more if taken in threes
        groups = np.concatenate(
            [
                np.repeat(np.arange(contacts.contacts), width),
                contacts.contacts + np.arange(extra) // contacts.dimension,
            ]
        )
        return SparseOperator(sparse.csr_array(E @ contacts.A.to_sparse() @ E.T + coupling), groups)
    return congruent_product(contacts.A, E, coupling)


def _block_diagonal(blocks: NDArray[np.float64]) -> sparse.csr_array:
    count, size, _ = blocks.shape
    row = np.arange(count * size).reshape(count, size, 1)
    column = np.arange(count * size).reshape(count, 1, size)
    places = np.broadcast_arrays(row, column)
    flat = blocks.reshape(-1), tuple(place.reshape(-1) for place in places)
    matrix = sparse.csr_array(flat, shape=(count * size, count * size))
    matrix.eliminate_zeros()
    return matrix
