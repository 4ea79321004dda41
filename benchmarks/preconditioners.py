"""Condition numbers and iterations: every preconditioner on problems of the gallery.

The condition number is that of P^-1 A, the largest over the least of the eigenvalues of A v = s P v; where A is
singular, over the least that is not zero. All rows are free.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

import perp
from benchmarks.tables import make_table, tell
from perp.errors import MissingExtra
from perp.gallery.hinge_chain import hinge_chain
from perp.linalg import krylov
from perp.linalg.preconditioners import RECIPES, Preconditioner, Recipe
from perp.problems.problem import Problem

TOLERANCE, MOST_ITERATIONS = 1e-8, 3000
SINGULAR = 1e-11
"""Eigenvalues of A below this share of the largest are zero."""


@dataclass(frozen=True)
class Quality:
    """How good a P is for a problem; `iterations` is None where conjugate gradients did not converge."""

    condition: float
    iterations: int | None
    report: Mapping[str, float]


def gallery_problems(rows: int = 400) -> dict[str, Problem]:
    """About that many rows each."""
    make = perp.gallery.make
    links = max(rows // 6, 20)
    knot = range(links // 2, links // 2 + 4)
    return {
        "poisson_2d": make("poisson_2d", n=rows).problem,
        "poisson_3d": make("poisson_3d", n=rows).problem,
        "fluid_like": make("fluid_like", n=rows).problem,
        "dense_pd": make("dense_pd", n=rows // 4).problem,
        "boxed_stack 1:1000": make("boxed_stack", n=rows, mass_ratio=1000.0).problem,
        "box_stack": make("box_stack", n=rows).problem,
        "tower, compliant": make("boxed_stack", n=rows, layout="tower", mass_ratio=1000.0, compliance=1e-8).problem,
        "chain 1e8": _free(hinge_chain(links)),
        "knotted chain 1e8": _free(hinge_chain(links, braces=knot)),
    }


def _free(A: perp.FactoredOperator) -> Problem:
    return perp.BoxLCP(A, np.zeros(A.n), -np.inf, np.inf)


def measure(problem: Problem, recipe: Recipe) -> Quality | None:
    """None where the preconditioner does not fit the problem or needs a package that is not here."""
    if recipe.objection(problem) is not None:
        return None
    try:
        P = recipe.prepare(problem)
        P.follow(np.ones(problem.n, dtype=np.bool_), np.zeros(problem.n))
    except MissingExtra:
        return None
    A = problem.A.to_dense()
    b = A @ np.random.default_rng(0).standard_normal(problem.n)  # consistent, also where A is singular
    tolerance = TOLERANCE * float(np.linalg.norm(b))
    found = krylov.cg(problem.A.apply, b, preconditioner=P.apply, tolerance=tolerance, max_iterations=MOST_ITERATIONS)
    return Quality(condition_number(A, P), found.iterations if found.success else None, P.report())


def condition_number(A: NDArray[np.float64], P: Preconditioner) -> float:
    """Of P^-1 A on what A does not map to zero; for P worse than 1e16 itself only its size is to be believed."""
    inverse = np.array([P.apply(unit) for unit in np.eye(len(A))])
    share, direction = np.linalg.eigh(0.5 * (inverse + inverse.T))
    root = direction * np.sqrt(np.maximum(share, 0.0))  # P^-1 = root root^T
    spectrum = np.linalg.eigvalsh(A)
    rank = int(np.count_nonzero(spectrum > SINGULAR * spectrum[-1]))
    values = np.linalg.eigvalsh(root.T @ A @ root)[-rank:]
    return float(values[-1] / values[0]) if values[0] > 0.0 else np.inf


def tabulate(problems: Mapping[str, Problem], recipes: Iterable[Recipe]) -> Table:
    """A line a recipe, a column a problem: condition number of P^-1 A / iterations to 1e-8."""
    table = make_table(
        f"Condition number of P^-1 A / iterations of PCG to {TOLERANCE:g}", ["preconditioner", *problems]
    )
    for recipe in recipes:
        cells = [_describe(measure(problem, recipe)) for problem in problems.values()]
        table.add_row(recipe.name, *cells)
    return table


def _describe(quality: Quality | None) -> str:
    if quality is None:
        return tell(None)
    return f"{quality.condition:.3g} / {'fails' if quality.iterations is None else quality.iterations}"


def measure_preconditioners(options: Namespace) -> Iterator[Table | str]:
    yield "All rows free; 'fails': not within 3000 iterations, or negative curvature to the eye of the method"
    problems = gallery_problems(150 if options.quick else 400)
    names = list(problems)
    for part in (names[:5], names[5:]):  # two tables, so that they fit on a screen
        yield tabulate({name: problems[name] for name in part}, [recipe() for recipe in RECIPES])
