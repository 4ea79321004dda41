"""Compliances of contacts in the units of a problem: by the inertia that a contact feels, or by the load it carries.

A compliance C_c [(m/s)/(N s)] adds C_c x_c to the velocity of contact c. What is small depends on masses and loads:

    by inertia    C_c = value w_c,                   w_c the mean of A_ii over the rows of the contact [1/kg]
    by load       C_c = value speed / impulse_c,     speed = max |b_i| over all rows of contacts [m/s]

By inertia a contact gives way by that share of the velocity change which its impulse makes at the contact itself: the
problem has the condition number of A + value diag(w), and the speed C_c |x_c| grows with the load. By load it gives way
by about that share of the largest velocity, whatever the masses are. Walls of boxes (1,092 rows, gravity) give way by
0.3 % (1e-4 by inertia) or 0.2 % (1e-3 by load) of the largest |b| where masses are equal, and by 40 % or 3 % where they
differ by up to 1e4.

The impulse that a contact carries is estimated by one solve in which all contacts stick softly,

    (A + 1e-3 diag(w)) z = -b,      impulse_c = |z_c| + energy / sqrt(w_c),      energy^2 = mean of w_c |z_c|^2,

where the second term keeps a contact that happens to carry nothing from becoming as soft as air. Rows after the
contacts are equations in this solve, softened in the same way; one-sided rows that are satisfied without an impulse are
left out.
"""

from __future__ import annotations

import numpy as np

from perp.errors import MissingAbility, suggest
from perp.linalg.free_systems import choose_system, factor_or_exchange
from perp.problems.friction import ContactProblem
from perp.problems.inputs import NumberLike, Vector, freeze, require_number
from perp.problems.operators.base import SUBMATRIX

UNITS = ("si", "by_inertia", "by_load")

SOFTLY = 1e-3
"""The share of w that every row is softened by for the estimate of impulses: redundant contacts share a load evenly."""


def contact_compliance(problem: ContactProblem, value: NumberLike, units: str = "by_inertia") -> Vector:
    """C_c of each contact [(m/s)/(N s)], for `problem.with_compliance`.

    Parameters
    ----------
    value
        A number >= 0; 1e-4 by inertia or 1e-3 by load are small, and make redundant contacts much easier to solve.
    units
        "by_inertia": a share of the mean A_ii of the contact. "by_load": a share of the largest velocity, divided by an
        estimate of the impulse that the contact carries, which takes one factorisation. "si": as it is.

    A compliance that the contacts have already does not count. Both need the diagonal of A, "by_load" also its rows.
    """
    if not isinstance(problem, ContactProblem):
        raise TypeError(f"problem is {type(problem).__name__}; a perp.ContactProblem is needed")
    require_units(units)
    require_number(value, "value")
    number = float(value)
    if units == "si":
        return freeze(np.full(problem.contacts, number))
    if problem.diagonal is None:
        raise MissingAbility(f"a compliance {units} needs the diagonal of A, which this {problem.A.form} one has not")
    inertia = _inertia(problem)
    return freeze(number * (inertia if units == "by_inertia" else _by_load(problem.with_compliance(0.0), inertia)))


def require_units(units: str) -> None:
    """Refuse a word that is none of `UNITS`."""
    if units not in UNITS:
        raise ValueError(f"units is {units!r}{suggest(str(units), UNITS)}")


def _inertia(problem: ContactProblem) -> Vector:
    """w: the mean of A_ii over the rows of each contact, without what was added to them [1/kg]."""
    assert problem.diagonal is not None
    rows = problem.diagonal[: problem.contact_rows].reshape(problem.contacts, problem.dimension)
    share: float | Vector = 1.0
    if problem.is_wide:
        rows, share = problem.levers**2 * rows, np.mean(problem.levers > 0.0, axis=1)
    return np.asarray(np.maximum(rows.mean(axis=1) - share * problem.contact_compliance, 0.0))


def _by_load(problem: ContactProblem, inertia: Vector) -> Vector:
    """speed / impulse_c; w_c where nothing moves, so that there is no impulse to tell."""
    speed = float(np.abs(problem.b[: problem.contact_rows]).max(initial=0.0))
    moving = inertia[inertia > 0.0]
    if moving.size == 0:
        return np.zeros(problem.contacts)
    weight = np.where(inertia > 0.0, inertia, moving.mean())
    with np.errstate(all="ignore"):  # what overflows is found when the problem is made of it
        impulse = np.linalg.norm(problem.measured(_stick_softly(problem, weight)), axis=1)
        impulse = impulse + np.sqrt(np.mean(weight * impulse**2) / weight)
        return np.where(impulse > 0.0, speed / np.where(impulse > 0.0, impulse, 1.0), inertia)


def _stick_softly(problem: ContactProblem, weight: Vector) -> Vector:
    """The impulses of the contacts if all of them stick, and joints hold."""
    if SUBMATRIX not in problem.A.ability_set:
        raise MissingAbility(
            f"a compliance by_load needs rows of A, which this {problem.A.form} one has not; by_inertia does not"
        )
    assert problem.diagonal is not None
    others = slice(problem.contact_rows, None)
    lower, upper, b = problem.lower, problem.upper, problem.b[others]
    free = np.ones(problem.n, dtype=np.bool_)
    free[others] = ~(((lower >= 0.0) & (b >= 0.0)) | ((upper <= 0.0) & (b <= 0.0)))
    size = np.abs(problem.diagonal[others])
    own = np.where(size > 0.0, size, weight.mean())
    levers = problem.levers
    free[: problem.contact_rows] = levers.reshape(-1) > 0.0
    soft = np.divide(weight[:, None], levers**2, out=np.ones(levers.shape), where=levers > 0.0)
    shift = SOFTLY * np.concatenate([soft.reshape(-1), own])
    system = factor_or_exchange(problem, choose_system(problem), free, shift)
    return system.solve(np.where(free, -problem.b, 0.0))[: problem.contact_rows]
