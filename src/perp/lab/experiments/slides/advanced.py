"""SLIDES, advanced programming: a simulator of discs, the spectra of its matrices, and solvers compared in it."""

from __future__ import annotations

from math import isfinite, nan
from typing import Any

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.experiments.slides.shared import ASKED
from perp.lab.palette import MUTED, assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.lcp_run import lcp_run_task, spectrum_task
from perp.lab.work.recipes import scene
from perp.scenes import kinds

MEDIANS = 5
"""Steps that make one point of a curve."""
MARKED = 50
"""Spectra of fewer rows have a mark at each eigenvalue."""

TOLERANCE = 1e-8

FRICTION = 0.5

RUNS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "PGS, 50 sweeps": ("pgs", {}, {"tol": TOLERANCE, "max_iterations": 50}),
    "PGS, 2,000 sweeps": ("pgs", {}, {"tol": TOLERANCE, "max_iterations": 2000}),
    "Fischer-Newton": ("fischer", ASKED["Fischer-Newton"].options, {"tol": TOLERANCE, "max_iterations": 50}),
    "QP": ("quadratic_program", {}, {"tol": TOLERANCE}),
    "Lemke": ("lemke", {}, {"tol": TOLERANCE}),
}
"""Method, options and stop; those of the intermediate assignment, and Lemke's method of the basic one."""

OURS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "Fischer-Newton, ours": ("fischer", {}, {"tol": TOLERANCE, "max_iterations": 50}),
}
"""With what the library adds to the published method, on the problems with friction."""

EXACT = {"method": "lemke", "stop": {"tol": TOLERANCE}, "statement": "frictionless"}

SWEPT = {"method": "pgs", "stop": {"tol": TOLERANCE, "max_iterations": 2000}, "statement": "contact"}


def draw_spectra(rows: Rows) -> Picture | None:
    """Whole spectra of some steps, and how many eigenvalues are zero on the way."""
    found = [row for row in select(rows, work="spectrum", label="frictionless") if "least" in row.series]
    if not found:
        return None
    looks = found[0].series
    figure, (spectra, course) = new_figure(1, 2, panel=(4.9, 3.7))
    name_axes(spectra, "number of the eigenvalue, over the rows", "eigenvalue [1/kg]", log="y", title="Spectra")
    whole = {name: values for name, values in looks.items() if name.startswith("spectrum_")}
    lines = {}
    for name, values in whole.items():
        kept = np.where(values > 1e-10 * values[-1], values, np.nan)
        zeros = int(np.isnan(kept).sum())
        label = f"step {name.removeprefix('spectrum_')}: {values.size} rows, {zeros} zero"
        lines[label] = (np.arange(1, values.size + 1) / values.size, kept)
    draw_lines(spectra, lines, marker="." if max(values.size for values in whole.values()) < MARKED else None)
    add_legend(spectra)
    name_axes(course, "step", "number", title="On the way")
    counted = {"rows (contacts)": (looks["step"], looks["rows"]), "zero eigenvalues": (looks["step"], looks["zeros"])}
    draw_lines(course, counted, marker="o")
    course.axhline(2 * number_of_discs(found[0]), color=MUTED.light, linewidth=1.0, linestyle=":", label="2 × discs")
    add_legend(course)
    caption = (
        "Eigenvalues of A = J M⁻¹ Jᵀ of the normals, those at zero left out, and how contacts and zero eigenvalues "
        "grow while the discs come to rest. More contacts than twice the number of discs cannot be independent."
    )
    return Picture("slides-advanced-spectra", caption, figure)


