"""The runs that Tables 1 and 2 of NOTES share: 100 fluid and 100 contact problems, by the paper's stopping criteria.

Beside the planted problems of the gallery, those that num4lcp really poses (`work.num4lcp_problems`). Their endings
are put beside the six final states of NOTES section 7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from perp.lab.experiments.notes.papers_methods import (
    FISCHER,
    FISCHER_OURS,
    FISCHER_PERTURBATION,
    FLUID_METHODS,
    FREE_SHARE,
    MINIMUM_MAP,
    MINIMUM_MAP_DIRECT,
    Criteria,
    PapersMethod,
)
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.num4lcp_problems import num4lcp
from perp.lab.work.recipes import gallery

FLUID, CONTACT = "fluid", "contact"
FLUID_PUBLISHED, CONTACT_PUBLISHED = "fluid, num4lcp's", "contact, num4lcp's"

CONTACT_METHODS = (FISCHER, MINIMUM_MAP, FISCHER_PERTURBATION)
"""Of Tables 1b and 2a: the zeros on the diagonal leave PGS and PSOR nothing to divide by."""

STORY = (
    "Fluid problems of 1000 rows and contact problems of 180, from zero, each method with the criteria of the paper: "
    "absolute tolerance 1e-3, relative 1e-6, 100 iterations. As there, the absolute one is that of a merit function, "
    "x^T|y| for PGS and PSOR and half the square of their own map for the Newton methods, not perp's residual. "
    "The paper's code draws x >= 0 and a b under which that x is no solution; its fluid problems have no row at a "
    "bound in the end and are systems of linear equations, and its contact problems couple the friction cones of "
    "different contacts. So every method runs twice: on planted problems with a quarter of the rows (of the "
    "contacts) at zero, as the code intends, on which claims are judged; and on problems made as the code makes them, "
    "for comparison. What the text leaves open is taken from the code: Newton equations by GMRES without a "
    "preconditioner, the random strategy for Fischer's method, no gradient steps. Its perturbation strategy, which "
    "factors the Jacobian, is shown for contacts as well."
)

CRITERIA = Criteria(absolute=1e-3, relative=1e-6, max_iterations=100)

STATES = {
    "CONVERGED": "absolute",
    "RELATIVE": "relative",
    "STAGNATED": "stagnation",
    "LOCAL_MINIMUM": "local minimum",
    "NON_DESCENT": "non-descent",
    "ITERATION_LIMIT": "max iteration",
}

OTHER = "other"
"""What the paper has no word for: a singular equation that was noticed (BREAKDOWN), a cycle, a failure."""

NAMES = (*STATES.values(), OTHER)


def make_robustness_tasks(quick: bool) -> list[Task]:
    """Every method on every problem."""
    problems, cells, rows = (4, 216, 60) if quick else (100, 1000, 180)
    tasks = []
    for seed in range(problems):
        planted_fluid = gallery("fluid_like", cells, seed, active=FREE_SHARE)
        planted_contact = gallery("contact_like", rows, seed, active=FREE_SHARE)
        plan: list[tuple[str, dict[str, object], Sequence[PapersMethod]]] = [
            (FLUID, planted_fluid, FLUID_METHODS),
            (FLUID_PUBLISHED, num4lcp("fluid", cells, seed), FLUID_METHODS),
            (CONTACT, planted_contact, (*CONTACT_METHODS, MINIMUM_MAP_DIRECT, FISCHER_OURS)),
            (CONTACT_PUBLISHED, num4lcp("contact", rows, seed), CONTACT_METHODS),
        ]
        for group, instance, methods in plan:
            tasks += [method.until(CRITERIA, instance, group=group, wall_seconds=60.0) for method in methods]
    return tasks


def rows_of(rows: Sequence[LabRow], group: str, method: PapersMethod) -> list[LabRow]:
    return select(rows, lambda row: row.name == method.label, group=group)


def final_state(row: LabRow) -> str:
    return STATES.get(row.status, OTHER)


def count_states(rows: Iterable[LabRow]) -> dict[str, int]:
    """How many rows ended in which state, all of them named."""
    counted = Counter(map(final_state, rows))
    return {name: counted[name] for name in NAMES}


def percentage(rows: Iterable[LabRow], *states: str) -> float:
    """Of the rows that measured something, those that ended in one of the states; nan for no rows."""
    ends = [final_state(row) in states for row in rows if row.measured]
    return 100.0 * sum(ends) / len(ends) if ends else float("nan")
