"""Methods compared: performance profiles (Dolan & Moré 2002), times to a residual, and the guard of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from perp.lab.palette import Stroke, assign_strokes
from perp.lab.plots import draw_lines, name_axes
from perp.lab.runs.row import DONE, Column, LabRow
from perp.lab.runs.task import canonical

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

CLOCK = 1e-7
"""No time is taken to be shorter [s]: the clock does not tell, and a cost of zero has no ratio."""

STOPPING_ARGUMENTS = ("absolute", "relative", "until", "cost", "sweeps")
"""Arguments of works that judge for themselves when to stop: with the stop preset they say what is asked."""

LEVELS = np.logspace(0.0, -10.0, 41)
"""Residuals from 1 to 1e-10, four a decade."""

MOST_IDLE = 0.2
"""The share of idle rows up to which a comparison stands."""


class Measured(Protocol):
    """A run of one method on one problem."""

    @property
    def success(self) -> bool: ...
    @property
    def total_seconds(self) -> float: ...


def seconds_of(row: Measured) -> float:
    """Preparation included."""
    return max(row.total_seconds, CLOCK) if isfinite(row.total_seconds) else inf


def iterations_of(row: LabRow) -> float:
    """A row that needs none counts as one."""
    return max(row["iterations"], 1.0) if isfinite(row["iterations"]) else inf


def method_of(row: LabRow) -> str:
    """`psor(relaxation=1.4)`: the method with the options and arguments of its task, whatever a figure calls it."""
    options = ", ".join(f"{name}={value}" for name, value in sorted(choices_of(row).items()))
    return f"{row.task.method}({options})" if options else row.task.method


def problem_of(row: LabRow) -> str:
    """Rows of which this is equal had the same to do: work, instance and stop preset."""
    task = row.task
    limits = {name: value for name, value in task.arguments.items() if name in STOPPING_ARGUMENTS}
    return canonical({"work": task.work, "instance": task.instance, "stop": task.stop, "limits": limits})


def choices_of(row: LabRow) -> dict[str, Any]:
    """Options and arguments of the method; arguments that say when to stop belong to the problem."""
    arguments = {name: value for name, value in row.task.arguments.items() if name not in STOPPING_ARGUMENTS}
    return {**row.task.options, **arguments}


@dataclass(frozen=True, eq=False)
class Profile:
    """The performance ratios r_ps = t_ps / min over s of t_ps, by method; infinite where s did not solve p."""

    ratios: Mapping[str, Column]
    """One entry a problem, in the same order for all methods."""
    problems: int
    unsolved: int
    """Problems that no method solved: they count for nobody, and keep every share below 1."""
    left_out: int
    """Problems on which some method was not run: they are no comparison of all."""

    def share(self, method: str, factor: float) -> float:
        """ρ_s(τ): the share of problems p with r_ps <= τ (Dolan & Moré 2002, section 2); at infinity, the solved."""
        ratios = self.ratios[method]
        return float(np.mean(np.isfinite(ratios) & (ratios <= factor))) if self.problems else 0.0

    @property
    def largest(self) -> float:
        """Of the finite ratios; beyond it no profile rises any more."""
        return max((float(r) for ratios in self.ratios.values() for r in ratios if isfinite(r)), default=1.0)


def find_profile(
    rows: Iterable[Measured],
    cost: Callable[[Any], float] = seconds_of,
    *,
    method: Callable[[Any], str] = method_of,
    problem: Callable[[Any], Hashable] = problem_of,
    needs_all: bool = True,
) -> Profile:
    """The profile of all methods in the rows. Only a row with `success` has solved its problem.

    Problems that only some of the methods were run on are left out; with `needs_all` false the others have not solved
    them. ValueError where a cost is not positive, or where one method has two rows on a problem.
    """
    costs: dict[Hashable, dict[str, float]] = {}
    for row in rows:
        spent = cost(row) if row.success else inf
        if not spent > 0.0:
            raise ValueError(f"the cost of {method(row)} is {spent}, and ratios need positive ones")
        by_method = costs.setdefault(problem(row), {})
        if method(row) in by_method:
            raise ValueError(f"two rows of {method(row)} on the same problem")
        by_method[method(row)] = spent
    names = list(dict.fromkeys(name for by_method in costs.values() for name in by_method))
    complete = [by_method for by_method in costs.values() if len(by_method) == len(names) or not needs_all]
    lines = [[by_method.get(name, inf) for name in names] for by_method in complete]
    table = np.array(lines).reshape(len(complete), len(names))
    best = table.min(axis=1, initial=inf)
    solved = np.isfinite(best)
    ratios = np.full(table.shape, inf)
    ratios[solved] = table[solved] / best[solved, None]
    return Profile(
        {name: ratios[:, column] for column, name in enumerate(names)},
        problems=len(complete),
        unsolved=int(np.sum(~solved)),
        left_out=len(costs) - len(complete),
    )


def draw_profile(
    axes: Axes, profile: Profile, *, cost: str = "time", strokes: Mapping[str, Stroke] | None = None
) -> list[Line2D]:
    """A step line a method over a logarithmic axis of factors; `cost` is the word for what is compared."""
    looks = strokes or assign_strokes(profile.ratios)
    right = 1.3 * max(profile.largest, 1.6)
    lines = []
    for name, ratios in profile.ratios.items():
        rises = np.sort(ratios[np.isfinite(ratios)])
        heights = np.arange(1, rises.size + 1) / max(profile.problems, 1)
        factors = np.concatenate([[1.0], rises, [right]])
        shares = np.concatenate([[0.0], heights, heights[-1:] if rises.size else [0.0]])
        (line,) = axes.step(
            factors,
            shares,
            where="post",
            color=looks[name].colour,
            linestyle=looks[name].dash,
            linewidth=1.5,
            label=name,
        )
        lines.append(line)
    name_axes(axes, f"{cost} within this factor of the best", "share of problems solved")
    axes.set_xscale("log", base=2 if right < 300.0 else 10)
    axes.set_xlim(1.0, right)
    axes.set_ylim(-0.02, 1.04)
    return lines


@dataclass(frozen=True)
class Arrival:
    """When a history first is at or below a residual; infinite where it never is, or where nothing tells when."""

    reached: bool = False
    seconds: float = inf
    """Preparation included."""
    iteration: float = inf


def first_arrival(row: LabRow, level: float) -> Arrival:
    """The first check with a residual of at most `level`. Nothing is interpolated between checks.

    Rows keep some 400 checks of a long history, spaced geometrically, so that an arrival may be a few per cent late.
    A row without a history arrives at its end, if at all.
    """
    residual = row.series.get("residual")
    if residual is None or residual.size == 0:
        if not row["residual"] <= level:
            return Arrival()
        return Arrival(True, _known(row.total_seconds), _known(row["iterations"]))
    (below,) = np.nonzero(residual <= level)  # a residual that is nan is not below
    if below.size == 0:
        return Arrival()
    unknown = np.full(residual.size, inf)
    seconds, iteration = (row.series.get(name, unknown)[below[0]] for name in ("seconds", "iteration"))
    return Arrival(True, _known(row["setup_seconds"] + seconds), _known(iteration))


def _known(value: float) -> float:
    return float(value) if isfinite(value) else inf


@dataclass(frozen=True, eq=False)
class ArrivalCurve:
    """Medians over problems, at each residual of `levels`.

    A problem on which the residual is never reached counts as infinitely long, so that giving up early does not look
    fast: the median is infinite as soon as half of the problems are out of reach.
    """

    levels: Column
    seconds: Column
    iterations: Column
    share: Column
    """Of the problems on which it is reached."""


def arrival_curve(rows: Sequence[LabRow], levels: ArrayLike = LEVELS) -> ArrivalCurve:
    """The curve of one method: `rows` are its rows, one a problem."""
    wanted = np.asarray(levels, dtype=np.float64)
    if not rows:
        nothing = np.full(wanted.size, inf)
        return ArrivalCurve(wanted, nothing, nothing, np.zeros(wanted.size))
    arrivals = [[first_arrival(row, level) for row in rows] for level in wanted]
    seconds = np.array([[arrival.seconds for arrival in line] for line in arrivals])
    iterations = np.array([[arrival.iteration for arrival in line] for line in arrivals])
    return ArrivalCurve(
        wanted,
        np.median(seconds, axis=1),
        np.median(iterations, axis=1),
        np.array([np.mean([arrival.reached for arrival in line]) for line in arrivals]),
    )


def draw_arrivals(
    axes: Axes,
    curves: Mapping[str, ArrivalCurve],
    *,
    by: str = "seconds",
    strokes: Mapping[str, Stroke] | None = None,
) -> list[Line2D]:
    """Residual against the median time to it, or with `by="iterations"` the median number of iterations."""
    if by not in ("seconds", "iterations"):
        raise ValueError(f"by={by!r} is neither 'seconds' nor 'iterations'")
    label = "median time to the residual [s]" if by == "seconds" else "median iterations to the residual"
    name_axes(axes, label, "residual", log="xy")
    lines = {}
    for name, curve in curves.items():
        cost = getattr(curve, by)
        reached = np.isfinite(cost)
        lines[name] = (np.maximum(cost[reached], 1.0 if by == "iterations" else 1e-7), curve.levels[reached])
    return draw_lines(axes, lines, strokes=strokes)


def find_void_groups(rows: Iterable[LabRow], most: float = MOST_IDLE) -> dict[str, str]:
    """Each void group (`Task.group`) with the reason in words. The rows are those of one experiment.

    A row is idle where it converged without an iteration, or to a point at which no row of the problem is free. A solve
    that failed at its starting point is not: it had something to do and did not do it.
    Rows that cannot tell are left out of the count: a measurement that is DONE and knows no iterations compares nothing
    by them, and a crash or a time-out must not thin out the idle ones.
    """
    groups: dict[str, list[LabRow]] = {}
    for row in rows:
        if _can_tell(row):
            groups.setdefault(row.group, []).append(row)
    return {group: _reason(members) for group, members in groups.items() if _idle_share(members) > most}


def is_idle(row: LabRow) -> bool:
    """Nothing was asked of the method."""
    return row.success and (row["iterations"] == 0.0 or row["active"] == 0.0)


def _can_tell(row: LabRow) -> bool:
    if isnan(row["iterations"]):
        return row.status != DONE and not isnan(row["active"])
    return True


def _idle_share(rows: list[LabRow]) -> float:
    return sum(map(is_idle, rows)) / len(rows)


def _reason(rows: list[LabRow]) -> str:
    no_iteration = sum(is_idle(row) and row["iterations"] == 0.0 for row in rows)
    nothing_free = sum(is_idle(row) and row["iterations"] != 0.0 for row in rows)
    return (
        f"{_idle_share(rows):.0%} of {len(rows)} rows had nothing to do: {no_iteration} converged without an "
        f"iteration, {nothing_free} more to a point at which nothing is free"
    )
