"""Who runs for "auto": the methods with the options that matter, and short chains in which one hands its x to the next.

Left out are the modulus methods beside AMGS and AMSOR, which are twins of PGS and PSOR, and `quadratic_program` and
`cone_program`, whose solvers are optional packages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import perp
from perp.problems.inputs import Vector
from perp.problems.problem import Problem
from perp.solvers.method import Method, misfit
from perp.solvers.roster import BY_NAME, make_method

TOLERANCE = 1e-8

LEFT_OUT = frozenset({"mj", "mgs", "msor", "maor", "amj", "amaor", "quadratic_program", "cone_program"})

SMALL_ENOUGH = {"enumeration": 12, "principal": 500, "lemke": 2000, "dantzig": 2000}
"""Rows beyond which a method is not asked: its work grows as 2^n, or as the number of pivots times n^2."""


@dataclass(frozen=True)
class Step:
    """One method of a chain; `iterations` is how many it may have before it hands on, None as many as time allows."""

    method: Method
    iterations: int | None = None


@dataclass(frozen=True)
class Candidate:
    label: str
    steps: tuple[Step, ...]

    def fits(self, problem: Problem) -> bool:
        if any(problem.n > SMALL_ENOUGH.get(step.method.name, problem.n) for step in self.steps):
            return False
        return all(misfit(step.method, problem) is None for step in self.steps)

    def solve(self, problem: Problem, seconds: float, x0: Vector | None = None, tol: float = TOLERANCE) -> perp.Result:
        """The result of the last step that was run; the time limit is for all of them together."""
        begun = perf_counter()
        start: Vector | perp.Result | None = x0
        for step in self.steps:
            left = max(1e-3, seconds - (perf_counter() - begun))
            result = perp.solve(
                problem, step.method, tol=tol, x0=start, max_seconds=left, max_iterations=step.iterations
            )
            if result.success:
                break
            start = result
        return result


def _plain(name: str, label: str | None = None, **options: Any) -> Candidate:
    return Candidate(label or name, (Step(make_method(name, options)),))


def _after(first: str, sweeps: int, second: str, **options: Any) -> Candidate:
    """`second`, started where some sweeps of `first` end."""
    steps = (Step(make_method(first, {}), sweeps), Step(make_method(second, options)))
    return Candidate(f"{first}({sweeps}) > {second}", steps)


def all_candidates() -> Sequence[Candidate]:
    plain = [_plain(name) for name in BY_NAME if name not in LEFT_OUT]
    return (*plain, *VARIANTS)


VARIANTS: tuple[Candidate, ...] = (
    _plain("block_principal", "block_principal pcg", linear="pcg"),
    _plain("block_principal", "block_principal progress", fallback="progress"),
    _plain("principal", "principal keller", rule="keller"),
    _plain("fischer", "fischer proximal", proximal="always"),
    _plain("fischer", "fischer perturbation", strategy="perturbation"),
    _plain("minimum_map", "minimum_map pcg", linear="pcg"),
    _plain("cone_newton", "cone_newton natural_map", function="natural_map"),
    _after("psor", 30, "block_principal"),
    _after("pgs", 30, "block_principal"),
    _after("pgs", 30, "interior_pivoting"),
    _after("block_gauss_seidel", 100, "cone_newton"),
)
