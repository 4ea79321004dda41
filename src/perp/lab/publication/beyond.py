"""What the papers do not show: performance profiles and times to a residual, over all problems that were solved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from perp.lab.analysis.profiles import (
    Profile,
    arrival_curve,
    choices_of,
    draw_arrivals,
    draw_profile,
    find_profile,
    method_of,
    problem_of,
    seconds_of,
)
from perp.lab.experiments.experiment import Picture, Table
from perp.lab.page import Markup, definitions, details, element, join
from perp.lab.palette import assign_strokes
from perp.lab.plots import add_legend, new_figure
from perp.lab.publication.evidence import Trouble, attempt
from perp.lab.publication.sections import show_table, write_picture
from perp.lab.runs.row import TROUBLE, LabRow
from perp.solvers.results import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SECTION = "beyond"

LEAST_PROBLEMS = 5
"""Fewer problems make no profile."""

MOST_LINES = 14
"""A figure of more lines cannot be read: the best ones are drawn, the table has all."""


@dataclass(frozen=True, eq=False)
class Field:
    """Problems of one kind that the same methods were run on."""

    kind: str
    methods: tuple[str, ...]
    rows: tuple[LabRow, ...]

    @property
    def problems(self) -> int:
        return len(self.rows) // len(self.methods)

    def of(self, method: str) -> list[LabRow]:
        return [row for row in self.rows if method_of(row) == method]

    def names(self) -> dict[str, str]:
        """What figures call each method: the label of its experiment, with what else tells two of one label apart."""
        first = {method: self.of(method)[0] for method in self.methods}
        names = {}
        for method, row in first.items():
            namesakes = [other for other in first.values() if other.name == row.name and other is not row]
            apart = ", ".join(
                f"{option}={value}"
                for option, value in sorted(choices_of(row).items())
                if any(choices_of(other).get(option) != value for other in namesakes)
            )
            names[method] = f"{row.name} ({apart or row.task.method})" if namesakes else row.name
        return names if len(set(names.values())) == len(names) else {method: method for method in self.methods}


def find_fields(rows: Iterable[LabRow]) -> list[Field]:
    """Rows of solves, once each, gathered so that every method of a field has a row on every problem of it."""
    distinct = {row.key: row for row in rows if is_solve(row)}
    by_problem: dict[str, dict[str, LabRow]] = {}
    for row in distinct.values():
        by_problem.setdefault(problem_of(row), {})[method_of(row)] = row
    fields: dict[tuple[str, tuple[str, ...]], list[LabRow]] = {}
    for by_method in by_problem.values():
        kind = kind_of(next(iter(by_method.values())).task.instance)
        fields.setdefault((kind, tuple(sorted(by_method))), []).extend(by_method.values())
    found = [Field(kind, methods, tuple(members)) for (kind, methods), members in fields.items()]
    return [
        field
        for field in found
        if len(field.methods) > 1 and field.problems >= LEAST_PROBLEMS and any(row.success for row in field.rows)
    ]


def is_solve(row: LabRow) -> bool:
    """One method on one problem, with its time, or lost on the way to it."""
    if not row.task.method or ("scene" in row.task.instance and "step" not in row.task.instance):
        return False
    return row.status in TROUBLE or (row.status in Status.__members__ and not isnan(row.total_seconds))


def kind_of(instance: Mapping[str, Any]) -> str:
    """The family of a problem: its generator, or that it is a step of a scene."""
    if "scene" in instance:
        return "steps of scenes"
    maker, name = next(((key, value) for key, value in instance.items() if isinstance(value, str)), ("", "problems"))
    return name if maker in ("gallery", "") else f"{maker} {name}"


def make_beyond(rows: Iterable[LabRow], figures: Path) -> tuple[Markup, list[Trouble]]:
    """The section, and what of it could not be made."""
    pieces: list[object] = []
    troubles = []
    for place, field in enumerate(find_fields(rows), start=1):
        part = f"{field.kind} ({len(field.methods)} methods)"
        made = attempt(SECTION, part, partial(_show_field, field, place, figures))
        if isinstance(made, Trouble):
            troubles.append(made)
            told = f"{part} could not be shown. "
            pieces.append(element("p", told, element("code", made.message), class_="trouble"))
        else:
            pieces.append(made)
    if not pieces:
        least = f"No {LEAST_PROBLEMS} problems of one kind have rows of the same methods yet."
        pieces.append(element("p", least, class_="quiet"))
    return element("section", _introduction(), *pieces, id=SECTION), troubles


def _introduction() -> Markup:
    return join(
        element("h2", "Beyond the documents: profiles and times to a residual", class_="source"),
        element(
            "p",
            "Here the solves of all experiments stand together, sorted by the kind of problem, and by which methods "
            "were run on it. A performance profile (Dolan & Moré 2002) shows for each factor the share of problems "
            "that a method solves in at most so many times the time of the fastest one. At factor 1 it tells how "
            "often a method is the fastest, at the right edge how often it gets there at all. Failures and time-outs "
            "count as not solved.",
        ),
        element(
            "p",
            "The second panel shows the median time to come down to a residual, preparation included. A problem on "
            "which a method never gets there counts as infinitely long, so that a line ends where half of the "
            "problems are out of reach. Where rows were measured beside other tasks, factors below two mean little.",
        ),
    )


def _show_field(field: Field, place: int, figures: Path) -> Markup:
    profile = find_profile(field.rows)
    best = sorted(field.methods, key=lambda method: (-profile.share(method, inf), _median_seconds(field.of(method))))
    drawn = best[:MOST_LINES]
    sizes = sorted({row.found.n for row in field.rows})
    many = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    alone = sum(row.circumstances.alone for row in field.rows)
    caption = (
        f"{field.problems:,} problems of {many} rows; solved means as the experiment asks. {alone:,} of "
        f"{len(field.rows):,} rows were measured while no other task ran."
    )
    if profile.unsolved:
        caption += f" No method solves {profile.unsolved:,} of the problems."
    if len(drawn) < len(best):
        caption += f" The best {len(drawn)} of {len(best)} methods are drawn."
    name = f"{place}-{field.kind.replace(' ', '-')}"
    return join(
        element("h3", f"{field.kind}: {len(field.methods)} methods, {field.problems:,} problems"),
        write_picture(Picture(name, caption, _draw(field, profile, drawn)), SECTION, figures),
        show_table(_tabulate(field, profile, best)),
        details(
            "The methods with their options", definitions({name: method for method, name in field.names().items()})
        ),
    )


def _draw(field: Field, profile: Profile, drawn: Sequence[str]) -> Figure:
    names = field.names()
    strokes = assign_strokes(names[method] for method in drawn)
    curves = {names[method]: arrival_curve(field.of(method)) for method in drawn}
    has_times = any(np.isfinite(curve.seconds).any() for curve in curves.values())
    figure, panels = new_figure(1, 2 if has_times else 1, panel=(4.4, 3.6))
    ratios = {names[method]: profile.ratios[method] for method in drawn}
    lines = draw_profile(panels[0], replace(profile, ratios=ratios), strokes=strokes)
    if has_times:  # some works keep no times along the way
        draw_arrivals(panels[1], curves, strokes=strokes)
    add_legend(figure, lines)
    return figure


def _tabulate(field: Field, profile: Profile, methods: Sequence[str]) -> Table:
    names = field.names()
    return Table(
        "",
        ("method", "solved [%]", "fastest [%]", "within twice the fastest [%]", "median time [s]"),
        tuple(
            (
                names[method],
                *(round(100.0 * profile.share(method, factor), 1) for factor in (inf, 1.0, 2.0)),
                _median_seconds(field.of(method)),
            )
            for method in methods
        ),
        note="The median counts a problem that was not solved as infinitely long.",
    )


def _median_seconds(rows: Sequence[LabRow]) -> float:
    return float(np.median([seconds_of(row) if row.success else inf for row in rows]))
