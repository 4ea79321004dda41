"""Problems of every kind and form for the tests of files, and what it means that two of them are the same."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from perp import (
    LCP,
    BodyMasses,
    BoxLCP,
    ContactProblem,
    ConvolutionOperator,
    DiagonalMass,
    FactoredOperator,
    MatrixFreeOperator,
    SparseMass,
    StencilOperator,
)
from perp.errors import FileFormatError
from perp.problems.files import load
from perp.problems.operators import PlanarMasses

ROWS = 6
"""Of every operator here: two contacts in three dimensions, three in two."""


def make_operators():
    rng = np.random.default_rng(5)
    dense = rng.standard_normal((ROWS, ROWS))
    dense[0, 1], dense[2, 3], dense[4, 4] = -0.0, 5e-324, 1.7976931348623157e308
    spotted = sparse.random_array((ROWS, ROWS), density=0.4, rng=rng, format="csr")
    wide = sparse.csr_array(spotted)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    bodies = BodyMasses([2.0, np.inf, 0.3], [np.diag([1.0, 2.0, 3.0]), np.zeros((3, 3)), np.eye(3) / 7])
    two = np.array([[0, -1], [1, 2], [2, 0], [-1, 1], [0, 2], [-1, -1]])
    three_bodies = rng.standard_normal((ROWS, 18))
    discs = PlanarMasses([2.0, np.inf, 0.3], [1 / 3, 0.0, 7.0])
    J = sparse.random_array((ROWS, 4), density=0.6, rng=rng, format="csr")
    M = sparse.csr_array([[3.0, 1, 0, 0], [1, 4, 0.1, 0], [0, 0.1, 5, 0], [0, 0, 0, 1 / 3]])
    compliance = np.linspace(0.0, 0.1, ROWS)
    return {
        "dense": dense,
        "sparse": spotted,
        "sparse_64_bit": wide,
        "body_pairs": FactoredOperator.from_body_pairs(two, rng.standard_normal((ROWS, 2, 6)), bodies, compliance),
        "body_rows": FactoredOperator(three_bodies, bodies),
        "planar_pairs": FactoredOperator.from_body_pairs(two, rng.standard_normal((ROWS, 2, 3)), discs, compliance),
        "planar_rows": FactoredOperator(rng.standard_normal((ROWS, 9)), discs),
        "diagonal_mass": FactoredOperator(J, DiagonalMass([1.0, np.inf, 1 / 3, 7.0]), compliance),
        "sparse_mass": FactoredOperator(J, SparseMass(M), 0.25),
        "stencil": StencilOperator((3, 2), rng.uniform(3.0, 4.0, (3, 2)), (-1.0, -1 / 3)),
        "convolution": ConvolutionOperator(rng.standard_normal((3, 2)), (3, 2)),
        "convolution_free": ConvolutionOperator(rng.random((5, 3)), (3, 2), "free", added=rng.random(6)),
        "stencil_faces": StencilOperator((3, 2), 4.0, (-rng.random((2, 2)), -rng.random((3, 1)))),
    }


def make_problems():
    """Every form of A with every kind of problem."""
    b = np.random.default_rng(6).standard_normal(ROWS)
    b[0] = -0.0
    lower, upper = np.array([-np.inf, 0, -1, -np.inf, 2, 0]), np.array([np.inf, np.inf, 1, 3, 2, 1 / 3])
    problems = {}
    for form, A in make_operators().items():
        problems |= {
            f"{form}-lcp": LCP(A, b),
            f"{form}-box": BoxLCP(A, b, lower, upper),
            f"{form}-contact_box": ContactProblem(A, b, [0.3], model="box", lower=lower[3:], upper=upper[3:]),
            f"{form}-contact_cone": ContactProblem(A, b, [0.3, 1 / 3], model="cone"),
            f"{form}-contact_convex": ContactProblem(A, b, [0.3, 1 / 3], model="convex"),
            f"{form}-contact_disc": ContactProblem(A, b, [0.3, 1 / 3], model="disc"),
            f"{form}-contact_flat": ContactProblem(A, b, 0.5, model="cone", dimension=2),
        }
    return problems | {"empty-lcp": LCP(np.empty((0, 0)), []), "empty-sparse": LCP(sparse.csr_array((0, 0)), [])}


def make_matrix_free():
    return LCP(MatrixFreeOperator(LinearOperator((2, 2), matvec=lambda x: x, dtype=float)), [1.0, 2.0])


def make_small():
    """The problem that hostile files are made of."""
    return BoxLCP(np.array([[2.0, 1.0], [0.5, 3.0]]), [-1.0, 1.5], [0.0, -np.inf], [np.inf, 4.0])


def assert_same_bits(first, second):
    first, second = np.asarray(first), np.asarray(second)
    assert first.dtype == second.dtype
    assert first.shape == second.shape
    assert first.tobytes() == second.tobytes()


def assert_same_csr(first, second):
    assert first.shape == second.shape
    for part in ("data", "indices", "indptr"):
        assert_same_bits(getattr(first, part), getattr(second, part))


def assert_same_statement(first, second):
    """The same kind of problem with the same vectors; says nothing of A."""
    assert type(first) is type(second)
    assert first.kind == second.kind
    assert_same_bits(first.b, second.b)
    assert_same_bits(first.lower, second.lower)
    assert_same_bits(first.upper, second.upper)
    if isinstance(first, ContactProblem):
        assert first.dimension == second.dimension
        assert_same_bits(first.friction, second.friction)


def assert_same_operator(first, second):
    assert type(first) is type(second)
    if first.form == "dense":
        assert_same_bits(first.matrix, second.matrix)
    elif first.form == "sparse":
        assert_same_csr(first.matrix, second.matrix)
    elif first.form == "stencil":
        assert first.grid == second.grid
        assert_same_bits(first.centre, second.centre)
        assert_same_bits(first.couplings, second.couplings)
    elif first.form == "convolution":
        assert (first.grid, first.boundary) == (second.grid, second.boundary)
        assert_same_bits(first.kernel, second.kernel)
        assert_same_bits(first.added, second.added)
    else:
        assert_same_mass(first.mass, second.mass)
        assert_same_bits(first.compliance, second.compliance)
        assert type(first.paired) is type(second.paired)
        if first.paired is None:
            assert_same_csr(first.J, second.J)
        else:
            for part in ("bodies", "jacobian", "inverse_mass"):
                assert_same_bits(getattr(first.paired, part), getattr(second.paired, part))


def assert_same_mass(first, second):
    assert type(first) is type(second)
    if isinstance(first, BodyMasses):
        assert_same_bits(first.mass, second.mass)
        assert_same_bits(first.inertia, second.inertia)
        assert_same_bits(first.inverse_blocks, second.inverse_blocks)
    elif isinstance(first, PlanarMasses):
        assert_same_bits(first.mass, second.mass)
        assert_same_bits(first.inertia, second.inertia)
    elif isinstance(first, DiagonalMass):
        assert_same_bits(first.m, second.m)
    else:
        assert_same_csr(first.matrix, second.matrix)


def assert_refused(path, match, **options):
    """Loading gives exactly one FileFormatError that names the file, or the sibling of it that is at fault."""
    with pytest.raises(FileFormatError, match=match) as caught:
        load(path, **options)
    assert str(path.parent / path.stem) in str(caught.value)
