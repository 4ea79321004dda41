"""Modulus sweeps over whatever form A has, on the arrays that `sweeps` binds for projected Gauss-Seidel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from perp.kernels.storages import body_pairs, csr, dense, factored, planar_pairs, runs
from perp.kernels.sweeps import modulus, modulus_body_pairs, planar_modulus
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.splitting.sweeps import Sweeper, make_sweeper, sweep_factored


@dataclass(frozen=True)
class Sight:
    """What the rows after row i see of it in the same sweep: x_i - lag (change of x_i) + lead (change of u_i)."""

    lag: float
    lead: float
    printed: bool = False
    """Whether the box is that of Method 3.2 as printed."""

    @property
    def is_newest(self) -> bool:
        """Whether later rows see the newest x and nothing else: then a kept velocity belongs to x at every moment."""
        return self.lag == 0.0 and self.lead == 0.0


@dataclass(frozen=True)
class ModulusSweeper:
    """A compiled sweep bound to its arrays, and those of them that the method looks after."""

    kernel: Callable[..., None]
    """`kernel(count, keep, drop)`, with memory_i = keep - drop step_i."""
    step: Vector
    u: Vector
    """x before it was clipped: 2 / gamma times the unknown of the paper."""
    refresh: Callable[[], None] | None
    """Computes the velocity anew from x, where one is kept."""
    many: bool
    """Whether one call may make several sweeps."""

    def sweep(self, count: int, keep: float, drop: float) -> None:
        """`count` sweeps; none of them loads the kernel."""
        if self.many or count == 0:
            self.kernel(count, keep, drop)
            return
        for _ in range(count):
            self.kernel(1, keep, drop)
            if self.refresh is not None:  # v stands at what later rows saw, not at x
                self.refresh()


def make_modulus_sweeper(problem: Problem, sight: Sight, x: Vector) -> ModulusSweeper:
    """The tuned kernels for two bodies a row are AMGS and AMSOR's alone; other members go row by row, by J and W."""
    width, _, friction = problem.law
    bound, u = make_sweeper(problem, 1.0, x), x.copy()
    tuned = {body_pairs: modulus_body_pairs, planar_pairs: planar_modulus}.get(bound.kernels)
    if tuned is not None and sight.is_newest and not sight.printed:
        coupling = np.empty(0) if bound.contact is None else bound.contact[-1]
        return _bind(tuned.sweep_pairs, bound, (), (friction, coupling), u, many=True)
    if tuned is not None:
        assert problem.A.factored is not None
        bound = sweep_factored(problem.A.factored, bound.vectors[:-1], None)
    names = {dense: "sweep_dense", csr: "sweep_csr", runs: "sweep_runs", factored: "sweep_factored"}
    kernel, seen = getattr(modulus, names[bound.kernels]), (sight.lag, sight.lead, sight.printed)
    return _bind(kernel, bound, seen, (width, friction), u, many=sight.is_newest)


def _bind(
    kernel: Callable[..., None], bound: Sweeper, seen: tuple[Any, ...], contact: tuple[Any, ...], u: Vector, many: bool
) -> ModulusSweeper:
    def sweep(count: int, keep: float, drop: float) -> None:
        kernel(count, (keep, drop, *seen), contact, u, bound.storage, bound.vectors)

    return ModulusSweeper(sweep, bound.vectors[0], u, bound.refresh, many)
