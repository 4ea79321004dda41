"""Performance profiles (Dolan & Moré 2002): the share of problems that a method solves within a factor of the best."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from perp.lab.palette import Stroke, assign_strokes
from perp.lab.plots import name_axes
from perp.lab.runs.row import Column, LabRow
from perp.lab.runs.task import canonical

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


class Measured(Protocol):
    """A run of one method on one problem."""

    @property
    def success(self) -> bool: ...
    @property
    def total_seconds(self) -> float: ...


CLOCK = 1e-7
"""No time is taken to be shorter [s]: the clock does not tell, and a cost of zero has no ratio."""

STOPPING_ARGUMENTS = ("absolute", "relative", "until", "cost", "sweeps")
"""Arguments of works that judge for themselves when to stop: with the stop preset they say what is asked."""


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
