"""Solving in eight threads gives the bits of solving one after the other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
import strategies

import perp
from perp.solvers.results import History

THREADS = 8


def problems():
    """One of each kind and form, all different."""
    made = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        A, b = strategies.spd_matrix(rng, 12), rng.standard_normal(12)
        for form in strategies.FORMS[:3]:
            operator = strategies.explicit(A, form)
            made.append(perp.LCP(operator, b))
            made.append(perp.BoxLCP(operator, b, -0.3, 0.4))
            made.append(perp.ContactProblem(operator, b, 0.5, ("box", "cone")[seed % 2]))
    made.append(perp.LCP(perp.StencilOperator((6, 5), 4.0), np.where(np.arange(30) % 3, 1.0, -2.0)))
    return made


def tell(result):
    """Everything but times."""
    history = result.history
    return (
        result.x.tobytes(),
        result.y.tobytes(),
        result.status,
        result.residual,
        result.iterations,
        result.notes,
        [(attempt.method, attempt.status, attempt.iterations) for attempt in result.methods],
        history.iteration.tobytes(),
        history.residual.tobytes(),
        result.active_mask.tobytes(),
        result.scaled_residual,
    )


def in_threads(work, items):
    """All threads begin together."""
    ready = Barrier(THREADS)

    def begin(part):
        ready.wait()
        return [work(item) for item in part]

    with ThreadPoolExecutor(THREADS) as pool:
        parts = list(pool.map(begin, [items[k::THREADS] for k in range(THREADS)]))
    return [parts[number % THREADS][number // THREADS] for number in range(len(items))]


@pytest.mark.parametrize("method", ["auto", "pgs"])
def test_different_problems_in_eight_threads_have_the_bits_of_the_serial_run(method):
    one_by_one = [tell(perp.solve(problem, method)) for problem in problems()]
    together = in_threads(lambda problem: tell(perp.solve(problem, method)), problems())
    assert together == one_by_one


@pytest.mark.parametrize("method", ["auto", "psor", "lemke", "minimum_map"])
def test_the_same_problem_in_eight_threads_has_the_bits_of_the_serial_run(method):
    """What a problem finds out about itself, once, is asked for by all threads at the same time."""
    rng = np.random.default_rng(7)
    A, b = strategies.spd_matrix(rng, 20), rng.standard_normal(20)
    expected = tell(perp.solve(perp.LCP(A, b), method))
    shared = perp.LCP(A, b)
    assert in_threads(lambda _: tell(perp.solve(shared, method)), range(4 * THREADS)) == [expected] * 4 * THREADS


def test_what_is_told_of_a_stencil_that_was_formed_reaches_the_notes_of_its_own_solve_only():
    stencil = perp.LCP(perp.StencilOperator((6, 5), 4.0), np.where(np.arange(30) % 3, 1.0, -2.0))
    dense = perp.LCP(stencil.A.to_dense(), stencil.b)
    items = [stencil, dense] * THREADS
    expected = [perp.solve(problem, "lemke").notes for problem in items]
    assert in_threads(lambda problem: perp.solve(problem, "lemke").notes, items) == expected


def test_the_columns_of_one_history_can_be_asked_for_by_all_threads():
    for _ in range(20):
        history = History.from_rows([(k, 0.0, float(k), 0.0, 0) for k in range(50)])
        seen = in_threads(lambda _, history=history: history.residual.sum(), range(THREADS))
        assert seen == [1225.0] * THREADS
