"""What the exact solve of one contact needs of its block of A, prepared once.

The solve itself is `perp.kernels.contacts.local_contacts`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.kernels.sweeps import blocked
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector

LEAST_SHARE = 1e-8
"""Of the stiffness of a contact. Directions that have less (a planar model has none across its plane) count as having
this much: an impulse there changes no velocity, so it should not be driven about by rounding errors."""

STRONGEST_COUPLING = 1e75
"""Of tangents to normals, W_nt / W_nn. Where it is stronger, W is far from semidefinite and numbers overflow: such a
contact is solved as if normal and tangents were not coupled."""

CELLS = {"box": 8, "cone": 8, "disc": 12, "convex": 20}
"""How many numbers a contact has, by model."""


def prepare_blocks(problem: ContactProblem, relaxation: float) -> tuple[np.uint64, Vector]:
    """How many numbers a contact has, and these numbers, flat."""
    cells = CELLS[problem.model]
    local = np.empty(problem.contacts * cells)
    width, blocks = np.uint64(problem.dimension), problem.contact_blocks.reshape(-1)
    limits = (LEAST_SHARE, STRONGEST_COUPLING)
    blocked.prepare(blocks, width, float(relaxation), problem.model == "box", *limits, np.uint64(cells), local)
    parts = local.reshape(-1, cells)
    if problem.model == "disc":
        parts[:, 8:] = _tangent_axes(problem, relaxation)
    if problem.model == "convex":
        frames, d = _frames_of_cones(_whiten(parts), problem.friction)
        parts[:, 8:17] = frames.transpose(0, 2, 1).reshape(-1, 9)
        parts[:, 17:] = d
    return np.uint64(cells), local


def _tangent_axes(problem: ContactProblem, relaxation: float) -> NDArray[np.float64]:
    """Eigenvalues of W_tt and the turn to its eigenvectors: what fixed discs need where there is no normal impulse."""
    W = padded_blocks(problem) / relaxation
    own = W[:, : problem.dimension, : problem.dimension]
    least = LEAST_SHARE * np.maximum(W[:, 0, 0], np.trace(own, axis1=1, axis2=2) / problem.dimension)
    values, vectors = np.linalg.eigh(W[:, 1:, 1:])
    vectors[np.linalg.det(vectors) < 0.0, :, 1] *= -1.0
    return np.concatenate([np.maximum(values, least[:, None]), vectors[:, :, 0]], axis=1)


def _whiten(parts: NDArray[np.float64]) -> NDArray[np.float64]:
    """K with K W K^T = 1, one a contact, for the W that the numbers of a contact stand for."""
    inverse, a, stiffness = parts[:, 1], parts[:, 2:4], parts[:, 4:6]
    cosine, sine = parts[:, 6], parts[:, 7]
    K = np.zeros((len(parts), 3, 3))
    K[:, 0, 0] = np.sqrt(inverse)
    K[:, 1:, 0] = -a / np.sqrt(stiffness)
    K[:, 1, 1], K[:, 1, 2] = cosine, sine
    K[:, 2, 1], K[:, 2, 2] = -sine, cosine
    K[:, 1:, 1:] /= np.sqrt(stiffness)[:, :, None]
    return K


def padded_blocks(problem: ContactProblem) -> NDArray[np.float64]:
    """The symmetric part of each contact's block, 3 x 3: planar contacts get a second tangent of stiffness 1."""
    blocks = problem.contact_blocks
    W = np.zeros((problem.contacts, 3, 3))
    W[:, 2, 2] = 1.0
    W[:, : problem.dimension, : problem.dimension] = 0.5 * (blocks + blocks.transpose(0, 2, 1))
    return W


def _frames_of_cones(K: NDArray[np.float64], friction: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """T with T^T W T = 1 and T^T D T = diag(d), D = diag(-friction^2, 1, 1) / (1 + friction^2); T_0 within the cone.

    K W K^T = 1.
    """
    cosine = 1.0 / np.hypot(1.0, friction)
    D = np.zeros_like(K)
    D[:, 0, 0] = -((friction * cosine) ** 2)
    D[:, 1, 1] = D[:, 2, 2] = cosine**2
    d, vectors = np.linalg.eigh(K @ D @ K.transpose(0, 2, 1))
    frames = K.transpose(0, 2, 1) @ vectors
    frames[frames[:, 0, 0] < 0.0, :, 0] *= -1.0
    return frames, d
