"""What is cheap to learn of a problem before a method is chosen for it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from perp.problems.operators.base import TO_SPARSE
from perp.problems.problem import Problem

DOMINANCE = 1.0 - 1e-12
"""A diagonal entry outweighs the others where it is at least this share of their sum: rounding is no objection."""

DENSE_SHARE = 0.25
"""With more nonzeros than this share a sparse A counts as full."""


@dataclass(frozen=True)
class Features:
    """The facts that the rules of "auto" speak of; those that cost more than a look are found when asked for."""

    problem: Problem
    kind: str
    n: int
    form: str
    """dense, sparse, factored, stencil, convolution, matrix-free."""
    is_warm: bool
    """Whether the caller gave a point to start from."""
    tol: float

    @staticmethod
    def of(problem: Problem, *, is_warm: bool = False, tol: float = 1e-8) -> Features:
        return Features(problem, problem.kind, problem.n, problem.A.form, is_warm, tol)

    @property
    def has_contacts(self) -> bool:
        return self.kind.startswith("contact/")

    @property
    def is_wide(self) -> bool:
        """Whether these are contacts whose rows have coefficients of their own, as for torsion and rolling."""
        return self.kind.startswith("wide/")

    @property
    def is_planar(self) -> bool:
        """Whether these are contacts in a plane, boxes and cones alike."""
        problem = self.problem
        contacts = problem.frictional
        return contacts is not None and contacts.dimension == 2 and contacts.model in ("box", "cone")

    @property
    def is_formed(self) -> bool:
        """Whether A can be written down; otherwise it is a product that somebody computes."""
        return TO_SPARSE in self.problem.A.ability_set

    @cached_property
    def is_symmetric(self) -> bool:
        return bool(self.problem.is_symmetric)

    @cached_property
    def nonzeros(self) -> int | None:
        return self.problem.A.nonzeros()

    @cached_property
    def is_full(self) -> bool:
        """Whether a sparse factor would be no better than a dense one."""
        if self.problem.A.is_dense:
            return True
        nonzeros = self.nonzeros
        return nonzeros is not None and nonzeros > DENSE_SHARE * self.n**2

    @cached_property
    def has_positive_diagonal(self) -> bool:
        """Whether all A_ii are known to be positive."""
        diagonal = self.problem.diagonal
        return diagonal is not None and bool((diagonal > 0.0).all())

    @cached_property
    def knows_diagonal(self) -> bool:
        return self.problem.diagonal is not None

    @property
    def has_rough_inverse(self) -> bool:
        """Whether A knows an inverse of itself that is good enough for a preconditioner."""
        return self.problem.A.rough_inverse() is not None

    @cached_property
    def is_monotone(self) -> bool:
        """Whether A is symmetric with no positive coupling and a positive diagonal, as matrices of diffusion are."""
        if not self.is_symmetric or not self.has_positive_diagonal:
            return False
        return self.problem.A.has_positive_coupling() is False

    @cached_property
    def is_dominant(self) -> bool:
        """Whether A is sparse and A_ii > 0 outweighs the other entries of every row together."""
        matrix: Any = self.problem.A.stored
        if matrix is None or self.problem.A.is_dense or not self.has_positive_diagonal:
            return False
        diagonal = self.problem.diagonal
        assert diagonal is not None
        sums = np.add.reduceat(np.abs(matrix.data), matrix.indptr[:-1]) if matrix.nnz else np.zeros(self.n)
        return bool((diagonal >= DOMINANCE * (sums - diagonal)).all())  # no row is empty: its diagonal is positive

    @cached_property
    def is_grid(self) -> bool:
        """Whether A is a monotone stencil that grids of half as many cells can stand for: up to three axes."""
        A = self.problem.A.stencil
        return A is not None and A.has_kernels and A.n > 0 and self.is_monotone

    def __str__(self) -> str:
        """The facts, and of those that cost more than a look the ones that some rule asked for."""
        known = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "problem"}
        known |= {name: value for name, value in vars(self).items() if name not in known and name != "problem"}
        return ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in known.items())
