"""Impulses of least norm: of all that make the same motion, those that redundant contacts share most evenly.

Where contacts are redundant, J^T x = J^T x* has many solutions x; a solver returns whichever it comes across, for
instance tangential impulses at the corners of a box at rest that hold each other. Here

    minimise  1/2 (x - x*)^T A (x - x*) + eps/2 sum over c of w_c |x_c|^2,      w_c the mean A_ii of contact c,

over impulses with which every contact does what it does at x*: one that opens has none, one that sticks an impulse in
its cone, one that slides an impulse on its ray, x_c = s (1, -friction y_t / |y_t|), s >= 0. That is a convex contact
problem of its own, with sticking contacts, and rows s >= 0 for those that slide. What eps = 1e-4 leaves of the motion,
A (x* - x), is added to what the next round aims at (the method of multipliers, Hestenes 1969), so that each round
divides it by about 1 / eps and the norm becomes the least one. Where that ends early, Newton's method on the problem
that was asked gives the last digits.

Contacts with boxed friction (`model="box"`) that stick stay in the disc inside their box, and those of which a tangent
slides keep their impulse. Rows after the contacts take part within their bounds where their velocity is zero.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from perp.problems.deadline import OutOfTime, deadline, now
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.operators import FactoredOperator
from perp.problems.operators.base import DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residual_scale import look
from perp.solvers.cone_interior.cone_interior import ConeInterior
from perp.solvers.newton.cone.cone_newton import ConeNewton
from perp.solvers.polishing.polish import polish
from perp.solvers.results import Result, Status
from perp.solvers.run import run_method
from perp.solvers.stopping import Stopping

IMPULSES = ("any", "least_norm")
"""What `perp.solve` may be asked for."""

MODELS = ("cone", "convex", "box")

SHARE = 1e-4
"""eps."""

ROUNDS, MOST_STEPS, EXACT = 6, 200, 1e-15
"""Rounds of multipliers, iterations of each, and the residual that they are asked for, over the largest impulse."""

STILL = 1e-7
"""A velocity below this share of the largest |b| is none."""

AS_GOOD = 2.0
"""Impulses with so many times the residual of those that were given are not polished."""

METHODS = (ConeInterior(), ConeNewton(start_sweeps=0, sweeps=0))


def with_least_norm(result: Result, tol: float) -> Result:
    """The result with impulses of least norm, if their residual is at most `tol`; else as it was, with a note.

    For "auto" `tol` is on the scaled residual, as everywhere.
    """
    problem = result.problem.as_contacts()
    if not result.success:
        return _noted(result, "impulses were left as they are: they are no solution")
    try:
        x = least_norm_impulses(problem, result.x)
    except OutOfTime:
        x = None
    if x is None:
        return _noted(result, "impulses of least norm were not found: those of the method were left as they are")
    residual, y = look(problem, x)
    told = result.message.replace(f"residual {result.residual:.3e}", f"residual {residual:.3e}")
    changed = replace(result, x=x, y=y, residual=residual, message=told)
    is_named = len(result.methods) == 1 and result.methods[0].method == result.method
    if not (changed.residual if is_named else changed.scaled_residual) <= max(
        tol, result.residual if is_named else 0.0
    ):
        return _noted(result, "impulses of least norm do not solve the problem: those of the method were left")
    return _noted(changed, "impulses were replaced by those of least norm that make the same motion")


def least_norm_impulses(problem: ContactProblem, x: Vector) -> Vector | None:
    """Of x, which solves the problem; None where they are not found."""
    y = problem.slack(x)
    spread, base, kinds = _unknowns(problem, x, y)
    if spread.shape[1] == 0:
        return x
    aim = x - base
    reduced, start, left = _reduced_problem(problem, aim, spread, kinds), None, inf
    stop = Stopping(tol=EXACT * float(np.abs(x).max(initial=0.0)), max_iterations=MOST_STEPS)
    for _ in range(ROUNDS):
        found = _solve(reduced, start, stop)
        if found is None:
            break
        start = found
        moved = problem.A.apply(aim - spread @ start)
        if not np.abs(moved).max() < 0.5 * left:  # rounding errors, or motion that no such impulses make
            break
        left = float(np.abs(moved).max())
        reduced = _with_b(reduced, reduced.b - spread.T @ moved)
    if start is None:
        return None
    near = problem.project(base + spread @ start)
    if look(problem, near)[0] <= AS_GOOD * look(problem, x)[0]:
        return near
    polished = polish(problem, near, max_seconds=deadline().left)  # which leaves the least norm a little
    return near if polished is None else polished.x


def _solve(problem: ContactProblem, start: Vector | None, stop: Stopping) -> Vector | None:
    x0 = problem.project(np.zeros(problem.n)) if start is None else start
    for method in METHODS:
        found = run_method(problem, method, x0, stop, None, now(), [])
        if found.status in (Status.CONVERGED, Status.REDUCED_ACCURACY):
            return found.x
    return None


def _with_b(problem: ContactProblem, b: Vector) -> ContactProblem:
    """The same cones, rays and bounds, other b."""
    A, law, d = problem.A, problem.model, problem.dimension
    return ContactProblem(A, b, problem.friction, law, dimension=d, lower=problem.lower, upper=problem.upper)


def require_least_norm(problem: Problem) -> None:
    """Say what is wrong with asking for least norms here."""
    contacts = problem.frictional
    if contacts is None or contacts.model not in MODELS or contacts.is_wide:
        kind = type(problem).__name__ if contacts is None else contacts.kind
        raise ValueError(f"impulses='least_norm' is for contacts with model {', '.join(MODELS)}; this is {kind}")
    if not {DIAGONAL, TO_SPARSE} <= problem.A.ability_set:
        raise ValueError("impulses='least_norm' needs an A with entries: an array, a sparse one, or its factors")


Kinds = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]
"""Contacts that stick, contacts that slide, and free rows after the contacts."""


def _unknowns(problem: ContactProblem, x: Vector, y: Vector) -> tuple[sparse.csr_array, Vector, Kinds]:
    """G and x_0 with x = x_0 + G s, and what the unknowns s are: rows of sticking contacts, rays, other rows."""
    d, first = problem.dimension, problem.contact_rows
    still = STILL * float(np.abs(problem.b).max(initial=0.0))
    contacts = y[:first].reshape(problem.contacts, d)
    slip = np.hypot.reduce(contacts[:, 1:], axis=1, initial=0.0)
    touches = (
        contacts[:, 0] <= still if problem.model != "convex" else contacts[:, 0] <= problem.friction * slip + still
    )
    slides = slip > still
    rays = np.flatnonzero(touches & slides) if problem.model != "box" or d == 2 else np.zeros(0, dtype=np.intp)
    sticks = np.flatnonzero(touches & ~slides)
    others = first + np.flatnonzero(np.abs(y[first:]) <= still)
    rows = (d * sticks[:, None] + np.arange(d)).reshape(-1)
    base = x.copy()
    base[rows], base[others] = 0.0, 0.0
    base[(d * rays[:, None] + np.arange(d)).reshape(-1)] = 0.0
    direction = np.concatenate(
        [np.ones((rays.size, 1)), -(problem.friction[rays] / slip[rays])[:, None] * contacts[rays, 1:]], axis=1
    )
    column = np.concatenate(
        [
            np.arange(rows.size),
            rows.size + np.repeat(np.arange(rays.size), d),
            rows.size + rays.size + np.arange(others.size),
        ]
    )
    row = np.concatenate([rows, (d * rays[:, None] + np.arange(d)).reshape(-1), others])
    value = np.concatenate([np.ones(rows.size), direction.reshape(-1), np.ones(others.size)])
    shape = (problem.n, rows.size + rays.size + others.size)
    return sparse.csr_array((value, (row, column)), shape=shape), base, (sticks, rays, others)


def _reduced_problem(problem: ContactProblem, x: Vector, G: sparse.csr_array, kinds: Kinds) -> ContactProblem:
    """min 1/2 (G s - x)^T A (G s - x) + eps/2 |s|^2, energies of contacts, over cones, rays and bounds."""
    sticks, rays, others = kinds
    diagonal = problem.A.diagonal()
    weight = diagonal.copy()
    contacts = weight[: problem.contact_rows].reshape(problem.contacts, problem.dimension)
    contacts[:] = contacts.mean(axis=1, keepdims=True)
    energy = SHARE * np.asarray((G.multiply(G)).T @ weight)
    b = -np.asarray(G.T @ problem.A.apply(x))
    A = problem.A.factored
    if A is not None:
        own = np.asarray((G.multiply(G)).T @ A.compliance)
        reduced = FactoredOperator(sparse.csr_array(G.T @ A.J), A.mass, own + energy)
    else:
        reduced = sparse.csr_array(G.T @ problem.A.to_sparse() @ G + sparse.diags_array(energy))
    lower = np.concatenate([np.zeros(rays.size), problem.lower[others - problem.contact_rows]])
    upper = np.concatenate([np.full(rays.size, inf), problem.upper[others - problem.contact_rows]])
    friction = problem.friction[sticks]
    return ContactProblem(
        reduced, b, friction, "convex", dimension=problem.dimension, extra_rows=lower.size, lower=lower, upper=upper
    )


def _noted(result: Result, note: str) -> Result:
    return replace(result, notes=(*result.notes, note))
