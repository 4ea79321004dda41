"""PGCG and MPRGP written down from their listings: dense matrices, every residual computed anew, nothing clever."""

from __future__ import annotations

import numpy as np


def diagonal(A):
    return np.diag(np.diag(A))


def identity(A):
    return np.eye(len(A))


def gauss_seidel(A):
    """(D + L) D^-1 (D + L^T)."""
    lower = np.tril(A)
    return lower @ np.diag(1.0 / np.diag(A)) @ lower.T


def pcg_iterates(A, b, x, make):
    """THESIS Algorithm 8 for A x + b = 0, with the loop that ERRATA asks for."""
    P = make(A)
    r = -b - A @ x
    z = np.linalg.solve(P, r)
    q = z.copy()
    while True:
        alpha = (r @ z) / (q @ A @ q)  # eq. 4.4
        x = x + alpha * q
        yield x.copy()
        before = r @ z
        r = r - alpha * A @ q
        z = np.linalg.solve(P, r)
        q = z + (r @ z) / before * q  # eq. 4.5


def pgcg_iterates(problem, x, make, inner_tolerance, inner_iterations=1000, noise=1e-10):
    """THESIS Algorithm 11 with the corrections of ERRATA: x after every step, until the residual is `noise`.

    Unlike there, a pass after which no row becomes free just goes on: to begin anew would only forget the directions.
    """
    A, b = problem.A.to_dense(), problem.b
    lower, upper = problem.bounds(x)
    x = x.copy()
    sets = np.where(x <= lower, -1, np.where(x >= upper, 1, 0))

    def face():
        F = sets == 0
        r = -(b + A @ x)[F]  # line 4
        z = np.linalg.solve(make(A[np.ix_(F, F)]), r)  # lines 5-6
        return F, r, z

    released = True
    while True:
        if released:
            F, r, z = face()
            q = z.copy()
        first, steps = r @ z, 0
        while steps < inner_iterations and r @ z > inner_tolerance**2 * first:  # line 25
            with np.errstate(divide="ignore", invalid="ignore"):
                ways = np.where(q < 0, (lower - x)[F] / q, np.where(q > 0, (upper - x)[F] / q, np.inf))
            alpha_max = ways.min(initial=np.inf)  # eq. 5.1
            hit = np.flatnonzero(F)[ways == alpha_max]
            if alpha_max > 0.0:
                alpha = min((r @ z) / (q @ A[np.ix_(F, F)] @ q), alpha_max)  # lines 11-12
                x[F] += alpha * q
                steps += 1
            if alpha_max == 0.0 or alpha == alpha_max:  # lines 14-19
                down = q[np.searchsorted(np.flatnonzero(F), hit)] < 0
                sets[hit] = np.where(down, -1, 1)
                x[hit] = np.where(down, lower[hit], upper[hit])
                F, r, z = face()
                q = z.copy()
                if steps == 0:
                    first = r @ z
            else:  # lines 21-22, in the usual order
                before = r @ z
                r = r - alpha * A[np.ix_(F, F)] @ q
                z = np.linalg.solve(make(A[np.ix_(F, F)]), r)
                q = z + (r @ z) / before * q
            if alpha_max > 0.0:
                yield x.copy()
        y = A @ x + b  # line 26
        wrong = (lower < upper) & (((sets < 0) & (y < -noise)) | ((sets > 0) & (y > noise)))
        released = wrong.any()
        if not released and np.abs(y[sets == 0]).max(initial=0.0) <= noise:
            return
        sets[wrong] = 0  # line 28


def mprgp_iterates(problem, x, gamma, step, make=None):
    """Dostál & Schöberl 2005, for a box: the kind of every step and x after it.

    `make` turns A_FF into a preconditioner in face (Domorádová & Dostál 2007).
    """
    A, b = problem.A.to_dense(), problem.b
    lower, upper = problem.bounds(x)

    def split(x):
        g = A @ x + b
        free = (lower < x) & (x < upper)
        phi = np.where(free, g, 0.0)
        low, high = ~free & (x <= lower) & (lower < upper), ~free & (x >= upper) & (lower < upper)
        beta = np.where(low, np.minimum(g, 0.0), np.where(high, np.maximum(g, 0.0), 0.0))
        reduced = (x - np.clip(x - step * phi, lower, upper)) / step
        return g, free, phi, beta, reduced

    def precondition(phi, free):
        if make is None:
            return phi
        z = np.zeros(len(phi))
        z[free] = np.linalg.solve(make(A[np.ix_(free, free)]), phi[free])
        return z

    def longest(x, p):
        with np.errstate(divide="ignore", invalid="ignore"):
            ways = np.where(p > 0, (x - lower) / p, np.where(p < 0, (x - upper) / p, np.inf))
        return ways.min(initial=np.inf)

    g, free, phi, beta, reduced = split(x)
    p = precondition(phi, free)
    while True:
        if beta @ beta <= gamma**2 * (reduced @ phi):
            alpha, bound = (g @ p) / (p @ A @ p), longest(x, p)
            if alpha <= bound:
                kind, x = "cg", np.clip(x - alpha * p, lower, upper)
                g, free, phi, beta, reduced = split(x)
                z = precondition(phi, free)
                p = z - (z @ A @ p) / (p @ A @ p) * p if alpha < bound else z
            else:
                half = x - bound * p
                at_bound = (p != 0.0) & (np.isclose(half, lower, atol=1e-13) | np.isclose(half, upper, atol=1e-13))
                half = np.where(at_bound & (p > 0), lower, np.where(at_bound & (p < 0), upper, half))
                kind, x = "expansion", np.clip(half - step * split(half)[2], lower, upper)
                g, free, phi, beta, reduced = split(x)
                p = precondition(phi, free)
        else:
            alpha = (g @ beta) / (beta @ A @ beta)
            kind = "proportioning"
            inside = alpha <= longest(x, beta)
            x = np.clip(x - alpha * beta, lower, upper) if inside else np.clip(x - step * g, lower, upper)
            g, free, phi, beta, reduced = split(x)
            p = precondition(phi, free)
        yield kind, x.copy()
