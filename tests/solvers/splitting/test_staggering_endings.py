"""How staggering ends by itself: each ending has its own sentence, and names the fixed point residual."""

from __future__ import annotations

import numpy as np

from perp.solvers.results import Status
from perp.solvers.splitting.staggering import PATIENCE, SHORT_PATIENCE, FixedPointWatch


def watch(is_plain=True, inner_tolerance=1e-10, usual=1.0):
    return FixedPointWatch(inner_tolerance, is_plain, usual)


def look(watching, pairs):
    """The first ending, and at which pair (z, f) of numbers it came."""
    for count, (z, f) in enumerate(pairs, start=1):
        ending = watching.look(np.array([z]), np.array([f]))
        if ending is not None:
            return count, *ending
    return None


def test_impulses_that_no_longer_move_have_settled():
    assert look(watch(), [(1.0, 0.1), (1.0, 1e-16)]) == (
        2,
        Status.STAGNATED,
        "the fixed point is reached, up to inner_tolerance = 1e-10",
    )


def test_impulses_that_come_again_are_a_cycle_with_its_period():
    count, status, sentence = look(watch(), [(float(k % 3), 0.5 + k % 3) for k in range(1, 40)])
    assert status is Status.CYCLING
    assert count <= 9
    assert "every 3 iterations" in sentence
    assert "by " in sentence


def test_with_memory_the_same_impulses_are_no_cycle():
    assert look(watch(is_plain=False), [(1.0, 0.5)] * 50) is None


def test_impulses_without_end_have_no_fixed_point():
    _, status, sentence = look(watch(), [(10.0**k, 10.0**k) for k in range(20)])
    assert status is Status.BREAKDOWN
    assert "grow without end" in sentence


def test_a_small_first_impulse_is_no_measure_for_later_ones():
    assert look(watch(usual=1.0), [(1e-20, 1.0), (0.5, 0.3), (0.7, 0.1)]) is None


def test_a_residual_that_stays_is_given_up_after_as_long_as_it_fell():
    falling = [(float(k), 1.0 / (k + 1)) for k in range(400)]
    rest = [(400.0 + k, 0.1) for k in range(1000)]
    count, status, sentence = look(watch(), falling + rest)
    assert status is Status.STAGNATED
    assert count == 801
    assert "no fixed point was found: its residual was 2.5e-03 at best, 401 iterations ago" in sentence
    early, *_ = look(watch(), rest)
    assert early == PATIENCE + 2


def test_within_the_inner_tolerance_patience_is_short():
    count, status, sentence = look(watch(inner_tolerance=1e-3), [(float(k + 1), 5e-4) for k in range(100)])
    assert status is Status.STAGNATED
    assert count == SHORT_PATIENCE + 2
    assert "the fixed point residual, 5.0e-04, is within inner_tolerance = 0.001" in sentence