def draw_runs(rows: Rows, labels: list[str]) -> Picture | None:
    """Time and residual of each step; a stroke for each of the `labels` of the solvers."""
    groups = [
        (group, [row for row in select(rows, work="lcp_run", group=group) if "solve_seconds" in row.series])
        for group in ("frictionless", "frictionless, few discs", "friction, few discs")
    ]
    groups = [(group, members) for group, members in groups if members]
    if not groups:
        return None
    strokes = assign_strokes(labels)
    figure, panels = new_figure(2, len(groups), panel=(3.3, 2.7), sharex="col", sharey="row")
    handles: dict[str, Any] = {}
    for place, (group, members) in enumerate(groups):
        above, below = panels[place], panels[place + len(groups)]
        below.locator_params(axis="x", nbins=4)
        name_axes(above, "", "time of the solve [ms]" if place == 0 else "", log="y", title=group)
        name_axes(below, "step", "residual [m/s]" if place == 0 else "", log="y")
        for axes, column, factor in ((above, "solve_seconds", 1e3), (below, "residual", 1.0)):
            lines = {row.name: _smoothed(factor * row.series[column]) for row in members}
            for line in draw_lines(axes, lines, strokes=strokes):
                handles[str(line.get_label())] = line
    add_legend(figure, [handles[label] for label in labels if label in handles])
    caption = (
        f"Time (stating the LCP included) and residual of each step's solve, medians of {MEDIANS} steps. With friction "
        "the LCP is Stewart and Trinkle's; PGS sweeps over the contacts themselves, as it cannot divide by zeros on "
        "the diagonal."
    )
    return Picture("slides-advanced-runs", caption, figure)


