"""PGS-SM section 5 and 6: simulations that blow up, with which accuracy of the subspace, and with which masses."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from perp.lab.claims import read_claims
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.experiments.pgssm.figure2 import (
    AS_PRINTED,
    BEST,
    CASES,
    EXACT,
    OURS,
    PGS,
    QUICK_STEPS,
    STEPS,
    Contender,
    blow_ups,
    count,
    one_run,
    run_of,
    simulations,
)
from perp.lab.palette import DASHES, SERIES, Stroke
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.task import Task
from perp.lab.work.recipes import scene
from perp.lab.work.touching_rows import EQUATION_3, WITH_GAPS

CONTENDERS = (PGS, AS_PRINTED, EXACT, BEST, OURS)
WITH_GAPS_TOO = (PGS, AS_PRINTED, OURS)
RATIOS = (1.0, 10.0, 100.0, 1000.0, 10000.0)
QUICK_RATIOS = (1.0, 100.0)
HALF = 0.5
TOP = 2.0
"""Where curves of energy are cut: a run that has got there ends."""


def make_tasks(quick: bool) -> list[Task]:
    tasks = simulations(CONTENDERS, quick) + simulations(WITH_GAPS_TOO, quick, form=WITH_GAPS)
    steps = QUICK_STEPS if quick else STEPS
    small = {"wide": 2, "high": 1} if quick else {}
    for ratio in QUICK_RATIOS if quick else RATIOS:
        instance = scene("heavy_on_light", mass_ratio=ratio, **small)
        tasks += [one_run(instance, masses(ratio), who, steps) for who in (PGS, AS_PRINTED)]
    return tasks


def masses(ratio: float) -> str:
    """The group of the runs with this ratio of masses."""
    return f"masses 1:{ratio:g}"


def measure(rows: Rows) -> dict[str, float]:
    printed, exact = blow_ups(rows, AS_PRINTED), blow_ups(rows, EXACT)
    figures = {
        "printed": count(printed),
        "exact": count(exact),
        "pgs": count(blow_ups(rows, PGS)),
        "best": count(blow_ups(rows, BEST)),
        "ours": count(blow_ups(rows, OURS)),
        "small": nan if printed is None else float(sum(printed[case.letter] for case in CASES if case.is_small)),
        "large": nan if printed is None else float(sum(printed[case.letter] for case in CASES if not case.is_small)),
        "heaviest": heaviest(rows),
    }
    return {name: value for name, value in figures.items() if isfinite(value)}


def heaviest(rows: Rows) -> float:
    """The largest ratio of masses at which PGS-SM does not blow up and bodies sink at most half as far as with PGS."""
    well = []
    for ratio in RATIOS:
        own, other = run_of(rows, masses(ratio), AS_PRINTED), run_of(rows, masses(ratio), PGS)
        if own is not None and other is not None:
            well.append(ratio if not own["blown_up"] and own["way"] <= HALF * other["way"] else 0.0)
    return max(well, default=nan)


def tabulate(rows: Rows) -> list[Table]:
    columns = [(who, EQUATION_3) for who in CONTENDERS] + [(who, WITH_GAPS) for who in WITH_GAPS_TOO]
    lines: list[tuple[Cell, ...]] = [
        (case.name, *(outcome(rows, case.name, who, form) for who, form in columns)) for case in CASES
    ]
    totals = tuple(_finite(count(blow_ups(rows, who, form))) for who, form in columns)
    lines.append(("blow-ups", *totals))
    headings = ("scene", *(who.label + ("" if form == EQUATION_3 else ", gaps in b") for who, form in columns))
    note = (
        "The step in which the energy first exceeds that of the start by a tenth, or else 'rests' with the mean way of "
        "a body [m] over the run; snakes sink until their limits hold them. The paper prints no such table."
    )
    by_mass: list[tuple[Cell, ...]] = []
    for ratio in RATIOS:
        pair = [run_of(rows, masses(ratio), who) for who in (PGS, AS_PRINTED)]
        if any(pair):
            ways = tuple(None if row is None else row["way"] for row in pair)
            overlaps = tuple(None if row is None else row["penetration_max"] for row in pair)
            step = pair[1]["blow_up_step"] if pair[1] is not None else nan
            by_mass.append((f"1:{ratio:g}", *ways, *overlaps, _finite(step)))
    names = (
        "masses",
        "PGS, way [m]",
        "PGS-SM, way [m]",
        "PGS, overlap [m]",
        "PGS-SM, overlap [m]",
        "PGS-SM blows up in step",
    )
    return [
        Table("Blow-ups", headings, tuple(lines), note),
        Table("A heavy box on light ones", names, tuple(by_mass), "Mean way of a body, and the deepest overlap."),
    ]


def outcome(rows: Rows, group: str, who: Contender, form: str) -> Cell:
    row = run_of(rows, group, who, form)
    if row is None:
        return None
    return f"step {row['blow_up_step']:.0f}" if row["blown_up"] else f"rests ({row['way']:.0e})"


def _finite(value: float) -> Cell:
    return value if isfinite(value) else None


def draw(rows: Rows) -> list[Picture]:
    looks = zip(CONTENDERS, SERIES, DASHES, strict=False)
    strokes = {who.label: Stroke(shade.light, dash) for who, shade, dash in looks}  # most lines lie on one another
    figure, panels = new_figure(4, 2, panel=(4.4, 2.3), sharex=True)
    handles: dict[str, object] = {}
    for place, (axes, case) in enumerate(zip(panels, CASES, strict=True)):
        x_name = "step" if place >= len(CASES) - 2 else ""
        name_axes(axes, x_name, "energy over start" if place % 2 == 0 else "", title=case.name)
        curves = {}
        for who in CONTENDERS:
            row = run_of(rows, case.name, who)
            if row is not None and row.series["energy"].size:
                energy = row.series["energy"] / row["energy_start"]
                curves[who.label] = (np.arange(1, energy.size + 1), np.minimum(energy, TOP))
        for line in draw_lines(axes, curves, strokes=strokes):
            handles.setdefault(str(line.get_label()), line)
        for label, (steps, energy) in curves.items():
            if energy[-1] >= TOP:
                axes.plot(steps[-1:], energy[-1:], marker="x", color=strokes[label].colour)
        axes.set_ylim(0.75, TOP + 0.1)
    add_legend(figure, [handles[who.label] for who in CONTENDERS if who.label in handles])
    caption = (
        "Total energy over that of the start; nothing in these scenes brings energy in. A cross marks a blow-up, where "
        "the energy has doubled at least. Snakes lose energy as they sink."
    )
    return [Picture("pgssm-blowup", caption, figure)]


EXPERIMENT = Experiment(
    id="pgssm-blowup",
    source="PGS-SM",
    item="sections 5-6",
    title="Which simulations blow up",
    story=(
        f"The eight scenes of Fig. 2 for {STEPS} steps, every step solved cold: by PGS with 50 sweeps, by PGS-SM as "
        "printed with two iterations (50 sweeps, up to 10 subspace steps), with factors and least squares in place of "
        "conjugate gradients (for the paper's pseudo inverse), the same with the best iterate to fall back to, and by "
        "our pgs_sm, whose fallback is proximal. Problems have the b of eq. 3, so overlaps are never corrected; once "
        "more with gaps in b, as our worlds have them. Nothing brings energy in, so a blow-up is an energy a tenth "
        "above the first one; a run ends when it has doubled. Last, the heavy box on light ones with masses from 1:1 "
        "to 1:10,000."
    ),
    size=f"8 scenes x 8 runs of {STEPS} steps, 10 runs with other masses",
    minutes=0.3,
    claims=read_claims(__package__, "blowup"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
