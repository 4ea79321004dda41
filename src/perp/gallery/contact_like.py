"""The contact LCP of Stewart and Trinkle (NOTES eq. 25-27): non-symmetric, with a zero block on its diagonal."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.gallery.catalogue import Example, catalogued
from perp.gallery.geometry import contact_jacobian, random_rotations
from perp.gallery.options import About
from perp.gallery.planted import ActiveContacts, GrazingContacts, Sliding, draw_parts, draw_sizes
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Matrix, Vector, freeze
from perp.problems.models.stewart_trinkle import stewart_trinkle, unit_vectors
from perp.problems.operators import BodyMasses, FactoredOperator, SparseOperator


@catalogued()
def contact_like(
    n: Annotated[int, About("rows wanted; rounded to whole contacts, of directions + 2 rows each", 1, 12_000)] = 180,
    seed: int = 0,
    *,
    friction: Annotated[float, About("coefficient of friction of all contacts", 0.0)] = 0.5,
    directions: Annotated[Literal[4, 6, 8], About("the K unit vectors that span the tangent plane of a contact")] = 4,
    fill: Annotated[float, About("share of pairs of contacts that influence each other", 0.0, 1.0)] = 0.5,
    bodies: Annotated[
        int | None, About("contacts of this many rigid bodies, many of them redundant; None: a random matrix", 2)
    ] = None,
    active: ActiveContacts = 0.5,
    sliding: Sliding = 0.5,
    degenerate: GrazingContacts = 0.0,
) -> Example:
    """Stewart-Trinkle contact LCP, friction along K directions: non-symmetric, zeros on the diagonal.

    The problem that `perp.stewart_trinkle` makes of contacts: contact c owns K + 2 rows, x_c = (x_n, x_1, ..., x_K,
    beta), and with B = J M^-1 J^T over all contacts

            | B_nn    B_nt   0 |
        A = | B_tn    B_tt   e |,    b = (b_n, b_t, 0)                                           (NOTES eq. 27)
            | mu     -e^T    0 |

    where mu and e couple rows of one contact only. (num4lcp writes them into every filled block, which couples the
    friction cone of a contact to the normal impulses of others.) As the t_i lie in a plane, B has rank 3 in each
    contact. By default the 3 x 3 blocks are random and, as in num4lcp, filled to a half and shifted until the least
    eigenvalue is 0.5; with `bodies`, B belongs to random contacts between rigid bodies and `fill` is not used.

    Unless every contact slides there is a continuum of solutions: where one sticks, impulses may be added to t_i and
    -t_i at once; where it has no normal impulse, the cone has shrunk to a point and beta may be as large as it likes.
    """
    rng = np.random.default_rng(seed)
    contacts = max(1, round(n / (directions + 2)))
    B = _random_blocks(contacts, fill, rng) if bodies is None else _body_contacts(contacts, bodies, rng)
    part = draw_parts(contacts, (active * sliding, active * (1.0 - sliding), degenerate), rng)
    impulse, beta, velocity = _plant(part, friction, unit_vectors(directions), rng)
    # b is the velocity that the bodies would have without impulses; the rows of beta have b = 0 by definition, so that
    # the cone condition has to hold of x itself.
    along_axes = np.concatenate([impulse[:, :1], impulse[:, 1:] @ unit_vectors(directions)], axis=1)
    b = velocity.reshape(-1) - B @ along_axes.reshape(-1)
    problem = stewart_trinkle(ContactProblem(SparseOperator(B), b, np.full(contacts, friction)), directions)
    x = np.concatenate([impulse, beta[:, None]], axis=1).reshape(-1)
    is_isolated = friction > 0.0 and bool(np.all(part == 0))
    return Example(problem, freeze(x), "solvable" if is_isolated else "infinitely_many")


def _plant(
    part: NDArray[np.intp], friction: float, tangents: Matrix, rng: np.random.Generator
) -> tuple[Vector, Vector, Vector]:
    """Impulses (x_n, x_1..x_K), beta and velocities (v_n, v_p, v_q) that satisfy NOTES eq. 26 contact by contact.

    slide      v_t not 0, beta = max_i (-t_i . v) > 0, and that t_i alone carries x_i = mu x_n
    stick      v_t = 0,   beta = 0, all t_i carry something, their sum is below mu x_n
    graze      all zero
    separate   x = 0, v_n > 0, any v_t, beta above max_i (-t_i . v)
    """
    contacts = part.size
    slides, sticks, separates = part == 0, part == 1, part == 3
    impulse, velocity = np.zeros((contacts, 1 + len(tangents))), np.zeros((contacts, 3))
    impulse[:, 0] = np.where(slides | sticks, draw_sizes(rng, contacts), 0.0)
    velocity[:, 0] = np.where(separates, draw_sizes(rng, contacts), 0.0)
    velocity[:, 1:] = np.where((slides | separates)[:, None], rng.standard_normal((contacts, 2)), 0.0)

    approach = -velocity[:, 1:] @ tangents.T
    chosen = approach.argmax(axis=1)
    beta = approach.max(axis=1)
    beta[separates] += draw_sizes(rng, contacts)[separates]
    limit = friction * impulse[:, 0]
    impulse[slides, 1 + chosen[slides]] = limit[slides]
    weights = rng.uniform(0.1, 1.0, (contacts, len(tangents)))
    held = weights / weights.sum(axis=1, keepdims=True) * rng.uniform(0.1, 0.9, (contacts, 1)) * limit[:, None]
    impulse[sticks, 1:] = held[sticks]
    return impulse, beta, velocity


def _random_blocks(contacts: int, fill: float, rng: np.random.Generator) -> sparse.csr_array:
    """A symmetric matrix of random 3 x 3 blocks, a share `fill` of them there, with least eigenvalue 0.5."""
    G = rng.uniform(-1.0, 1.0, (3 * contacts, 3 * contacts))
    there = np.triu(rng.random((contacts, contacts)) < fill, 1)
    mask = there | there.T | np.eye(contacts, dtype=bool)
    B = 0.5 * (G + G.T) * np.kron(mask, np.ones((3, 3)))
    B[np.diag_indices_from(B)] += 0.5 - np.linalg.eigvalsh(B)[0]
    return sparse.csr_array(B)


def _body_contacts(contacts: int, bodies: int, rng: np.random.Generator) -> sparse.csr_array:
    """J M^-1 J^T of contacts between random pairs of bodies, at random points with random normals."""
    first = rng.integers(0, bodies, contacts)
    second = (first + rng.integers(1, bodies, contacts)) % bodies
    pairs = np.repeat(np.stack([first, second], axis=1), 3, axis=0)
    arms = rng.uniform(-1.0, 1.0, (2, contacts, 3))
    jacobian = contact_jacobian(random_rotations(contacts, rng), arms[0], arms[1])
    mass = draw_sizes(rng, bodies)
    inertia = mass[:, None, None] * np.eye(3) / 6.0
    return FactoredOperator.from_body_pairs(pairs, jacobian, BodyMasses(mass, inertia)).to_sparse()
