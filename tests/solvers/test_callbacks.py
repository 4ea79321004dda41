"""Callbacks: by position or by SciPy's name, and what they see."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import perp
from perp import Progress, Status
from perp.solvers.progress import by_position

PROBLEM = perp.LCP(2.02 * np.eye(60) - np.eye(60, k=1) - np.eye(60, k=-1), -np.ones(60))
SEEN = Progress(20, 0.5, 1e-3, 1e-4, 3, np.zeros(2))


def by_any_name(progress):
    return progress


def by_its_name(intermediate_result):
    return intermediate_result


def by_its_name_only(*, intermediate_result):
    return intermediate_result


def by_position_only(intermediate_result, /):
    return intermediate_result


def with_more(intermediate_result, more=None):
    return intermediate_result if more is None else more


def any_number(*intermediate_result):
    return intermediate_result[0]


class Listener:
    def __call__(self, *, intermediate_result):
        return intermediate_result

    def method(self, intermediate_result):
        return intermediate_result


@pytest.mark.parametrize(
    "callback", [by_any_name, by_its_name, by_its_name_only, by_position_only, with_more, any_number]
)
def test_a_callback_gets_its_argument_the_way_it_wants_it(callback):
    assert by_position(callback)(SEEN) is SEEN


def test_objects_methods_and_partial_functions_are_called_the_same_way():
    for callback in (Listener(), Listener().method, partial(with_more, more=None)):
        assert by_position(callback)(SEEN) is SEEN


def test_a_function_that_does_not_tell_its_parameters_is_called_by_position():
    assert by_position(getattr)  # its signature cannot be read in every version
    seen = []
    assert perp.solve(PROBLEM, "pgs", callback=seen.append, max_iterations=20).iterations == 20
    assert [progress.nit for progress in seen] == [0, 10, 20]


def test_no_callback_stays_none():
    assert by_position(None) is None


def test_stop_iteration_stops_a_callback_by_name_as_well():
    def enough(intermediate_result):
        if intermediate_result.nit >= 20:
            raise StopIteration("enough")

    result = perp.solve(PROBLEM, "pgs", callback=enough)
    assert result.status is Status.STOPPED_BY_CALLBACK
    assert result.nit == 20


def test_progress_is_read_by_name():
    assert SEEN["residual"] == SEEN.residual
    assert SEEN["nit"] == SEEN.iteration == 20
    assert dict(SEEN).keys() == {"iteration", "seconds", "residual", "merit", "active", "x", "nit"}
    assert "fun" not in SEEN
