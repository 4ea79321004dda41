"""Nesterov and Todd's scaling of one cone, Jordan division and the longest step, against the textbook."""

from __future__ import annotations

from math import inf

import conic_twins as twins
import numpy as np
import pytest

from perp.kernels.conic import lorentz

TAILS = [0, 1, 2, 5]
EXACT = np.longdouble


def inside(rng, tail, gap):
    """A vector of the cone with |tail| = (1 - gap) head."""
    direction = rng.standard_normal(tail)
    norm = np.linalg.norm(direction)
    head = np.exp(rng.uniform(-2.0, 2.0))
    return np.append(head, direction * (1.0 - gap) * head / norm if tail else direction)


class Cone:
    """One cone in arrays as the kernels have them: the head at 2, the tail from 1 on."""

    def __init__(self, z, v):
        self.count, self.slot, self.first = z.size - 1, 2, 1
        lines = [np.full(z.size + 2, np.nan) for _ in range(9)]
        self.zh, self.zt, self.vh, self.vt, self.eta, self.growth, self.p, self.lh, self.lt = lines
        self.put(z, self.zh, self.zt)
        self.put(v, self.vh, self.vt)
        self.product = lorentz.scale(self.slot, self.first, self.count, *lines)

    def put(self, vector, heads, tails):
        heads[self.slot] = vector[0]
        tails[self.first : self.first + self.count] = vector[1:]

    def tail(self, line):
        return line[self.first : self.first + self.count]

    @property
    def point(self):
        return np.append(self.lh[self.slot], self.tail(self.lt))

    def times(self, function, vector):
        t, out = np.zeros(self.zt.size), np.zeros(self.zt.size)
        t[self.first : self.first + self.count] = vector[1:]
        head = function(
            self.slot, self.first, self.count, self.eta, self.growth, np.nan_to_num(self.p), vector[0], t, out
        )
        return np.append(head, self.tail(out))

    def dense(self, power):
        """T^power in extended precision, from the numbers that stand there."""
        p = self.tail(self.p).astype(EXACT)
        if not self.count:
            return np.array([[self.eta[self.slot] ** power]])
        return twins.from_eigenvectors(EXACT(self.eta[self.slot]), EXACT(self.growth[self.slot]), p, power)


