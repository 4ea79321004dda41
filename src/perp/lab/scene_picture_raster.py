"""Triangles to pixels: which of them is nearest at each, whatever order they come in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PIECE = 1 << 20
"""About so many pixels are worked on at a time."""

NOTHING = -1


def find_nearest(corner: Floats, depth: Floats, width: int, height: int) -> Integers:
    """height x width numbers of the triangles nearest to the viewer, `NOTHING` where there is none.

    `corner` has T x 3 x 2 pixel coordinates, of which (0, 0) is the corner of the first pixel; `depth` has T x 3
    numbers, the larger the nearer.
    """
    nearest = np.full(height * width, -np.inf)
    number = np.full(height * width, NOTHING, dtype=np.int64)
    flat = linear_over(corner, depth[:, :, None])[:, :, 0]
    for triangle, x, y in _pixels(corner, width, height):
        z = flat[triangle, 0] + flat[triangle, 1] * (x + 0.5) + flat[triangle, 2] * (y + 0.5)
        place = y * width + x
        np.maximum.at(nearest, place, z)
        wins = z == nearest[place]
        number[place[wins]] = triangle[wins]
    return number.reshape(height, width)


def find_covered(corner: Floats, width: int, height: int) -> NDArray[np.bool_]:
    """height x width: whether any triangle is there."""
    covered = np.zeros(height * width, dtype=np.bool_)
    for _, x, y in _pixels(corner, width, height):
        covered[y * width + x] = True
    return covered.reshape(height, width)


def linear_over(corner: Floats, values: Floats) -> Floats:
    """T x 3 x k coefficients (c, cx, cy) of the functions c + cx x + cy y with these T x 3 x k values at the corners.

    Triangles without an area get the mean of their values.
    """
    (x0, y0), (x1, y1), (x2, y2) = corner.transpose(1, 2, 0)
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    with np.errstate(all="ignore"):
        share = np.where(area == 0.0, 0.0, 1.0 / area)
    first, second = values[:, 1] - values[:, 0], values[:, 2] - values[:, 0]
    along_x = share[:, None] * (first * (y2 - y0)[:, None] - second * (y1 - y0)[:, None])
    along_y = share[:, None] * (second * (x1 - x0)[:, None] - first * (x2 - x0)[:, None])
    constant = values[:, 0] - along_x * x0[:, None] - along_y * y0[:, None]
    return np.stack([np.where(area[:, None] == 0.0, values.mean(axis=1), constant), along_x, along_y], axis=1)


def _pixels(corner: Floats, width: int, height: int) -> Iterator[tuple[Integers, Integers, Integers]]:
    """(triangle, x, y) of every pixel whose centre lies in a triangle, in pieces.

    Row by row: the sides that a row of centres crosses are found, and the pixels between them listed. A centre that
    lies on a side shared by two triangles belongs to one of them.
    """
    y = corner[:, :, 1]
    first = np.ceil(np.clip(y.min(axis=1), 0.0, height) - 0.5).astype(np.int64)
    last = np.ceil(np.clip(y.max(axis=1), 0.0, height) - 0.5).astype(np.int64)
    rows = np.maximum(last - first, 0)
    for some in _parts(rows):
        triangle, row = _spread(np.arange(some.start, some.stop), first[some], rows[some])
        left, right = _crossings(corner[triangle], row + 0.5)
        start = np.ceil(np.clip(left, 0.0, width) - 0.5).astype(np.int64)
        count = np.maximum(np.ceil(np.clip(right, 0.0, width) - 0.5).astype(np.int64) - start, 0)
        for part in _parts(count):
            line, x = _spread(np.arange(part.start, part.stop), start[part], count[part])
            yield triangle[line], x, row[line]


def _crossings(corner: Floats, y: NDArray[np.floating]) -> tuple[Floats, Floats]:
    """Where horizontal lines enter and leave their triangles; (inf, -inf) where they do not meet."""
    left, right = np.full(len(y), np.inf), np.full(len(y), -np.inf)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        (xa, ya), (xb, yb) = corner[:, a].T, corner[:, b].T
        meets = (ya <= y) != (yb <= y)
        with np.errstate(all="ignore"):
            x = xa + (y - ya) * (xb - xa) / (yb - ya)
        left, right = np.where(meets, np.minimum(left, x), left), np.where(meets, np.maximum(right, x), right)
    return left, right


def _spread(owner: Integers, start: Integers, count: Integers) -> tuple[Integers, Integers]:
    """Each owner as often as it counts, beside start, start + 1, ..."""
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    steps = np.arange(total) - np.repeat(ends - count, count)
    return np.repeat(owner, count), np.repeat(start, count) + steps


def _parts(count: Integers) -> Iterator[slice]:
    """Runs of entries that count about `PIECE` together."""
    ends = np.cumsum(count)
    begin = 0
    while begin < len(count):
        used = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, used + PIECE, side="right")))
        yield slice(begin, end)
        begin = end
