"""Problems and operators, as a strict checker of types reads what a user writes: `make check` runs basedpyright here.

These files are read, not run, so that nothing in them needs to make sense as a computation. `assert_type` asks for the
very type: Any in its place is an error.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from __future__ import annotations

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import perp

Vector = NDArray[np.float64]

array: Vector = np.eye(3)
vector: Vector = np.ones(3)
bodies: NDArray[np.int64] = np.array([[0, 1], [1, -1]])


class Sparse:
    """What matters of a sparse array of SciPy, which has no types of its own."""

    shape: tuple[int, int] = (3, 3)

    def tocsr(self, copy: bool = False) -> Sparse:
        return self


class Product:
    """What matters of a LinearOperator of SciPy."""

    shape: tuple[int, int] = (3, 3)
    dtype: np.dtype[np.float64] = np.dtype(np.float64)

    def matvec(self, x: Vector) -> Vector:
        return x


class Table:
    """What NumPy makes an array of, such as a table of pandas."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vector:
        return array


def plain() -> list[perp.LCP]:
    return [
        perp.LCP([[4, -1], [-1, 4]], [-3, 2]),
        perp.LCP([[4.0, -1.0], [-1.0, 4.0]], (-3.0, 2.0)),
        perp.LCP([vector, vector, vector], [np.float32(1), np.float32(2)]),
        perp.LCP(array.astype(np.float32), vector.astype(np.float32)),
        perp.LCP(np.eye(3, dtype=np.int64), range(3)),
        perp.LCP(Sparse(), vector),
        perp.LCP(Product(), vector),
        perp.LCP(Table(), Table()),
        perp.LCP(perp.DenseOperator(array), vector),
    ]


def boxed() -> list[perp.BoxLCP]:
    box = perp.BoxLCP(array, vector, 0, np.inf)
    assert_type(box.lower, Vector)
    assert_type(box.upper, Vector)
    assert_type(box.to_lcp().problem, perp.LCP)
    assert_type(box.to_lcp().recover(vector), Vector)
    return [
        box,
        perp.BoxLCP(array, vector, -vector, [1.0, 2.0, 3.0]),
        perp.BoxLCP(array, vector, np.float32(0), vector),
    ]


def contacts() -> perp.ContactProblem:
    problem = perp.ContactProblem(array, vector, 0.5, "cone", dimension=3)
    several = perp.ContactProblem(array, vector, [0.5], extra_rows=0, lower=-vector, upper=1.0)
    assert_type(several.friction, Vector)
    assert_type(several.model, str)
    assert_type(several.contacts, int)
    assert_type(several.normal_rows, NDArray[np.intp])
    assert_type(problem.with_model("disc", radii=2.0), perp.ContactProblem)
    assert_type(problem.with_model("box", friction=vector), perp.ContactProblem)
    return problem


def questions(problem: perp.LCP) -> None:
    assert_type(problem.A, perp.Operator)
    assert_type(problem.b, Vector)
    assert_type(problem.n, int)
    assert_type(problem.kind, str)
    assert_type(problem.bounds(vector), tuple[Vector, Vector])
    assert_type(problem.project(vector), Vector)
    assert_type(problem.slack(vector), Vector)
    assert_type(problem.diagonal, Vector | None)
    assert_type(problem.is_symmetric, bool | None)
    assert_type(problem.to_box(), perp.BoxLCP)
    info = problem.info()
    assert_type(info.density, float | None)
    assert_type(info.positive_definite, bool | None)


def operators() -> list[perp.Operator]:
    masses = perp.BodyMasses([1.0, 2.0], np.stack([array, array]))
    planar = perp.PlanarMasses(vector, [1.0, 2.0, 3.0])
    assert_type(masses.mass, Vector)
    assert_type(masses.inertia, NDArray[np.float64])
    assert_type(masses.turned([array, array]), perp.BodyMasses)
    assert_type(planar.dofs, int)
    assert_type(perp.DiagonalMass([1, 2, 3]).solve(vector), NDArray[np.float64])
    assert_type(perp.SparseMass(Sparse()).dofs, int)
    factored = perp.FactoredOperator(Sparse(), masses, compliance=1e-6)
    assert_type(factored.compliance, Vector)
    assert_type(factored.velocity(vector), Vector)
    assert_type(factored.relative_velocity(vector), Vector)
    assert_type(factored.with_compliance(vector), perp.FactoredOperator)
    pairs = perp.FactoredOperator.from_body_pairs(bodies, np.zeros((2, 2, 6)), masses)
    surface = perp.ConvolutionOperator(perp.half_space_kernel((3, 3), 0.1), (3, 3), "free", added=1.0)
    assert_type(perp.periodic_half_space_kernel([3, 3], [0.1, 0.2], mean=1), NDArray[np.float64])
    assert_type(surface.norm_bound(), float)
    assert_type(surface.grid, tuple[int, ...])
    grid = perp.StencilOperator((3, 3), 4.0, couplings=[array, array])
    assert_type(grid.grid, tuple[int, ...])
    return [
        perp.DenseOperator([[1.0, 0.0], [0.0, 1.0]]),
        perp.SparseOperator(Sparse()),
        perp.MatrixFreeOperator(Product(), diagonal=vector),
        factored,
        pairs,
        grid,
        perp.FactoredOperator(array, perp.DiagonalMass(vector)),
        perp.FactoredOperator(array, perp.SparseMass(array)),
        perp.FactoredOperator.from_body_pairs([[0, 1], [1, -1]], np.zeros((2, 2, 3)), planar, vector),
        perp.StencilOperator([4], np.ones(4), -1),
    ]


def what_operators_can(operator: perp.Operator) -> None:
    assert_type(operator.n, int)
    assert_type(operator.shape, tuple[int, int])
    assert_type(operator.apply(vector), Vector)
    assert_type(operator @ vector, Vector)
    assert_type(operator.diagonal(), Vector)
    assert_type(operator.to_dense(), Vector)
    assert_type(operator.row(0)[1], Vector)
    assert_type(operator.nonzeros(), int | None)
    assert_type(operator.asymmetry, float | None)
    assert_type(operator.ability_set, frozenset[str])
    assert_type(np.asarray(operator), NDArray[np.float64])


def mistakes() -> None:
    """What a checker of types should find before the program runs; an `ignore` too many is an error as well."""
    perp.LCP("A", vector)  # pyright: ignore[reportArgumentType]
    perp.LCP(array, None)  # pyright: ignore[reportArgumentType]
    perp.LCP(array, 1.0)  # pyright: ignore[reportArgumentType]
    perp.BoxLCP(array, vector, None, 1.0)  # pyright: ignore[reportArgumentType]
    perp.ContactProblem(array, vector, "0.5")  # pyright: ignore[reportArgumentType]
    perp.ContactProblem(array, vector, 0.5, dimension="3")  # pyright: ignore[reportArgumentType]