def draw(seed, tail, gap_z=None, gap_v=None):
    rng = np.random.default_rng(seed)
    gaps = [rng.uniform(0.05, 1.0) if gap is None else gap for gap in (gap_z, gap_v)]
    return inside(rng, tail, gaps[0]), inside(rng, tail, gaps[1])


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("seed", range(5))
def test_the_scaling_takes_both_vectors_to_the_same_point(seed, tail):
    z, v = draw(seed, tail)
    cone, T = Cone(z, v), twins.scaling(z, v)
    assert cone.product == pytest.approx(z @ v, rel=1e-14)
    np.testing.assert_allclose(cone.point, T @ v, rtol=1e-12, atol=1e-14 * np.abs(cone.point).max())
    np.testing.assert_allclose(cone.times(lorentz.scale_slack, v), cone.point, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(cone.times(lorentz.scale_primal, z), cone.point, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("seed", range(5))
def test_both_scalings_are_those_of_the_textbook(seed, tail):
    z, v = draw(seed, tail)
    cone, T = Cone(z, v), twins.scaling(z, v)
    for column in np.eye(tail + 1):
        np.testing.assert_allclose(cone.times(lorentz.scale_slack, column), T @ column, rtol=1e-11, atol=1e-13)
        expected = np.linalg.solve(T, column)
        np.testing.assert_allclose(cone.times(lorentz.scale_primal, column), expected, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("tail", [1, 2, 5])
@pytest.mark.parametrize("gap", [1e-4, 1e-7, 1e-10])
def test_near_the_boundary_the_scaling_is_as_exact_as_its_data(gap, tail):
    """head - |tail| has a relative error of eps / gap, and T, lambda and growth have no more than a few times that."""
    z, v = draw(1, tail, gap_z=gap)
    v[1:] = -v[1:] if v[1:] @ z[1:] > 0.0 else v[1:]
    cone = Cone(z, v)
    T = twins.scaling(z.astype(EXACT), v.astype(EXACT))
    error = 1e-15 / gap
    eta = (twins.determinant(z.astype(EXACT)) / twins.determinant(v.astype(EXACT))) ** 0.25
    assert cone.eta[cone.slot] == pytest.approx(float(eta), rel=error)
    assert cone.growth[cone.slot] == pytest.approx(float((T[0, 0] + np.sqrt(T[0, 1:] @ T[0, 1:])) / eta), rel=error)
    np.testing.assert_allclose(cone.point, (T @ v).astype(float), rtol=0, atol=error * cone.point[0])


@pytest.mark.parametrize("tail", [1, 2, 5])
@pytest.mark.parametrize("gap", [0.5, 1e-7, 1e-13])
def test_products_with_the_scaling_are_exact_in_the_size_of_the_matrix(gap, tail):
    """Whatever growth is: |error| <= a few eps |T| |x|."""
    cone = Cone(*draw(2, tail, gap_z=gap))
    x = np.random.default_rng(3).standard_normal(tail + 1)
    for function, power in ((lorentz.scale_slack, 1), (lorentz.scale_primal, -1)):
        T = cone.dense(power)
        bound = 1e-15 * float(np.abs(T).max()) * (tail + 1) * np.abs(x).max()
        np.testing.assert_allclose(cone.times(function, x), (T @ x).astype(float), rtol=0, atol=8.0 * bound)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("seed", range(5))
def test_jordan_division_undoes_the_product(seed, tail):
    cone = Cone(*draw(seed, tail))
    d = np.random.default_rng(seed).standard_normal(tail + 1)
    t = np.zeros(cone.zt.size)
    t[cone.first : cone.first + tail] = d[1:]
    head = lorentz.divide(cone.slot, cone.first, tail, cone.lh, cone.lt, d[0], t)
    quotient = np.append(head, cone.tail(t))
    np.testing.assert_allclose(twins.jordan(cone.point, quotient), d, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("gap", [0.9, 1e-2, 1e-7])
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("seed", range(12))
def test_the_longest_step_is_that_of_a_bisection(seed, tail, gap):
    rng = np.random.default_rng(seed)
    a, da = inside(rng, tail, gap), rng.standard_normal(tail + 1)
    da[0] += rng.choice([-1.0, 0.0, 1.0, 3.0])
    cone = Cone(a, inside(rng, tail, 0.5))
    dh, dt = np.zeros(cone.zt.size), np.zeros(cone.zt.size)
    cone.put(da, dh, dt)
    found = lorentz.longest_step(cone.slot, cone.first, tail, cone.zh, cone.zt, dh, dt)
    expected = twins.longest_step(a.astype(EXACT), da.astype(EXACT))
    assert found == pytest.approx(expected, rel=1e-13 / gap)


@pytest.mark.parametrize("tail", [1, 2, 5])
def test_a_step_along_the_axis_and_one_along_the_boundary_never_end(tail):
    a = np.append(2.0, np.zeros(tail))
    cone = Cone(a, a)
    for da in (np.append(1.0, np.zeros(tail)), np.append(1.0, np.eye(tail)[0])):
        dh, dt = np.zeros(cone.zt.size), np.zeros(cone.zt.size)
        cone.put(da, dh, dt)
        assert lorentz.longest_step(cone.slot, cone.first, tail, cone.zh, cone.zt, dh, dt) == inf


def test_a_pair_on_its_axes_has_no_preferred_direction():
    cone = Cone(np.array([4.0, 0.0, 0.0]), np.array([1.0, 0.0, 0.0]))
    assert cone.growth[cone.slot] == 1.0
    assert cone.eta[cone.slot] == 2.0
    np.testing.assert_array_equal(cone.tail(cone.p), [0.0, 0.0])
    np.testing.assert_allclose(cone.times(lorentz.scale_slack, np.array([1.0, 2.0, 3.0])), [2.0, 4.0, 6.0])
