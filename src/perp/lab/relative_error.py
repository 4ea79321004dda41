"""Errors that do not depend on the units of a problem: how good an answer is where all impulses are tiny, or huge.

`tol` is absolute in x, so that x = 0 'solves' a problem whose impulses are all below it. A table of problems from many
hands needs both ends mended: a tolerance that shrinks with the problem (`problem_size`), and a measure that is
relative to the answer (`relative_error`).
"""

from __future__ import annotations

import numpy as np

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.problems.residuals import verify

CONES = ("contact/cone", "contact/convex")


def problem_size(problem: Problem) -> float:
    """How large a residual is at a point that is no solution at all: at most 1, and less for a small problem.

    The residual is the smaller one of an impulse and a slack. At the start x (nearest to zero within the bounds) each
    row asks for r_i = |x_i - clip(x_i - s_i y_i)| of slack, that is r_i / (s_i A_ii) of impulse:

        size = min(1, max_i r_i, max_i r_i / (s_i A_ii)),       s_i the powers of two that scale extreme rows.

    A solve with `tol` times this size cannot end at the start, or near it, just because the numbers are small.
    """
    x = problem.project(np.zeros(problem.n))
    slack = problem.slack(x) * problem.row_scales
    lower, upper = problem.bounds(x)
    asked = np.abs(x - np.clip(x - slack, lower, upper))
    if not asked.any():  # solved by its start; a convex cone may still ask for tangents
        asked = np.abs(slack)
    sizes = [1.0, float(asked.max(initial=0.0))]
    if problem.diagonal is not None:
        diagonal = np.abs(problem.diagonal * problem.row_scales)
        known = diagonal > 0.0
        sizes.append(float((asked[known] / diagonal[known]).max(initial=0.0)))
    return min(size for size in sizes if size > 0.0)


def relative_error(problem: Problem, x: Vector) -> float:
    """The error of x relative to the numbers of the problem and of x; nan where x or its slack are not finite.

    Rows with bounds: max |x - clip(x - y)| / (size + max |x|), with `problem_size`, which is 1 for most problems.
    Contacts of the cone, with u = y + friction |y_t| e_n (De Saxcé; convex contacts: u = y), K* the dual cone of K:

        max of  dist(x, K) / max |x|,   dist(u, K*) / max |b|,   |x_c · u_c| / (max |x| max |b|),

    distances taken as violations of the two inequalities. The zero vector has no error where b lies in K*, and one of
    order 1 elsewhere, however small b is.
    """
    with np.errstate(all="ignore"):
        if problem.kind in CONES:
            contacts = problem.contact_rows
            y = problem.slack(x)
            errors = [_cone_error(problem.as_contacts(), x[:contacts], y[:contacts])]
            if contacts < problem.n:
                others, bound = x[contacts:], y[contacts:]
                natural = np.abs(others - np.clip(others - bound, problem.lower, problem.upper)).max()
                errors.append(float(natural / (problem_size(problem) + np.abs(x).max())))
            return float(np.max(errors))
        return verify(problem, x).natural_inf / (problem_size(problem) + float(np.abs(x).max(initial=0.0)))


def _cone_error(problem: ContactProblem, x: Vector, y: Vector) -> float:
    shape = (problem.contacts, problem.dimension)
    impulse, velocity = x.reshape(shape), np.array(y.reshape(shape))
    slip = np.linalg.norm(velocity[:, 1:], axis=1)
    if problem.model == "cone":
        velocity[:, 0] += problem.friction * slip
    friction_used = np.linalg.norm(impulse[:, 1:], axis=1)
    outside = np.maximum(friction_used - problem.friction * impulse[:, 0], -impulse[:, 0])
    inside_out = np.maximum(problem.friction * slip - velocity[:, 0], -velocity[:, 0])
    work = np.abs((impulse * velocity).sum(axis=1))
    largest, pushed = np.abs(x).max(initial=0.0), np.abs(problem.b).max(initial=0.0)
    shares = (
        _share(outside.max(initial=0.0), largest),
        _share(inside_out.max(initial=0.0), pushed),
        _share(work.max(initial=0.0), largest * pushed),
    )
    return float(np.max(shares))


def _share(part: float, whole: float) -> float:
    """part / whole; nothing is no error, whatever it is compared with."""
    return 0.0 if part == 0.0 else float(np.divide(part, whole))
