"""The elastic half-space under pressure on square cells: how far the surface sinks at a cell, one pressed elsewhere.

Pressure p in a body with the contact modulus E*, 1 / E* = (1 - nu1^2) / E1 + (1 - nu2^2) / E2, lets the surface sink by

    u(x) = 1 / (pi E*)  integral of  p(x') / |x - x'|  dx'                               (Boussinesq; Johnson 1985, 3.2)

so that the gap between two bodies with the gap h before they deform is y = A p + h, and 0 <= p ⊥ y >= 0 is contact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem
from perp.problems.inputs import NumberLike, PerRow, as_vector, freeze, require_count, require_number

Kernel = NDArray[np.float64]


def half_space_kernel(shape: Sequence[int], spacing: PerRow = 1.0, modulus: NumberLike = 1.0) -> Kernel:
    """kernel[d] of a half-space with a free boundary: the sinking at the centre of a cell, d cells from a pressed one.

    Uniform pressure 1 on the rectangle |x| < a, |y| < b sinks the surface by

        u(x, y) = (F(x+a, y+b) - F(x+a, y-b) - F(x-a, y+b) + F(x-a, y-b)) / (pi E*),
        F(s, t) = s asinh(t / |s|) + t asinh(s / |t|)                              (Love 1929; Johnson 1985, eq. 3.25)

    `spacing` is the side of a cell, or the two sides; `modulus` is E*. Offsets run from -(n-1) to n-1 along each axis
    as `ConvolutionOperator` wants them, 2n-1 in all:

        problem = LCP(ConvolutionOperator(half_space_kernel(shape, spacing, modulus), shape, "free"), gap)
    """
    sizes, sides = _read_cells(shape, spacing, modulus)
    (x, a), (y, b) = ((np.arange(size) * side, 0.5 * side) for size, side in zip(sizes, sides, strict=True))
    edges = [(sign, s[:, None], t[None, :]) for sign, s, t in (
        (1.0, x + a, y + b), (-1.0, x + a, y - b), (-1.0, x - a, y + b), (1.0, x - a, y - b)
    )]  # fmt: skip
    quadrant = sum(sign * (s * np.arcsinh(t / np.abs(s)) + t * np.arcsinh(s / np.abs(t))) for sign, s, t in edges)
    return freeze(_mirror(np.asarray(quadrant) / (np.pi * float(modulus))))


def periodic_half_space_kernel(
    shape: Sequence[int], spacing: PerRow = 1.0, modulus: NumberLike = 1.0, *, mean: NumberLike = 0.0
) -> Kernel:
    """kernel[d] of a half-space whose pressure repeats itself beyond the grid, from its Fourier transform

        u(q) = 2 / (E* |q|) p(q),        u(0) = `mean` p(0)                       (Westergaard 1939; Johnson 1985, 13.2)

    An even pressure all over sinks an infinite half-space without end. `mean` says what becomes of it instead: with 0
    the gap keeps the mean that it had before bodies deform, which then says how near they are.
    """
    sizes, sides = _read_cells(shape, spacing, modulus)
    require_number(mean, "mean")
    waves = [2.0 * np.pi * np.fft.fftfreq(size, side) for size, side in zip(sizes, sides, strict=True)]
    length = np.hypot(waves[0][:, None], waves[1][None, :])
    length.flat[0] = np.inf
    symbol = 2.0 / (float(modulus) * length)
    symbol.flat[0] = mean
    kernel = np.fft.ifft2(symbol).real
    return freeze(_mirror(kernel[: sizes[0] // 2 + 1, : sizes[1] // 2 + 1], sizes))


def _read_cells(shape: Sequence[int], spacing: PerRow, modulus: NumberLike) -> tuple[tuple[int, int], Kernel]:
    if np.ndim(shape) != 1 or len(shape) != 2:
        raise InvalidProblem(f"shape is {shape!r}; the surface of a half-space has two axes, for example (64, 64)")
    for axis, size in enumerate(shape):
        require_count(size, f"shape[{axis}]", least=1)
    sides = as_vector(np.full(2, spacing) if np.ndim(spacing) == 0 else spacing, "spacing", 2)
    for axis, side in enumerate(sides.tolist()):
        require_number(side, f"spacing[{axis}]", positive=True)
    require_number(modulus, "modulus", positive=True)
    return (int(shape[0]), int(shape[1])), sides


def _mirror(quadrant: Kernel, sizes: Sequence[int] | None = None) -> Kernel:
    """kernel[d] = kernel[-d], to the last bit, from the offsets that are not negative; `sizes` for a periodic one."""
    for axis, have in enumerate(quadrant.shape):
        size = 2 * have - 1 if sizes is None else sizes[axis]
        place = np.arange(size)
        quadrant = np.take(quadrant, np.minimum(place, size - place), axis=axis)
    return quadrant
