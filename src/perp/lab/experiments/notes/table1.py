"""NOTES Table 1: in which state each method ends on 100 fluid and 100 contact problems."""

from __future__ import annotations

from math import isfinite

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Rows, Table
from perp.lab.experiments.notes.papers_methods import (
    FISCHER,
    FISCHER_OURS,
    FISCHER_PERTURBATION,
    FLUID_METHODS,
    MINIMUM_MAP,
    MINIMUM_MAP_DIRECT,
    PapersMethod,
)
from perp.lab.experiments.notes.robustness_runs import (
    CONTACT,
    CONTACT_METHODS,
    CONTACT_PUBLISHED,
    FLUID,
    FLUID_PUBLISHED,
    NAMES,
    STORY,
    count_states,
    make_robustness_tasks,
    percentage,
    rows_of,
)

PRINTED: dict[tuple[str, str], dict[str, int]] = {
    (FLUID, "Fischer"): {"relative": 0, "absolute": 100},
    (FLUID, "Min. map"): {"relative": 0, "absolute": 100},
    (FLUID, "PGS"): {"relative": 0, "absolute": 100},
    (FLUID, "PSOR"): {"relative": 0, "absolute": 100},
    (CONTACT, "Fischer"): {"absolute": 100, "non-descent": 0},
    (CONTACT, "Min. map"): {"absolute": 0, "non-descent": 100},
}
"""Table 1 as it stands in the paper."""


def measure(rows: Rows) -> dict[str, float]:
    fluid = [percentage(rows_of(rows, FLUID, method), "absolute") for method in FLUID_METHODS]
    figures = {
        "fluid_absolute": min(fluid) if all(map(isfinite, fluid)) else float("nan"),
        "fischer_contact_absolute": percentage(rows_of(rows, CONTACT, FISCHER), "absolute"),
        "minimum_map_contact_non_descent": percentage(rows_of(rows, CONTACT, MINIMUM_MAP), "non-descent"),
        "minimum_map_contact_solved": percentage(rows_of(rows, CONTACT, MINIMUM_MAP), "absolute", "relative"),
        "factored_minimum_map_contact_singular": percentage(rows_of(rows, CONTACT, MINIMUM_MAP_DIRECT), "other"),
        "minimum_map_published_contact_non_descent": percentage(
            rows_of(rows, CONTACT_PUBLISHED, MINIMUM_MAP), "non-descent"
        ),
        "fischer_published_contact_absolute": percentage(rows_of(rows, CONTACT_PUBLISHED, FISCHER), "absolute"),
        "perturbation_published_contact_absolute": percentage(
            rows_of(rows, CONTACT_PUBLISHED, FISCHER_PERTURBATION), "absolute"
        ),
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def tabulate(rows: Rows) -> list[Table]:
    contact = (*CONTACT_METHODS, MINIMUM_MAP_DIRECT, FISCHER_OURS)
    return [
        _table(
            rows, "(a) Fluid problems: final states", FLUID, FLUID_PUBLISHED, FLUID_METHODS, ("relative", "absolute")
        ),
        _table(
            rows, "(b) Contact problems: final states", CONTACT, CONTACT_PUBLISHED, contact, ("absolute", "non-descent")
        ),
    ]


def _table(
    rows: Rows, title: str, group: str, published: str, methods: tuple[PapersMethod, ...], printed: tuple[str, ...]
) -> Table:
    """The printed columns first, paper beside here; then those that the paper has no column for."""
    others = tuple(name for name in NAMES if name not in printed)
    headings: tuple[str, ...] = ("Method", "problems")
    for name in printed:
        headings += (f"{name} (paper)", f"{name} (here)")
    headings += tuple(f"{name} (here)" for name in others)
    lines = []
    for problems, chosen in (("planted", group), ("as num4lcp's", published)):
        for method in methods:
            found = rows_of(rows, chosen, method)
            if not found and chosen == published:
                continue
            counted = count_states(found)
            line: list[Cell] = [method.label, problems]
            for name in printed:
                line += [PRINTED.get((group, method.label), {}).get(name), counted[name] if found else None]
            line += [counted[name] if found else None for name in others]
            lines.append(tuple(line))
    note = (
        "absolute = CONVERGED, relative = RELATIVE, stagnation = STAGNATED, local minimum = LOCAL_MINIMUM, non-"
        "descent = NON_DESCENT, max iteration = ITERATION_LIMIT; other: mostly BREAKDOWN, the Newton matrix is "
        "singular."
    )
    return Table(title, headings, tuple(lines), note)


EXPERIMENT = Experiment(
    id="notes-table1",
    source="NOTES",
    item="Table 1",
    title="Final states on fluid and contact problems",
    story=STORY + " Two lines are not the paper's: the minimum map with a factor in the place of GMRES, and Fischer's "
    "method with perp's own safeguards.",
    size="100 + 100 planted problems and as many of num4lcp's kind, 16 runs a seed: 1600 rows",
    minutes=1.3,
    claims=read_claims(__package__, "table1"),
    make_tasks=make_robustness_tasks,
    measure=measure,
    tabulate=tabulate,
)
