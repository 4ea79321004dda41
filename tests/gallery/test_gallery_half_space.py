"""Elastic half-spaces: Hertz's closed form is reached on finer cells, and rough surfaces are as rough as asked."""

from __future__ import annotations

import numpy as np
import pytest

import perp

CELLS = (16, 32, 64)


def press(k: int, contact: float) -> tuple[float, float, float]:
    """Errors of peak pressure and contact radius, by the line p^2 = p0^2 (1 - r^2 / a^2), and of the area's radius."""
    example = perp.gallery.make("hertz", n=k * k, contact=contact)
    p = perp.solve(example.problem, tol=1e-10).x
    middles = (np.arange(k) + 0.5) * 2.0 / k - 1.0
    r2 = np.add.outer(middles**2, middles**2).reshape(-1)
    inside = p > 0.5
    slope, top = np.polyfit(r2[inside], p[inside] ** 2, 1)
    area = np.count_nonzero(p) * (2.0 / k) ** 2
    return abs(np.sqrt(top) - 1.0), abs(np.sqrt(-top / slope) - contact), abs(np.sqrt(area / np.pi) - contact)


@pytest.mark.parametrize("contact", [0.5, 0.8])
def test_peak_pressure_and_radius_of_hertz_are_reached_with_second_order(contact):
    errors = np.array([press(k, contact) for k in CELLS])
    orders = np.log(errors[0, :2] / errors[-1, :2]) / np.log(CELLS[-1] / CELLS[0])
    assert (orders > 1.6).all()
    assert (orders < 3.2).all()
    assert (errors[-1, :2] < 3e-4).all()
    assert (errors[:, 2] < 2.0 / np.array(CELLS)).all()  # a cell is in contact or not: first order


def test_the_pressure_of_hertz_is_the_continuous_one_at_every_cell_but_for_the_rim():
    example = perp.gallery.make("hertz", n=64**2)
    p = perp.solve(example.problem).x
    inside = example.continuous > 0.5
    assert np.abs(p - example.continuous)[inside].max() < 2e-3
    assert np.abs(p - example.continuous).max() < 0.1


def test_the_load_of_hertz_is_two_thirds_of_area_times_peak():
    example = perp.gallery.make("hertz", n=64**2, contact=0.6)
    load = perp.solve(example.problem).x.sum() * (2.0 / 64) ** 2
    assert load == pytest.approx(2.0 / 3.0 * np.pi * 0.6**2, rel=2e-3)


@pytest.mark.parametrize("k", [48, 49])
def test_a_rough_surface_has_the_slope_and_the_spectrum_that_were_asked_for(k):
    options = {"rms_slope": 0.3, "hurst": 0.6, "longest": 0.5, "shortest": 4.0}
    problem = perp.gallery.make("rough_surface", n=k * k, seed=2, gap=0.0, **options).problem
    heights = -problem.b.reshape(k, k)
    waves = np.fft.fft2(heights)
    along = np.fft.fftfreq(k, 1.0 / k)
    frequency = np.hypot(along[:, None], along[None, :])
    rms_slope = 2.0 * np.pi * np.sqrt((frequency**2 * np.abs(waves) ** 2).sum()) / k**2
    assert rms_slope == pytest.approx(0.3, rel=1e-10)
    assert np.abs(waves[frequency > k / 4.0 + 1e-9]).max() < 1e-9
    falling = (frequency > 2.5) & (frequency < k / 4.0)
    power, _ = np.polyfit(np.log(frequency[falling]), np.log(np.abs(waves[falling]) ** 2), 1)
    assert power == pytest.approx(-2.0 - 2.0 * 0.6, abs=0.4)


def test_a_periodic_surface_keeps_its_mean_gap_and_more_of_it_touches_as_it_comes_nearer():
    shares = []
    for gap in (2.0, 1.0, 0.3):
        problem = perp.gallery.make("rough_surface", n=32**2, seed=1, gap=gap).problem
        result = perp.solve(problem)
        assert result.success
        assert result.y.mean() == pytest.approx(problem.b.mean(), rel=1e-6)
        shares.append(np.mean(result.x > 0.0))
    assert shares == sorted(shares)
    assert shares[0] > 0.0
    assert shares[-1] < 1.0
