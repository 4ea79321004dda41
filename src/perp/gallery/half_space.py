"""Elastic half-spaces in contact without friction: p >= 0 is the pressure on a cell, y = A p + h >= 0 the gap there.

A is a convolution with the kernel of the half-space (`perp.half_space_kernel`); h is the gap before bodies deform.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from perp.gallery.catalogue import Example, catalogued
from perp.gallery.options import About
from perp.problems.inputs import freeze
from perp.problems.lcp import LCP
from perp.problems.operators import ConvolutionOperator, half_space_kernel, periodic_half_space_kernel

Cells = Annotated[int, About("cells of the surface wanted; rounded to a square k x k", 1, 100_000_000)]


@catalogued()
def hertz(
    n: Cells = 4096,
    *,
    contact: Annotated[float, About("radius a of the contact; the surface is |x|, |y| < 1", 0.05, 0.95)] = 0.5,
) -> Example:
    """Smooth sphere pressed on an elastic half-space: contact within a disc of known radius (Hertz 1882).

    A sphere of radius R = 1 that comes nearer by delta has h = r^2 / (2 R) - delta, and (Johnson 1985, eq. 4.22-4.24)

        a = sqrt(R delta),     p = p0 sqrt(1 - r^2 / a^2),     p0 = 2 E* a / (pi R).

    E* = pi / (2 a) makes p0 = 1. `continuous` is that p at the middle of each cell.
    """
    k, spacing, x = _cells(n, 2.0)
    r2 = np.add.outer((x - 1.0) ** 2, (x - 1.0) ** 2).reshape(-1)
    modulus = 0.5 * math.pi / contact
    A = ConvolutionOperator(half_space_kernel((k, k), spacing, modulus), (k, k), "free")
    pressure = np.sqrt(np.maximum(1.0 - r2 / contact**2, 0.0))
    note = "The pressure under an ideal sphere is known; x tends to it as the cells become smaller."
    return Example(LCP(A, 0.5 * r2 - contact**2), continuous=freeze(pressure), note=note)


@catalogued()
def rough_surface(
    n: Cells = 4096,
    seed: int = 0,
    *,
    gap: Annotated[
        float, About("distance of the mean planes in rms heights: before bodies deform, or (periodic) ever", 0.0, 10.0)
    ] = 1.0,
    rms_slope: Annotated[float, About("rms slope of the surface, by its spectrum", 1e-6, 1e6)] = 1.0,
    hurst: Annotated[
        float, About("Hurst exponent: 1 for smooth hills, less for more roughness upon them", 0.0, 1.0)
    ] = 0.8,
    longest: Annotated[
        float, About("roll-off: waves longer than this share of the side are no higher", 0.01, 1.0)
    ] = 0.25,
    shortest: Annotated[float, About("cut-off: the shortest wave, in cells", 2.0, 1000.0)] = 8.0,
    boundary: Annotated[
        Literal["periodic", "free"], About("the surface repeats itself, or there is nothing beyond it")
    ] = "periodic",
) -> Example:
    """Self-affine random surface pressed on a flat elastic half-space, side 1 and E* = 1.

    Heights are Gaussian, with the power spectrum (Persson et al. 2005; Jacobs, Junge & Pastewka 2017)

        C(q) = constant below q_r = 2 pi / `longest`,   (q / q_r)^(-2 - 2 H) up to the cut-off,   0 beyond,

    scaled to the rms slope. What is given is how near the planes are: on a periodic surface the mean gap, which bodies
    keep as they deform (the kernel has mean 0); pressures have the size of E* times the slope.
    """
    k, spacing, _ = _cells(n, 1.0)
    heights = _draw_heights(k, seed, hurst, 1.0 / longest, 1.0 / (shortest * spacing), rms_slope)
    shape = (k, k)
    kernel = half_space_kernel(shape, spacing) if boundary == "free" else periodic_half_space_kernel(shape, spacing)
    return Example(LCP(ConvolutionOperator(kernel, shape, boundary), gap * heights.std() - heights.reshape(-1)))


def _cells(n: int, side: float) -> tuple[int, float, NDArray[Any]]:
    """Cells along a side, the side of one, and their middles."""
    k = max(1, round(math.sqrt(n)))
    spacing = side / k
    return k, spacing, spacing * (np.arange(k) + 0.5)


def _draw_heights(
    k: int, seed: int, hurst: float, roll_off: float, cut_off: float, slope: float
) -> NDArray[np.float64]:
    """Periodic heights with mean zero: white noise, each wave weighted by the root of the spectrum."""
    along = np.fft.fftfreq(k, 1.0 / k)
    frequency = np.hypot(along[:, None], np.fft.rfftfreq(k, 1.0 / k)[None, :])
    amplitude = np.maximum(frequency / roll_off, 1.0) ** (-1.0 - hurst)
    amplitude[(frequency > cut_off) | (frequency == 0.0)] = 0.0
    waves = amplitude * np.fft.rfft2(np.random.default_rng(seed).standard_normal((k, k)))
    heights = np.fft.irfft2(waves, (k, k))
    steepness = 2.0 * np.pi * frequency * np.abs(waves)
    weight = np.full(steepness.shape[1], 2.0)
    weight[0] = 1.0
    if k % 2 == 0:
        weight[-1] = 1.0
    rms = math.sqrt(float((weight * steepness**2).sum())) / k**2  # Parseval
    return heights * (slope / rms) if rms > 0.0 else heights
