"""Readable twins of the projected-gradient methods: dense matrices, gradients computed from scratch, no metric tricks.

A metric W is a change of variables, x = W^1/2 z: the twins run on the scaled problem and give x back.
"""

from __future__ import annotations

import numpy as np
import twins

import perp


def weights(problem, scaling="diagonal"):
    if scaling == "none":
        return np.ones(problem.n)
    size = problem.A.to_dense().diagonal().copy()
    if isinstance(problem, perp.ContactProblem):
        for c in range(problem.contacts):
            rows = slice(problem.dimension * c + (problem.model == "disc"), problem.dimension * (c + 1))
            size[rows] = size[rows].mean()
    return 1.0 / size


def nearest(problem, x):
    """P x: cones and discs by the twins of their projections, other rows clipped."""
    if not isinstance(problem, perp.ContactProblem):
        return np.clip(x, problem.lower, problem.upper)
    near, width = x.copy(), problem.dimension
    for c, mu in enumerate(problem.friction):
        n, end = width * c, width * (c + 1)
        if problem.model == "disc":
            near[n], near[n + 1 : end] = max(x[n], 0.0), twins.project_on_disc(x[n + 1 : end], mu)
        else:
            near[n:end] = twins.project_on_cone(x[n:end], mu)
    near[problem.contact_rows :] = np.clip(x[problem.contact_rows :], problem.lower, problem.upper)
    return near


def scaled(problem, scaling):
    """root, A, b and P of the problem in z."""
    root = np.sqrt(weights(problem, scaling))
    A = root[:, None] * problem.A.to_dense() * root
    return root, A, root * problem.b, lambda z: nearest(problem, root * z) / root


def objective(A, b, z):
    return 0.5 * z @ A @ z + b @ z


def slip_shift(problem, root, gradient):
    """friction |y_t| on the normal rows, in the variables z; nothing for convex problems."""
    shift = np.zeros(problem.n)
    if problem.kind == "contact/cone":
        y = gradient / root
        for c, mu in enumerate(problem.friction):
            n = problem.dimension * c
            shift[n] = root[n] * mu * np.linalg.norm(y[n + 1 : n + problem.dimension])
    return shift


def apgd(problem, x, iterations, lipschitz, restart="gradient", scaling="diagonal", shift_every=1):
    """Mazhar, Heyn, Negrut & Tasora 2015, Algorithm 1; returns the iterates, and how often it restarted."""
    root, A, b, project = scaled(problem, scaling)
    old = ahead = x / root
    theta, restarts, iterates = 1.0, 0, []
    shift = slip_shift(problem, root, A @ old + b)
    for k in range(1, iterations + 1):
        gradient = A @ ahead + b
        while True:
            new = project(ahead - (gradient + shift) / lipschitz)
            d = new - ahead
            if d @ A @ d <= lipschitz * d @ d + 1e-15:
                break
            lipschitz = max(2.0 * lipschitz, d @ A @ d / (d @ d))
        next_theta = (-(theta**2) + theta * np.sqrt(theta**2 + 4.0)) / 2.0
        beta = theta * (1.0 - theta) / (theta**2 + next_theta)
        uphill = {
            "gradient": (gradient + shift) @ (new - old),
            "function": objective(A, b, new) - objective(A, b, old) + shift @ (new - old),
            "none": -1.0,
        }[restart]
        if uphill > 0.0:
            beta, next_theta, restarts = 0.0, 1.0, restarts + 1
        ahead, old, theta = new + beta * (new - old), new, next_theta
        lipschitz *= 0.9
        if k % shift_every == 0:
            shift = slip_shift(problem, root, A @ new + b)
        iterates.append(root * new)
    return iterates, restarts


def spg(problem, x, iterations, first_step, memory=10, sufficient=1e-4, steps="long", scaling="diagonal"):
    """Birgin, Martinez & Raydan 2000, Algorithm 2.2 (SPG2); returns the iterates and the evaluations of f.

    It stops where there is so little left to do that differences of f are rounding errors.
    """
    root, A, b, project = scaled(problem, scaling)
    z, step, evaluations = x / root, first_step, 0
    values, iterates = [objective(A, b, z)], []
    for k in range(1, iterations + 1):
        gradient = A @ z + b
        target = project(z - step * gradient)
        d = target - z
        if np.abs(d).max() <= 1e-5:
            break
        length = 1.0
        while True:
            value = objective(A, b, z + length * d)
            evaluations += 1
            if value <= max(values[-memory:]) + sufficient * length * gradient @ d:
                break
            least = -(length**2) * (gradient @ d) / (2.0 * (value - values[-1] - length * gradient @ d))
            length = least if 0.1 * length <= least <= 0.9 * length else length / 2.0
        z = target if length == 1.0 else z + length * d  # rows that reach a bound are on it
        values.append(value)
        is_short = steps == "short" or (steps == "alternating" and k % 2 == 1)
        moves = np.abs(d) > 1e-14 * np.abs(target)  # rows that only rounding moves rest
        moved = (A @ d)[moves] if moves.any() else A @ d
        step = (d @ A @ d) / (moved @ moved) if is_short else (d @ d) / (d @ A @ d)
        iterates.append(root * z)
    return iterates, evaluations
