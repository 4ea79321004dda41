"""Pictures of the advanced assignment: the spectra of the simulator's matrices, and its solvers step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from perp.lab.experiments.experiment import Picture, Rows
from perp.lab.palette import MUTED, assign_strokes
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.scenes import kinds

MEDIANS = 5
"""Steps that make one point of a curve."""
MARKED = 50
"""Spectra of fewer rows have a mark at each eigenvalue."""


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
