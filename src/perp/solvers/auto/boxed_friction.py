"""Contacts whose tangents are bounded one by one (`model="box"`), stated as a problem with bounds that follow nothing.

As Stewart and Trinkle do for polygons (NOTES eq. 25-27), but with two directions for each tangent by itself: a tangent
is x_t = p - q, and beta, the speed of its slip, is positive only where p + q has reached friction x_n,

    0 <= p ⊥ y_t + beta >= 0,     0 <= q ⊥ -y_t + beta >= 0,     0 <= beta ⊥ friction x_n - p - q >= 0.

With x = G z that is y_z = (G^T A G + C) z + G^T b, where C holds what couples p, q and beta. Any solution of it is one
of the contacts, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from perp.problems.box import BoxLCP
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector


def restate_boxes(problem: ContactProblem) -> tuple[BoxLCP, Callable[[Vector], Vector]]:
    """The same problem with bounds that follow nothing, and the impulses that its unknowns stand for.

    Unknowns: the normal impulses, all p, all q, the rows after the contacts, all beta.
    """
    n, contacts, width = problem.n, problem.contacts, problem.dimension
    normals = problem.normal_rows
    tangents = (normals[:, None] + np.arange(1, width)).ravel()
    others = np.arange(problem.contact_rows, n)
    count = tangents.size

    def pick(rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> sparse.csr_array:
        return sparse.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=(n, rows.size))

    G = sparse.hstack([pick(normals), pick(tangents), -pick(tangents), pick(others)], format="csr")
    owner = np.repeat(np.arange(contacts), width - 1)
    limit = sparse.csr_array((problem.friction[owner], (np.arange(count), owner)), shape=(count, contacts))
    one = sparse.eye_array(count, format="csr")
    nothing = sparse.csr_array((count, others.size))
    below = sparse.hstack([limit, -one, -one, nothing], format="csr")
    beside = sparse.vstack([sparse.csr_array((contacts, count)), one, one, nothing.T], format="csr")
    matrix = sparse.block_array([[G.T @ problem.A.to_sparse() @ G, beside], [below, None]], format="csr")
    b = np.concatenate([G.T @ problem.b, np.zeros(count)])
    zeros, free = np.zeros(contacts + 2 * count), np.full(contacts + 2 * count, np.inf)
    lower = np.concatenate([zeros, problem.lower, np.zeros(count)])
    upper = np.concatenate([free, problem.upper, np.full(count, np.inf)])
    return BoxLCP(matrix, b, lower, upper), lambda z: np.asarray(G @ z[: G.shape[1]])
