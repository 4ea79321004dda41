"""THESIS Figure 6.6: a chain that slips because its friction was softened."""

from __future__ import annotations

from math import isfinite

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Experiment, Picture, Rows, Table
from perp.lab.experiments.thesis.scenes import SCENES, SHIFT, find_row, ratio, value
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.task import Task
from perp.lab.work.contact_frames import softened_friction_task
from perp.lab.work.recipes import scene

LIMITS = {"no regularisation": None, "d = 10": 10, "d = 5": 5}
GROUP = "chain"
MOST_PIVOTS = 200
"""A step; blocks that went round in circles until then have softened what they would."""


def make_tasks(quick: bool) -> list[Task]:
    links, speed = (20, 6.0) if quick else (100, 18.0)
    recipe = scene("chain", links=links, speed=speed, compliance=SCENES["chain"].compliance)
    return [
        softened_friction_task(
            recipe,
            steps=15 if quick else 270,
            pivot_limit=limit,
            share=SHIFT,
            most_pivots=MOST_PIVOTS,
            label=label,
            group=GROUP,
            wall_seconds=240.0,
        )
        for label, limit in LIMITS.items()
    ]


def measure(rows: Rows) -> dict[str, float]:
    slips = [value(rows, GROUP, label, "slip") for label in LIMITS]
    found = {"slip_10": ratio(slips[1], slips[0]), "slip_5": ratio(slips[2], slips[0])}
    return {name: number for name, number in found.items() if isfinite(number)}


def tabulate(rows: Rows) -> list[Table]:
    headings = ("initial pivot limit", "slip [m/s]", "rows softened (share)", "energy at the end [J]")
    numbers = ("slip", "softened", "energy_end")
    lines = tuple((label, *(value(rows, GROUP, label, number) for number in numbers)) for label in LIMITS)
    note = "Slip: the mean speed along the surface of all contacts that carry an impulse, over the run."
    return [Table("The chain with softened friction (here)", headings, lines, note)]


def draw(rows: Rows) -> list[Picture]:
    figure, (path, slip) = new_figure(1, 2, panel=(4.4, 3.6))
    found = {label: row for label in LIMITS if (row := find_row(rows, GROUP, label)) is not None}
    name_axes(path, "x [m]", "z [m]", title="Path of the box")
    path.set_aspect("equal", adjustable="datalim")
    handles = draw_lines(path, {label: (row.series["x"], row.series["z"]) for label, row in found.items()})
    name_axes(slip, "step", "slip so far, mean [m/s]", title="Slip of loaded contacts")
    sums = {
        label: (row.series["step"], row.series["slip"].cumsum() / row.series["step"]) for label, row in found.items()
    }
    draw_lines(slip, sums)
    add_legend(figure, handles)
    caption = "The chain winds around a rod; its friction rows are softened where they pivot more than d times."
    return [Picture("thesis-fig6.6", caption, figure)]


EXPERIMENT = Experiment(
    id="thesis-fig6.6",
    source="THESIS",
    item="Figure 6.6",
    title="Too much regularisation makes the chain slippery",
    story=(
        "The chain winds around its rod three times, with friction bounded by frictionless normal impulses (2.4.2): as "
        "asked, and with the diagonal of friction rows softened for good whenever they pivot too often in BPP "
        "(Algorithm 9, 1e-3 of A_ii each time; the THESIS adds 1e-3). The pictures of the THESIS become a number: how "
        "fast contacts that carry an impulse slip. Our own solvers take the softening back before they end, and so do "
        "not have this artefact. Once the box hits the rod, runs part by more than that, and the measurement has ended."
    ),
    size="the THESIS' chain, three times 270 steps of 1/240 s, until the box hits the rod",
    minutes=0.6,
    claims=read_claims(__package__, "fig6_6"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
