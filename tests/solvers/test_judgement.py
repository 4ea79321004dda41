"""The last word on x: its residual and slack are the problem's own, also where the last check is not repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator

import perp
from perp import Status
from perp.problems.residuals import Watch
from perp.solvers.method import Method, State
from perp.solvers.roster import suitable_methods


def judged_anew(result):
    """Residual and slack from a watch that has never seen the problem."""
    watch = Watch(result.problem)
    residual = watch.look(result.x)[0]
    return residual, watch.y


def assert_judged(result):
    residual, y = judged_anew(result)
    assert result.residual == residual
    assert result.y.tobytes() == y.tobytes()


@given(st.one_of(strategies.lcps(), strategies.box_lcps(), strategies.contact_problems()), st.sampled_from([1, 3, 7]))
def test_residual_and_slack_of_every_method_are_those_of_a_fresh_look(problem, every):
    for method in suitable_methods(problem):
        assert_judged(perp.solve(problem, method, max_iterations=20, check_every=every, x0=np.ones(problem.n)))


@dataclass(frozen=True)
class Wandering(Method):
    """Goes through `script`, which the loop sees point by point; spoils the array that it was handed afterwards."""

    script: tuple[float, ...]
    offers: tuple[float, ...] = ()

    name: ClassVar[str] = "wandering"
    family: ClassVar[str] = "test"
    accepts: ClassVar[frozenset[str]] = frozenset({"lcp"})
    needs: ClassVar[frozenset[str]] = frozenset()
    requires: ClassVar[str] = "nothing"
    reference: ClassVar[str] = "none"

    def start(self, problem, x):
        return WanderingState(x)

    def step(self, problem, state, count):
        for _ in range(count):
            state.x[:] = self.script[min(state.k, len(self.script) - 1)]
            if self.offers:
                state.offer = np.full(problem.n, self.offers[min(state.k, len(self.offers) - 1)])
            state.k += 1


@dataclass
class WanderingState(State):
    k: int = 0


PROBLEM = perp.LCP(np.eye(2), [-1.0, -1.0])  # the residual of (a, a) is |1 - a|


def count_looks(monkeypatch):
    looks = []
    plain = Watch.look

    def look(self, x):
        looks.append(x.copy())
        return plain(self, x)

    monkeypatch.setattr(Watch, "look", look)
    return looks


@pytest.mark.parametrize(
    ("script", "expected", "looks"),
    [
        ((4.0, 3.0, 1.75), 0.75, 4),  # the last is the best: start and three points, no look twice
        ((4.0, 1.5, 3.0), 0.5, 5),  # the best is not the last: it is looked at once more
        ((3.0, 4.0, 5.0), 1.0, 5),  # the start is the best
    ],
)
def test_a_point_is_looked_at_again_unless_it_was_the_last_one(script, expected, looks, monkeypatch):
    seen = count_looks(monkeypatch)
    result = perp.solve(PROBLEM, Wandering(script), max_iterations=3)
    assert result.status is Status.ITERATION_LIMIT
    assert len(seen) == looks
    assert result.residual == expected
    assert_judged(result)


def test_a_product_that_is_the_code_of_the_caller_is_asked_once_more(monkeypatch):
    seen = count_looks(monkeypatch)
    operator = LinearOperator((2, 2), matvec=lambda v: v, dtype=np.float64)
    perp.solve(perp.LCP(operator, [-1.0, -1.0]), Wandering((4.0, 3.0, 1.75)), max_iterations=3)
    assert len(seen) == 5
    np.testing.assert_array_equal(seen[-1], seen[-2])


def test_an_offer_is_judged_by_itself_and_not_by_the_iterate_beside_it():
    result = perp.solve(PROBLEM, Wandering((4.0, 1.25), offers=(3.0, 1.5)), max_iterations=2)
    np.testing.assert_array_equal(result.x, [1.5, 1.5])
    assert result.residual == 0.5
    assert_judged(result)


@pytest.mark.parametrize("keep", ["best", "last"])
def test_whichever_iterate_is_kept_has_its_own_slack(keep):
    result = perp.solve(PROBLEM, Wandering((1.5, 3.0)), max_iterations=2, stop=perp.Stopping(keep=keep))
    assert_judged(result)


def test_iterates_after_the_last_check_do_not_reach_the_result():
    """The same point twice: the loop goes on from there to tell a standstill, and looks no more."""
    result = perp.solve(PROBLEM, Wandering((3.0, 1.5, 1.5, 9.0)), max_iterations=9, tol=0.0)
    np.testing.assert_array_equal(result.x, [1.5, 1.5])
    assert_judged(result)


def test_an_interruption_within_a_look_leaves_nothing_half_known(monkeypatch):
    plain, calls = Watch.look, []

    def look(self, x):
        calls.append(None)
        measures = plain(self, x)
        if len(calls) == 3:
            self.y[:] = -7.0  # as if the product had been cut off
            raise KeyboardInterrupt
        return measures

    monkeypatch.setattr(Watch, "look", look)
    with pytest.raises(KeyboardInterrupt) as caught:
        perp.solve(PROBLEM, Wandering((4.0, 2.0, 1.5)), max_iterations=5)
    result = caught.value.partial_result
    assert result.status is Status.INTERRUPTED
    assert_judged(result)


def test_scaled_rows_are_judged_in_the_numbers_of_the_caller():
    problem = perp.LCP(1e12 * np.eye(2), [-1e12, 1e12])
    result = perp.solve(problem, "pgs")
    assert "scaled" in result.notes[0]
    assert_judged(result)
    np.testing.assert_array_equal(result.y, problem.slack(result.x))


def test_a_watch_recalls_the_last_accepted_point_bit_for_bit_and_no_other():
    watch, x = Watch(PROBLEM), np.array([0.0, 2.0])
    assert watch.recall(x) is None
    residual = watch.look(x)[0]
    assert watch.recall(x) is None  # not accepted
    watch.accept(x)
    assert watch.recall(x.copy()) == residual
    assert watch.recall(np.array([-0.0, 2.0])) is None
    assert watch.recall(np.array([0.0, np.nextafter(2.0, 3.0)])) is None
    watch.look(np.ones(2))
    assert watch.recall(x) is None  # y belongs to another point now
    watch.accept(x)
    assert watch.recall(x) is None  # accepted, but not what was looked at
