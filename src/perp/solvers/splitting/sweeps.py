"""Sweeps over whatever form A has: each class binds one storage to its compiled kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.operators import DenseOperator, FactoredOperator
from perp.problems.operators.sparse import SparseOperator, unsigned_parts
from perp.problems.problem import Problem
from perp.problems.residuals import has_discs
from perp.solvers.splitting.orders import Index, Sweeper


def make_sweeper(problem: Problem, relaxation: float, x: Vector) -> Sweeper:
    """The sweeper for the form of A. Its sweeps change x in place."""
    if isinstance(problem.A, DenseOperator):
        return DenseSweeper(problem, relaxation, x)
    if isinstance(problem.A, FactoredOperator):
        if problem.A.pairs is None:
            return FactoredSweeper(problem, relaxation, x)
        if isinstance(problem, ContactProblem) and not _has_rigid_contacts(problem, problem.A):
            return FactoredSweeper(problem, relaxation, x)
        return BodyPairSweeper(problem, relaxation, x)
    return SparseSweeper(problem, relaxation, x)


def steps(problem: Problem, relaxation: float) -> Vector:
    """relaxation / A_ii, and for the two tangents of a disc relaxation over the larger eigenvalue of their block."""
    assert problem.diagonal is not None
    stiffness = problem.diagonal.copy()
    if isinstance(problem, ContactProblem) and has_discs(problem):
        tangents = problem.A.diagonal_blocks(3, problem.contacts)[:, 1:, 1:]
        symmetric = 0.5 * (tangents + tangents.transpose(0, 2, 1))
        largest = np.linalg.eigvalsh(symmetric)[:, 1]
        stiffness[problem.normal_rows + 1] = largest
        stiffness[problem.normal_rows + 2] = largest
    return relaxation / stiffness


class _Bound:
    """What every sweeper holds: the problem's vectors, and for contacts their friction and shape."""

    def __init__(self, problem: Problem, relaxation: float, x: Vector) -> None:
        self.step = steps(problem, relaxation)
        self.b, self.x = problem.b, x
        self.contact: tuple[Any, ...] | None = None
        if isinstance(problem, ContactProblem):
            self.contact = (np.uint64(problem.dimension), has_discs(problem), problem.friction)
            self.lower, self.upper = problem.lower, problem.upper
        else:
            self.lower, self.upper = problem.bounds(x)


class DenseSweeper(_Bound):
    def __init__(self, problem: Problem, relaxation: float, x: Vector) -> None:
        super().__init__(problem, relaxation, x)
        from perp.kernels import dense

        assert isinstance(problem.A, DenseOperator)
        self.kernels = dense
        self.arrays = (problem.A.flat, self.step, self.b, self.lower, self.upper, x)

    def sweep(self, count: int, contacts: Index, rows: Index, rows_first: bool) -> None:
        if self.contact is None:
            self.kernels.sweep_rows(count, np.uint64(0), rows, *self.arrays)
        else:
            self.kernels.sweep_contacts(count, contacts, rows, rows_first, *self.contact, *self.arrays)


class SparseSweeper(_Bound):
    """Compressed rows; a stencil is swept through its compressed rows, too."""

    def __init__(self, problem: Problem, relaxation: float, x: Vector) -> None:
        super().__init__(problem, relaxation, x)
        from perp.kernels import csr

        self.kernels = csr
        A = problem.A if isinstance(problem.A, SparseOperator) else SparseOperator(problem.A.to_sparse())
        self.arrays = (A.pointers, A.indices, A.values, self.step, self.b, self.lower, self.upper, x)

    def sweep(self, count: int, contacts: Index, rows: Index, rows_first: bool) -> None:
        if self.contact is None:
            self.kernels.sweep_rows(count, np.uint64(0), rows, *self.arrays)
        else:
            self.kernels.sweep_contacts(count, contacts, rows, rows_first, *self.contact, *self.arrays)


class FactoredSweeper(_Bound):
    """J and W = J M^-1 in compressed rows, with the velocity v = W^T x kept up to date."""

    def __init__(self, problem: Problem, relaxation: float, x: Vector) -> None:
        super().__init__(problem, relaxation, x)
        from perp.kernels import factored

        assert isinstance(problem.A, FactoredOperator)
        self.kernels = factored
        J, W = unsigned_parts(problem.A.J), unsigned_parts(problem.A.scaled_rows)
        velocity = np.zeros(problem.A.mass.dofs)
        factored.velocity(*W, x, velocity)
        self.arrays = (*J, *W, problem.A.compliance, self.step, self.b, self.lower, self.upper, x, velocity)

    def sweep(self, count: int, contacts: Index, rows: Index, rows_first: bool) -> None:
        if self.contact is None:
            self.kernels.sweep_rows(count, np.uint64(0), rows, *self.arrays)
        else:
            self.kernels.sweep_contacts(count, contacts, rows, rows_first, *self.contact, *self.arrays)


class BodyPairSweeper(_Bound):
    """Two rigid bodies a row. Contacts apply M^-1 on the fly; other rows read a scaled copy of their part of J."""

    def __init__(self, problem: Problem, relaxation: float, x: Vector) -> None:
        super().__init__(problem, relaxation, x)
        from perp.kernels import body_pairs

        assert isinstance(problem.A, FactoredOperator)
        assert problem.A.pairs is not None
        self.kernels = body_pairs
        pairs, compliance = problem.A.pairs, problem.A.compliance
        velocity = np.empty(6 * (pairs.body_count + 1))
        body_pairs.velocity(pairs.bodies, pairs.jacobian, pairs.inverse_mass, x, velocity)
        tail = (compliance, self.step, self.b, self.lower, self.upper, x, velocity)
        if isinstance(problem, ContactProblem):
            scaled, _ = pairs.scaled(first=problem.contact_rows)
            blocks = problem.A.diagonal_blocks(3, problem.contacts)
            coupling = np.stack([blocks[:, 0, 1], blocks[:, 0, 2], blocks[:, 1, 2]], axis=1).reshape(-1)
            masses = (pairs.inverse_mass, coupling, scaled)
            self.contact = (has_discs(problem), problem.friction)
            self.arrays: tuple[Any, ...] = (pairs.bodies, pairs.jacobian, *masses, *tail)
        else:
            self.arrays = (pairs.bodies, pairs.jacobian, pairs.scaled()[0], *tail)

    def sweep(self, count: int, contacts: Index, rows: Index, rows_first: bool) -> None:
        if self.contact is None:
            self.kernels.sweep_rows(count, np.uint64(0), rows, *self.arrays)
        else:
            self.kernels.sweep_contacts(count, contacts, rows, rows_first, *self.contact, *self.arrays)


def _has_rigid_contacts(problem: ContactProblem, A: FactoredOperator) -> bool:
    """Whether each contact has three rows on one pair of bodies, as the contact kernel assumes."""
    assert A.pairs is not None
    return problem.dimension == 3 and A.pairs.has_common_bodies(3, problem.contacts)
