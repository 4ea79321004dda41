"""Which motion, where the rigid law of friction leaves it open: the one of contacts that give way ever less.

Redundant contacts leave open who presses how much. Where they slide, friction follows what presses, so the open share
of the load may turn the bodies this way or that; and bodies between walls may be held by impulses of any size that
nothing asks for. The exact law (`model="cone"`) and boxed friction then have a continuum of solutions with different
motion, or several, and the start of a solver decides. A compliance C_c = eps w_c on every contact c, w_c the mean A_ii
of its rows, settles who carries what. **The motion that is selected is that of the compliant law for small eps.**

*Is it that of x?* With F(x) = x - P(x - rho y) and its generalised derivative F' = E + G A (Alart & Curnier 1991):

* F' is regular: x is isolated, and next to it is a solution of the compliant law (implicit function theorem). Where
  det F' < 0, it is one of at least three, by the degree of F, which is 1 for a positive definite A: it does not count.
* F' z = 0 for some z with A z = 0, and none with A z != 0: around x impulses are open and the motion is closed. With
  compliance (F' + eps G W) x = const, so of the impulses x + z with this motion the compliant law tends to those with
  u^T G W (x + z) = 0 for all u with u^T F' = 0, W = diag(w). (Where all contacts stick, these have the least norm.) If
  each contact does there what it does at x, the same holds.
* Otherwise the compliant law is asked: eps = 1e-5, from a cold start, whatever x is; and then Newton's method on the
  rigid law, from there.

That the compliant law has one solution only is not proved; `docs/contact.md` (Several solutions) has what was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from perp.linalg.contact_compliance import contact_compliance
from perp.linalg.free_systems.block_rows import BlockDiagonal
from perp.problems.deadline import deadline, now
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.operators.base import DIAGONAL, TO_SPARSE
from perp.problems.problem import Problem
from perp.problems.residual_scale import cold_start
from perp.solvers.newton.cone.cone_newton import ConeNewton
from perp.solvers.newton.cone.equations import ContactEquations
from perp.solvers.polishing.polish import polish
from perp.solvers.run import run_method
from perp.solvers.stopping import Stopping

MOST_ROWS = 75
"""Larger problems are not looked at: singular vectors of F' would cost as much as the solve."""

SINGULAR = 1e-6
"""Singular values of F' below this share of the largest are zero."""

MOVES = 1e-4
"""A null vector of F' moves something where its velocities are more than this share of what its rows make alone."""

GRAZING = 1e-9
"""A contact grazes where its impulse makes no more than this share of the largest |b|, and it opens no faster."""

COMPLIANCE = 1e-5
"""Of the law that selects, as a share of the inertia of each contact."""

NEWTON = ConeNewton(start_sweeps=0, sweeps=0)
MOST_STEPS = 100
EXACT = 1e-12
"""The residual that is asked of the compliant law, as a share of the largest impulse."""


@dataclass(frozen=True, eq=False)
class Selected:
    """A solution of the rigid law next to that of the compliant one."""

    x: Vector
    residual: float
    iterations: int
    """Newton steps of the compliant law."""


def is_rigid(problem: Problem) -> TypeGuard[ContactProblem]:
    """Whether it has contacts without compliance whose friction follows their normal impulse."""
    contacts = problem.frictional
    return contacts is not None and contacts.model in ("cone", "box") and not contacts.is_compliant


def is_selected(problem: Problem, x: Vector) -> bool:
    """Whether the compliant law is known to have a solution next to x, which solves the problem: x may be returned.

    True also where there is nothing to select (convex and compliant laws, no contacts), and where nobody
    looks: more than `MOST_ROWS` rows, or an A without entries.
    """
    if not is_rigid(problem):
        return True
    if problem.n > MOST_ROWS or problem.contacts < 2 or not {DIAGONAL, TO_SPARSE} <= problem.A.ability_set:
        return True
    with np.errstate(all="ignore"):
        y = problem.slack(x)
        return not np.isfinite(y).all() or _persists(problem, np.array(x), y)


def select_motion(problem: ContactProblem, x: Vector) -> Selected | None:
    """The solution of the rigid law that the compliant law leads to; None where none is found.

    x, some solution, tells the size of impulses and no more.
    """
    soft = problem.with_compliance(contact_compliance(problem, COMPLIANCE, "by_inertia"))
    stop = Stopping(tol=EXACT * float(np.abs(x).max(initial=0.0)), max_iterations=MOST_STEPS)
    found = run_method(soft, NEWTON, cold_start(soft), stop, None, now(), [])
    if not found.success:
        return None
    polished = polish(problem, found.x, max_seconds=deadline().left)
    return None if polished is None else Selected(polished.x, polished.residual, found.iterations)


def _persists(problem: ContactProblem, x: Vector, y: Vector) -> bool:
    equations = ContactEquations(problem, "alart_curnier", 1.0)
    _load_grazing(problem, equations.rho, x, y)
    E, G = equations.linearise(equations.asked, x, y)
    presses = G.blocks[:, 0, 0] > 0.0
    if np.count_nonzero(presses) < 2:
        return True
    free = np.concatenate([np.repeat(presses, problem.dimension), G.diagonal > 0.0])  # x_i = const in all other rows
    root = np.sqrt(equations.stiffness[free])  # units in which every contact weighs the same; E stays as it is
    A = problem.A.to_dense()[np.ix_(free, free)] / root / root[:, None]
    E_free, G_free = (BlockDiagonal(part.blocks[presses], part.diagonal[G.diagonal > 0.0]) for part in (E, G))
    own = E_free.apply(np.eye(root.size))
    if problem.is_wide:  # rows of a contact differ in their units
        own = root[:, None] * own / root
    derivative = own + root[:, None] * G_free.apply(root[:, None] * A)
    left, null = _null_vectors(derivative)
    if not null.size:
        return float(np.linalg.slogdet(derivative)[0]) > 0.0
    if float(linalg.norm(A @ null, 2)) > MOVES:
        return False
    weight = np.where(np.arange(root.size) < G_free.split, root**2, 0.0)  # rows after the contacts do not give way
    pull = left.T @ G_free.apply(np.diag(weight))
    z = np.linalg.lstsq(pull @ null, -pull @ (root * x[free]), rcond=None)[0]
    limit = root * x[free] + null @ z
    if float(linalg.norm(pull @ limit)) > SINGULAR * float(linalg.norm(limit)):
        return False
    x[free] = limit / root
    after = equations.linearise(equations.asked, x, y)
    return all(
        np.array_equal(old.blocks != 0.0, new.blocks != 0.0) and np.array_equal(old.diagonal, new.diagonal)
        for old, new in zip((E, G), after, strict=True)
    )


def _null_vectors(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Left and right ones, as columns."""
    sizes = np.abs(np.diag(linalg.qr(matrix, mode="r", pivoting=True)[0]))
    if sizes[-1] > SINGULAR * sizes[0]:
        return np.empty((sizes.size, 0)), np.empty((sizes.size, 0))
    left, values, rows = linalg.svd(matrix)
    none = values <= SINGULAR * values[0]
    return left[:, none], rows[none].T


def _load_grazing(problem: ContactProblem, rho: Vector, x: Vector, y: Vector) -> None:
    """Let contacts that touch without pressing press a little: one that does not is at the end of a continuum."""
    normals = problem.every(0)
    little = GRAZING * float(np.abs(problem.b).max(initial=0.0)) * rho[normals]
    x[normals] += np.where(np.abs(x[normals] - rho[normals] * y[normals]) <= little, 2.0 * little, 0.0)
