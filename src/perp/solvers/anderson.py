"""Anderson's acceleration of a fixed point iteration z <- T(z), safeguarded (Anderson 1965; Walker & Ni 2011).

With residuals f_k = T(z_k) - z_k and differences dZ = (z_k - z_{k-1}, ...), dF = (f_k - f_{k-1}, ...), an accelerated
step is (type II; Walker & Ni 2011, section 2)

    z_{k+1} = z_k + damping f_k - (dZ + damping dF) c,        c = argmin |f_k - dF c|,

so that on an affine T the steps are those of GMRES, and for one unknown those of the secant method. T need not be
smooth, nor a contraction; so nothing is taken on trust. There are two forms of it:

* `Anderson` for iterations that are whole solves (`staggering`): a QR factorisation of dF, and care with each step;
* `Memory` for iterations that cost a few sweeps (`admm`; Fu, Zhang & Boyd 2020): differences are kept in place, and
  mixed by kernels through normal equations, in a metric that changes with the penalties.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np

from perp.kernels.gradient import first_order as kernels
from perp.problems.inputs import Vector

DEPENDENT = 1e-10
"""A difference that keeps less than this share of its length beside newer ones tells nothing new."""

PROMISE = 0.5
"""An accelerated step must promise to leave at most this share of the residual: |f - dF c| <= PROMISE |f|."""

STRAIGHT = 0.9
"""Two residuals that enclose an angle with a greater cosine point the same way."""

STRETCH, SHORTER = 2.0, 8.0
"""A step along residuals that keep their direction is so many times longer than the last; or shorter, if rejected."""

GROWTH = 1.5
"""A point that was not found by a plain step is rejected where it multiplies the residual by more than this."""

TRIES, RESTS = 30, 60
"""So many points without a new least residual may be accelerated ones, the next ones are plain, and so on by turns."""

REGULARISATION = 1e-10
"""Added to the normal equations, as a share of their trace."""

MOST_GROWTH = 10.0
"""A plain step may be so many times as long as the shortest since the memory was last empty."""


@dataclass
class Anderson:
    """For iterations that are whole solves.

    `propose(z, f)` takes a point with its residual f = T(z) - z and says where to go next.

    With `memory=0` that is z + damping f, always. Otherwise differences of that many steps are kept, and an accelerated
    step is taken where they explain the residual. Where they do not, because T only drifts, z -> z + constant, up to
    its next kink, the step goes along f, twice as far each time that f keeps its direction. Both are on probation: a
    point with a residual 1.5 times that of the point before it, in the norm |weight f|, is rejected, the memory is
    forgotten, and a plain step goes on from the point before it. That costs one evaluation of T. And where none of
    this has found a smaller residual for long, plain steps have their turn: kinks may lead acceleration in circles that
    plain steps know nothing of.
    """

    memory: int
    damping: float
    weight: Vector
    restarts: int = 0
    """How many points were rejected."""
    stretch: float = 1.0
    """How many plain steps the last step along f was long."""
    least: float = np.inf
    """The least norm of a residual so far."""
    fruitless: int = 0
    """Points since then."""
    on_probation: bool = False
    points: list[Vector] = field(default_factory=list)
    residuals: list[Vector] = field(default_factory=list)

    def propose(self, z: Vector, f: Vector) -> Vector:
        """The next point; z and f are not changed."""
        if self.memory == 0:
            return z + self.damping * f
        size = norm(self.weight * f)
        if self.on_probation and not size <= GROWTH * norm(self.weight * self.residuals[-1]):
            return self._go_back()
        self._count(size)
        self.points = [*self.points[-self.memory :], z.copy()]
        self.residuals = [*self.residuals[-self.memory :], f.copy()]
        if self.is_resting:
            self.stretch, self.on_probation = 1.0, False
            return z + self.damping * f
        accelerated = self._accelerate(size)
        return self._go_along(size) if accelerated is None else accelerated

    @property
    def is_resting(self) -> bool:
        """Whether acceleration has led nowhere for so long that plain steps have their turn."""
        return self.fruitless % (TRIES + RESTS) >= TRIES

    def _count(self, size: float) -> None:
        self.fruitless = 0 if size < self.least else self.fruitless + 1
        self.least = min(size, self.least)

    def forget(self) -> None:
        """Begin anew from the next point."""
        self.points, self.residuals = [], []
        self.stretch, self.on_probation = 1.0, False

    def _accelerate(self, size: float) -> Vector | None:
        """The accelerated step, or None where it promises too little."""
        z, f = self.points[-1], self.residuals[-1]
        d_f = [new - old for old, new in zip(self.residuals, self.residuals[1:], strict=False)]
        c = least_squares([self.weight * column for column in d_f], self.weight * f)
        left = f - sum((share * column for share, column in zip(c, d_f, strict=True)), np.zeros_like(f))
        if not norm(self.weight * left) <= PROMISE * size:
            return None
        self.stretch, self.on_probation = 1.0, True
        new = z + self.damping * left
        for share, before, after in zip(c, self.points, self.points[1:], strict=False):
            new -= share * (after - before)
        return new

    def _go_along(self, size: float) -> Vector:
        """A step along f, longer than the last one if f has kept its direction, otherwise a plain one."""
        z, f = self.points[-1], self.residuals[-1]
        keeps_direction = False
        if len(self.residuals) > 1:
            before = self.weight * self.residuals[-2]
            keeps_direction = float(np.sum(before * self.weight * f)) > STRAIGHT * norm(before) * size
        self.stretch = STRETCH * self.stretch if keeps_direction else 1.0
        self.on_probation = self.stretch > 1.0
        return z + self.stretch * self.damping * f

    def _go_back(self) -> Vector:
        """A plain step from the point before the one that is rejected."""
        z, f = self.points[-1], self.residuals[-1]
        self.restarts += 1
        self.points, self.residuals = [z], [f]
        self.stretch, self.on_probation = max(self.stretch / SHORTER, 1.0), False
        return z + self.damping * f


@dataclass
class Memory:
    """The last changes of u and T(u), `rows` of them; only plain steps are taken where that is 0.

    With r_k = T(u_k) - u_k the next point is

        u = T(u_k) - sum_j share_j (T(u_{j+1}) - T(u_j)),    share = argmin |r_k - sum_j share_j (r_{j+1} - r_j)|,

    in the metric of the penalties. A point from which the plain step is much longer than the shortest so far is not
    trusted (`distrusts`): the memory is forgotten, and the plain step that it was made of is taken instead.
    """

    rows: int
    last_image: Vector
    """Where the last plain step led, or would have led."""
    last_way: Vector
    images: Vector
    ways: Vector
    gram: Vector
    factor: Vector
    share: Vector
    is_begun: bool = False
    """Whether there is a last point to take differences from."""
    stored: int = 0
    """Differences taken since the memory was empty."""
    shortest: float = inf
    """The square of the shortest plain step since then."""
    is_mixed: bool = False
    """Whether u was last mixed, rather than reached by a plain step."""

    @staticmethod
    def of_size(rows: int, n: int) -> Memory:
        vectors, kept, small = ([np.zeros(size) for _ in range(2)] for size in (n, n * rows, rows * rows))
        return Memory(rows, vectors[0], vectors[1], kept[0], kept[1], small[0], small[1], np.zeros(rows))

    def forget(self) -> None:
        self.is_begun, self.stored, self.shortest, self.is_mixed = False, 0, inf, False

    def distrusts(self, way: float) -> bool:
        """Whether a plain step whose square is `way` shows that the last mixing went wrong."""
        return self.is_mixed and not way <= MOST_GROWTH**2 * self.shortest

    def mix(self, u: Vector, image: Vector, way: float, weight: Vector) -> None:
        """u <- the point to go to from u, whose plain step leads to `image`; `way` is its square."""
        if self.rows == 0:
            np.copyto(u, image)
            return
        self.shortest = min(self.shortest, way)
        if not self.is_begun:
            np.copyto(self.last_image, image)
            np.subtract(image, u, out=self.last_way)
            np.copyto(u, image)
            self.is_begun, self.is_mixed = True, False
            return
        slot, self.stored = np.uint64(self.stored % self.rows), self.stored + 1
        count, rows = np.uint64(min(self.stored, self.rows)), np.uint64(self.rows)
        last, kept = (self.last_image, self.last_way), (self.images, self.ways, self.gram)
        kernels.remember(slot, count, rows, u, image, weight, *last, *kept)
        np.copyto(u, image)
        kernels.mix(count, rows, REGULARISATION, weight, self.last_way, *kept, self.factor, self.share, u)
        self.is_mixed = True

    @staticmethod
    def load_kernels() -> None:
        """Two points of no rows: both kernels."""
        nothing = Memory.of_size(1, 0)
        for _ in range(2):
            nothing.mix(np.empty(0), np.empty(0), 0.0, np.empty(0))


def least_squares(columns: list[Vector], target: Vector) -> Vector:
    """argmin over c of |target - sum c_k columns_k|, by a QR factorisation that begins with the last column.

    A column that hardly differs from a combination of later ones is left out, c_k = 0. Gram and Schmidt's way, with
    NumPy's own sums, whose bits do not depend on the number of threads.
    """
    count = len(columns)
    R, projection, c = np.zeros((count, count)), np.zeros(count), np.zeros(count)
    basis: list[Vector] = []
    kept: list[int] = []
    rest = target.copy()
    for k in reversed(range(count)):
        column, place = columns[k].copy(), len(kept)
        length = norm(column)
        for i, direction in enumerate(basis):
            R[i, place] = np.sum(direction * column)
            column -= R[i, place] * direction
        left = norm(column)
        if not left > DEPENDENT * length:
            continue
        R[place, place] = left
        basis.append(column / left)
        projection[place] = np.sum(basis[-1] * rest)
        rest -= projection[place] * basis[-1]
        kept.append(k)
    for i in reversed(range(len(kept))):
        later = [R[i, j] * c[kept[j]] for j in range(i + 1, len(kept))]
        c[kept[i]] = (projection[i] - sum(later)) / R[i, i]
    return c


def norm(vector: Vector) -> float:
    """The 2-norm by NumPy's own sum: BLAS splits long sums among threads, and the bits then depend on their number."""
    return float(np.sqrt(np.sum(vector * vector)))