def _smoothed(values: Any, width: int = MEDIANS) -> tuple[Any, Any]:
    """Steps, and medians over `width` of them."""
    whole = values[: values.size // width * width].reshape(-1, width)
    return width * np.arange(1, len(whole) + 1), np.median(whole, axis=1)


def number_of_discs(row: LabRow) -> int:
    """Of the scene `falling_discs` that a row was made from."""
    default = kinds()["falling_discs"].options["discs"].default
    return int(row.task.instance["options"].get("discs", default))


def make_tasks(quick: bool) -> list[Task]:
    large = scene("falling_discs", discs=12, width=1.2) if quick else scene("falling_discs")
    small: dict[str, Any] = {"discs": 6, "width": 1.0} if quick else {"discs": 30, "width": 2.0}
    steps, fewer = (48, 24) if quick else (240, 120)
    smooth, rough = scene("falling_discs", **small), scene("falling_discs", friction=FRICTION, **small)
    tasks = [
        spectrum_task(
            large,
            EXACT,
            steps=steps,
            every=6 if quick else 10,
            statement="frictionless",
            witnesses=("lemke", "interior_point"),
            whole=(steps // 6, steps // 4, steps),
            label="frictionless",
            group="spectra",
        ),
        spectrum_task(
            rough,
            SWEPT,
            steps=fewer,
            every=6 if quick else 10,
            statement="stewart_trinkle",
            whole=(fewer,),
            label="Stewart-Trinkle",
            group="spectra",
        ),
    ]
    tasks += _run_tasks(large, steps, "frictionless", "frictionless")
    tasks += _run_tasks(smooth, fewer, "frictionless, few discs", "frictionless")
    return tasks + _run_tasks(rough, fewer, "friction, few discs", "stewart_trinkle")


def _run_tasks(instance: dict[str, Any], steps: int, group: str, statement: str) -> list[Task]:
    runs = RUNS | OURS if statement == "stewart_trinkle" else RUNS
    return [
        lcp_run_task(
            instance,
            method,
            stop,
            steps=steps,
            # sweeps divide by the diagonal, where Stewart and Trinkle have zeros: they get the contacts as they are
            statement="contact" if method == "pgs" and statement == "stewart_trinkle" else statement,
            options=options,
            label=label,
            group=group,
            timed=True,
        )
        for label, (method, options, stop) in runs.items()
    ]


def measure(rows: Rows) -> dict[str, float]:
    figures: dict[str, float] = {}
    for row in select(rows, work="spectrum", label="frictionless"):
        looks = row.series
        if "least" in looks:
            discs = number_of_discs(row)
            singular = looks["zeros"] > 0
            figures |= {
                "asymmetry": float(looks["asymmetry"].max()),
                "least_share": float((looks["least"] / looks["greatest"]).min()),
                "missing_zeros": float((looks["rows"] - 2 * discs - looks["zeros"]).max()),
                "impulse_gap": float(np.median(looks["impulse_gap"][singular])) if singular.any() else nan,
                "motion_gap": float(looks["motion_gap"].max()),
            }
    for row in select(rows, work="spectrum", label="Stewart-Trinkle"):
        if "least" in row.series:
            figures |= {
                "friction_asymmetry": float(row.series["asymmetry"].min()),
                "friction_negative": float(row.series["negative"].min()),
            }
    for row in select(rows, work="lcp_run", label="Lemke", group="frictionless"):
        figures["solved_share"] = _share_of_steps(row)
    return {name: value for name, value in figures.items() if isfinite(value)}


def tabulate(rows: Rows) -> list[Table]:
    return [_spectrum_table(rows, "frictionless"), _spectrum_table(rows, "Stewart-Trinkle"), _solver_table(rows)]


def _spectrum_table(rows: Rows, label: str) -> Table:
    names = (
        "step",
        "rows",
        "least",
        "greatest",
        "zeros",
        "negative",
        "condition",
        "asymmetry",
        "active",
        "active_zeros",
        "impulse_gap",
    )
    headings = (
        "step",
        "rows",
        "least eigenvalue [1/kg]",
        "largest [1/kg]",
        "zero",
        "negative",
        "condition of the rest",
        "asymmetry",
        "rows with x > 0",
        "zero among these",
        "impulses of two solvers differ by",
    )
    lines: list[tuple[Cell, ...]] = []
    for row in select(rows, work="spectrum", label=label):
        if "least" in row.series:
            for values in zip(*(row.series[name] for name in names), strict=True):
                lines.append(tuple(float(value) if isfinite(value) else None for value in values))
    symmetric = label == "frictionless"
    note = (
        ""
        if symmetric
        else "Eigenvalues are those of the symmetric part. Unknowns a contact: normal, two directions, beta."
    )
    return Table(f"Spectra of the matrix on the way, {label}", headings, tuple(lines), note)


def _solver_table(rows: Rows) -> Table:
    lines: list[tuple[Cell, ...]] = []
    for row in select(rows, work="lcp_run"):
        if "solve_seconds" not in row.series:
            reason = row.found.message.split(" (")[0]
            lines.append((row.group, row.name, None, None, None, None, None, None, reason))
            continue
        lines.append(
            (
                row.group,
                row.name,
                row.found.n,
                _share_of_steps(row),
                1e3 * row["solve_seconds_mean"],
                row["iterations_mean"],
                row["residual_max"],
                1e3 * row["penetration_max"],
                "" if row.status in ("CONVERGED", "DONE") else row.found.message,
            )
        )
    headings = (
        "scene",
        "solver",
        "rows at most",
        "steps solved",
        "time a step [ms]",
        "iterations a step",
        "largest residual [m/s]",
        "deepest overlap [mm]",
        "remark",
    )
    note = "Rows and residuals are those of the contacts (normal, tangent), for all alike. Steps solved: to 1e-8."
    return Table("Solvers in the simulator", headings, tuple(lines), note)


def draw(rows: Rows) -> list[Picture]:
    return [picture for picture in (draw_spectra(rows), draw_runs(rows, list(RUNS | OURS))) if picture]


def _share_of_steps(row: LabRow) -> float:
    return float(np.mean(row.series["converged"])) if "converged" in row.series else nan


EXPERIMENT = Experiment(
    id="slides-advanced",
    source="SLIDES",
    item="advanced programming assignment",
    title="A simulator of discs: spectra of its matrices, and solvers compared",
    story=(
        "The assignment asks for a simulator of discs of varying size and mass in the plane, first without friction: "
        "an LCP of the normals in each step. What is its spectrum, is the matrix symmetric, which solver is best, and "
        "does friction change that? Discs fall into a container and come to rest. Each solver takes the scene through "
        "all of its steps by itself and starts each step from the impulses of the last. With friction the LCP of "
        "Stewart and Trinkle is solved for fewer discs, as the methods that the slides name take too long on a "
        "hundred. PGS sweeps over the contacts directly there; in the plane both say the same."
    ),
    size="240 steps of 100 discs without friction, 120 steps of 30 discs without and with",
    minutes=0.3,
    claims=read_claims(__package__, "advanced"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
