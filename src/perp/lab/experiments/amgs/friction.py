"""Ours, after AMGS section 6: bodies in space with friction."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from perp.lab.claims import read_claims
from perp.lab.experiments.amgs.contestants import HALF, LEAD, PGS, STROKES, WARM, Contestant, scaled
from perp.lab.experiments.amgs.whole_simulation import geometric_mean, levels
from perp.lab.experiments.experiment import Cell, Experiment, Picture, Rows, Table
from perp.lab.plots import add_legend, draw_lines, name_axes, new_figure
from perp.lab.runs.row import LabRow, select
from perp.lab.runs.task import Task
from perp.lab.work.amgs import SHIFTED_BOX, PrintedAMGS, amgs_run_task, amgs_step_task
from perp.lab.work.recipes import scene, scene_step

if TYPE_CHECKING:
    from matplotlib.lines import Line2D

SCENES: dict[str, dict[str, Any]] = {"stack": {}, "wall_of_boxes": {}}
SMALL: dict[str, dict[str, Any]] = {"stack": {"high": 3}, "wall_of_boxes": {"base": 3, "courses": 2}}
TITLES = {"stack": "Stack of 40 boxes", "wall_of_boxes": "Wall of 108 boxes"}

STEP, QUICK_STEP = 30, 10
SWEEPS, QUICK_SWEEPS = 500, 60
BOX_SWEEPS = 2000
STEPS, QUICK_STEPS, SWEEPS_A_STEP = 200, 25, 20
LATE = 100
"""The runs are summed up from this step on."""

CONTESTANTS = (PGS, HALF, *(scaled(alpha) for alpha in (0.4, 0.3, 0.2, 0.1)))
CORRECTED = Contestant("3.2 [0.2 D], corrected", "amgs", {"alpha": 0.2})
AS_PRINTED = Contestant("3.2 [0.2 D], as printed", PrintedAMGS.name, {"alpha": 0.2})
STEP_GROUP, RUN_GROUP, BOX_GROUP = "step of ", "run of ", "box of "


def make_tasks(quick: bool) -> list[Task]:
    tasks = []
    for name, options in (SMALL if quick else SCENES).items():
        step = scene_step(name, QUICK_STEP if quick else STEP, lead=LEAD, **options) | WARM
        sweeps, boxed = (QUICK_SWEEPS, QUICK_SWEEPS) if quick else (SWEEPS, BOX_SWEEPS)
        run = scene(name, **options) | WARM
        tasks += [
            amgs_step_task(
                step, each.method, options=each.options, sweeps=sweeps, label=each.label, group=STEP_GROUP + name
            )
            for each in CONTESTANTS
        ]
        tasks += [
            amgs_step_task(
                step,
                each.method,
                options=each.options,
                sweeps=boxed,
                restate=SHIFTED_BOX,
                label=each.label,
                group=BOX_GROUP + name,
            )
            for each in (PGS, CORRECTED, AS_PRINTED)
        ]
        tasks += [
            amgs_run_task(
                run,
                each.method,
                options=each.options,
                steps=QUICK_STEPS if quick else STEPS,
                sweeps=SWEEPS_A_STEP,
                label=each.label,
                group=RUN_GROUP + name,
            )
            for each in CONTESTANTS
        ]
    return tasks


def measure(rows: Rows) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in SCENES:
        step = {each.label: _number(_row(rows, STEP_GROUP + name, each), "res") for each in CONTESTANTS}
        run = {each.label: _level(rows, name, each) for each in CONTESTANTS}
        upper = [_number(_row(rows, BOX_GROUP + name, each), "at_upper") for each in (AS_PRINTED, CORRECTED)]
        found |= {
            f"{name}_half_over_PGS": step[HALF.label] / step[PGS.label],
            f"{name}_fifth_over_PGS": step[scaled(0.2).label] / step[PGS.label],
            f"{name}_run_fifth_over_PGS": run[scaled(0.2).label] / run[PGS.label],
            f"{name}_upper_printed_over_corrected": upper[0] / upper[1] if upper[1] else float("nan"),
        }
    found["half_off_PGS"] = max(abs(found[f"{name}_half_over_PGS"] - 1.0) for name in SCENES)
    for each in ("fifth_over_PGS", "run_fifth_over_PGS", "upper_printed_over_corrected"):
        found[each] = max(found[f"{name}_{each}"] for name in SCENES)
    return {name: value for name, value in found.items() if isfinite(value)}


def tabulate(rows: Rows) -> list[Table]:
    lines: list[tuple[Cell, ...]] = []
    boxes: list[tuple[Cell, ...]] = []
    for name, title in TITLES.items():
        for each in CONTESTANTS:
            step, run = _row(rows, STEP_GROUP + name, each), _row(rows, RUN_GROUP + name, each)
            if step is not None and run is not None:
                figures = (_cell(step["res"]), _cell(_level(rows, name, each)), _cell(1e3 * run["penetration_max"]))
                lines.append((title, step.found.n, each.label, *figures, _cell(run["energy_drift"])))
        for each in (PGS, CORRECTED, AS_PRINTED):
            box = _row(rows, BOX_GROUP + name, each)
            if box is not None:
                boxes.append((title, each.label, _cell(box["res"]), _cell(box["at_upper"])))
    return [
        Table(
            "RES in one step, and over a simulation",
            (
                "scene",
                "rows",
                "method",
                f"RES in step {STEP} after {SWEEPS} sweeps",
                f"RES of steps from {LATE} on",
                "deepest overlap [mm]",
                "energy drift",
            ),
            tuple(lines),
            f"Simulations of {STEPS} steps, {SWEEPS_A_STEP} sweeps each, one for each method.",
        ),
        Table(
            "Method 3.2 between fixed bounds",
            ("scene", "method", f"RES after {BOX_SWEEPS:,} sweeps", "rows at an upper bound"),
            tuple(boxes),
            "Bounds of friction fixed at the impulses of the step before, and shifted so that all lower ones are 0.",
        ),
    ]


def draw(rows: Rows) -> list[Picture]:
    if not any("res" in row.series for row in rows):
        return []
    figure, panels = new_figure(1, 2, panel=(4.8, 3.6))
    lines: list[Line2D] = []
    for axes, (name, title) in zip(panels, TITLES.items(), strict=True):
        name_axes(axes, "sweeps", "RES" if axes is panels[0] else "", title=title, log="y")
        found = {each.label: _row(rows, STEP_GROUP + name, each) for each in CONTESTANTS}
        curves = {
            label: (row.series["iteration"], row.series["res"])
            for label, row in found.items()
            if row is not None and "res" in row.series
        }
        lines = draw_lines(axes, curves, strokes=STROKES) or lines
    add_legend(figure, lines)
    caption = "RES after each sweep of one step in space, with boxes of friction that follow the normal impulses."
    return [Picture("amgs-friction", caption, figure)]


def _row(rows: Rows, group: str, each: Contestant) -> LabRow | None:
    found = select(rows, name=each.label, group=group)
    return found[0] if found else None


def _number(row: LabRow | None, name: str) -> float:
    return float("nan") if row is None else row[name]


def _level(rows: Rows, name: str, each: Contestant) -> float:
    of_run = select(rows, group=RUN_GROUP + name)
    longest = max((len(row.series.get("res", ())) for row in of_run), default=0)
    return geometric_mean(levels(of_run, each.label, LATE if longest > LATE else longest // 2))


def _cell(value: float) -> float | None:
    return value if isfinite(value) else None


EXPERIMENT = Experiment(
    id="amgs-friction",
    source="OURS",
    item="AMGS section 6",
    title="Bodies in space, with friction",
    story=(
        "AMGS leaves space and friction as a future task. Two scenes of PGS-SM, a stack and a wall of boxes with "
        "friction 0.5, whose contacts are redundant. One step is solved by each method from the same start, and each "
        "method has a simulation of its own. Method 3.2 is used with the memory corrected, so that bounds of friction "
        "may have both signs. As printed it needs fixed bounds that are not negative: for it, and beside it for the "
        "corrected form, the bounds are fixed and the unknowns shifted. MuJoCo finds the contacts."
    ),
    size="30 tasks: steps of 885 and 3,708 rows, simulations of 200 steps",
    minutes=0.1,
    claims=read_claims(__package__, "friction"),
    make_tasks=make_tasks,
    measure=measure,
    tabulate=tabulate,
    draw=draw,
)
