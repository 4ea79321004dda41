"""What the exact solve of one contact needs of its block of A, prepared once (`perp.kernels.local_contacts`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector

LEAST_SHARE = 1e-8
"""Of the stiffness of a contact. Directions that have less (a planar model has none across its plane) count as having
this much: an impulse there changes no velocity, so it should not be driven about by rounding errors."""

STRONGEST_COUPLING = 1e75
"""Of tangents to normals, W_nt / W_nn. Where it is stronger, W is far from semidefinite and numbers overflow: such a
contact is solved as if normal and tangents were not coupled."""


def prepare_blocks(problem: ContactProblem, relaxation: float) -> tuple[np.uint64, Vector]:
    """How many numbers a contact has, and these numbers, flat."""
    W = padded_blocks(problem) / relaxation
    contacts = len(W)
    w_n = W[:, 0, 0]
    inverse = np.divide(1.0, w_n, out=np.zeros(contacts), where=w_n > 0.0)
    share = W[:, 0, 1:] * inverse[:, None]
    S = W[:, 1:, 1:] - w_n[:, None, None] * share[:, :, None] * share[:, None, :]
    too_much = ~((np.abs(share) < STRONGEST_COUPLING).all(axis=1) & np.isfinite(S).all(axis=(1, 2)))
    share[too_much], S[too_much] = 0.0, np.eye(2)
    own = W[:, : problem.dimension, : problem.dimension]  # the tangent that planar contacts are given has no say in it
    least = LEAST_SHARE * np.maximum(w_n, np.trace(own, axis1=1, axis2=2) / problem.dimension)
    stiffness, turn = _eigenvectors(S, least)
    if problem.model == "box":
        S = np.einsum("cik,ck,cjk->cij", turn, stiffness, turn)
        parts = [w_n, inverse, share[:, 0], share[:, 1], S[:, 0, 0], S[:, 1, 1], np.ones(contacts), S[:, 0, 1]]
        return np.uint64(8), np.stack(parts, axis=1).reshape(-1)
    a = np.einsum("cji,cj->ci", turn, share)
    parts = [w_n, inverse, a[:, 0], a[:, 1], stiffness[:, 0], stiffness[:, 1], turn[:, 0, 0], turn[:, 1, 0]]
    if problem.model == "disc":
        stiffness, turn = _eigenvectors(W[:, 1:, 1:], least)
        parts += [stiffness[:, 0], stiffness[:, 1], turn[:, 0, 0], turn[:, 1, 0]]
    if problem.model == "convex":
        whiten = np.zeros_like(W)  # K with K W K^T = 1 for the W of the parts above
        whiten[:, 0, 0] = np.sqrt(inverse)
        whiten[:, 1:, 0] = -a / np.sqrt(stiffness)
        whiten[:, 1:, 1:] = turn.transpose(0, 2, 1) / np.sqrt(stiffness)[:, :, None]
        frames, d = _frames_of_cones(whiten, problem.friction)
        parts += [*frames.transpose(0, 2, 1).reshape(contacts, 9).T, *d.T]
    return np.uint64(len(parts)), np.stack(parts, axis=1).reshape(-1)


def padded_blocks(problem: ContactProblem) -> NDArray[np.float64]:
    """The symmetric part of each contact's block, 3 x 3: planar contacts get a second tangent of stiffness 1."""
    blocks = problem.contact_blocks
    W = np.zeros((problem.contacts, 3, 3))
    W[:, 2, 2] = 1.0
    W[:, : problem.dimension, : problem.dimension] = 0.5 * (blocks + blocks.transpose(0, 2, 1))
    return W


def _eigenvectors(S: NDArray[np.float64], least: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Eigenvalues, no smaller than `least`, and a rotation whose columns are the eigenvectors."""
    values, vectors = np.linalg.eigh(S)
    flip = np.linalg.det(vectors) < 0.0
    vectors[flip, :, 1] *= -1.0
    return np.maximum(values, least[:, None]), vectors


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
