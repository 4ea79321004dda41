"""`report.html`: rows and figures in one file that needs nothing from elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from perp.lab.page import Column, Markup, definitions, element, join, page, prose, table
from perp.lab.palette import Stroke, assign_strokes
from perp.lab.pictures import figure_to_svg, pattern_to_png
from perp.lab.plots import draw_convergence, ranked
from perp.lab.runs.row import LabRow
from perp.problems.files.replacement import replacing
from perp.solvers.fit import misfit
from perp.solvers.roster import BY_NAME, default_methods
from perp.solvers.stopping import Stopping

if TYPE_CHECKING:
    from perp.lab.demo import Instance

TITLE = "Complementarity problems, every method that fits"

ROW_COLUMNS = (
    Column("method"),
    Column("ended"),
    Column("residual", "number"),
    Column("iterations", "number"),
    Column("solve", "number"),
    Column("preparation", "number"),
    Column("per iteration", "number"),
)


def write_report(
    path: Path, instances: Sequence[Instance], rows: Sequence[LabRow], stop: Stopping, machine: Mapping[str, str]
) -> None:
    """One section an instance: what it is, the table of its rows, and how they converged."""
    strokes = assign_strokes(row.name for row in rows)
    sections = [
        _section(instance, [row for row in rows if row.group == instance.name], stop, strokes) for instance in instances
    ]
    body = join(_introduction(instances, rows, stop), *sections, _methods(rows), _machine(machine))
    with replacing(path) as temporary:
        temporary.write_text(page(TITLE, body), encoding="utf-8")


def _introduction(instances: Sequence[Instance], rows: Sequence[LabRow], stop: Stopping) -> Markup:
    limits = f"{stop.max_iterations:,} iterations"
    if stop.max_seconds is not None:
        limits += f" or {stop.max_seconds:g} s"
    lines = [
        (
            element("a", instance.title, href=f"#{instance.name}"),
            instance.problem.kind,
            f"{instance.problem.n:,}",
            _finding([row for row in rows if row.group == instance.name], stop.tol),
        )
        for instance in instances
    ]
    return join(
        element("h1", TITLE),
        element(
            "p",
            "Find x within its bounds so that, with y = A x + b, each y is zero where x lies between its bounds, not "
            "negative where x is at its lower bound, and not positive where x is at its upper bound.",
            class_="lead",
        ),
        element(
            "p",
            "Below, every method of perp that accepts a problem solves it from the same start, x = 0. The ",
            element("strong", "residual"),
            " is the largest entry of x − clip(x − y, lower, upper), with friction bounds that follow the normal "
            "impulse. It is zero exactly at a solution, and is computed from the problem's own data, not taken from "
            f"the method. A method has converged when it is at most {stop.tol:g}. It is stopped after {limits}, and is "
            "then judged by the best of its iterates.",
        ),
        element(
            "p",
            "Times are the method's own. Compiled kernels are loaded by a short run before the measured one, so that "
            "no compilation is counted; neither is the computing of the residual. It is computed "
            + ("after every iteration" if stop.check_every == 1 else "at every check")
            + ", which costs a fast method some microseconds an iteration in calls.",
        ),
        table((Column("problem"), Column("kind"), Column("rows", "number"), Column("finding", "prose")), lines),
    )


def _section(instance: Instance, rows: list[LabRow], stop: Stopping, strokes: Mapping[str, Stroke]) -> Markup:
    figure = draw_convergence(rows, stop.tol, strokes=strokes)
    facts = {name.replace("_", " "): _fact(value) for name, value in vars(instance.problem.info()).items()}
    pattern = pattern_to_png(instance.problem)
    picture = (
        element(
            "figure",
            Markup(f'<img src="{pattern}" alt="Non-zero pattern of A">'),
            element("figcaption", "The non-zero entries of A"),
        )
        if pattern
        else ""
    )
    return element(
        "section",
        element("h2", instance.title),
        element("p", instance.story),
        element("p", _finding(rows, stop.tol), class_="finding"),
        element(
            "figure",
            Markup(figure_to_svg(figure, instance.name)),
            element(
                "figcaption",
                "Residual against iterations and against time, both on logarithmic axes. "
                "A dot: converged. A cross: ended otherwise. What an iteration costs differs from method to method.",
            ),
            class_="plot",
        ),
        table(ROW_COLUMNS, [_cells(row) for row in ranked(rows)]),
        _troubles(instance, rows),
        element("h3", "The problem"),
        element("div", definitions(facts, wide=True), picture, class_="about"),
        element("p", "The same problem as a file, and one of the solves above:", class_="quiet"),
        element("pre", f"{instance.command}\n{_solve_command(instance, rows, stop)}"),
        id=instance.name,
    )


def _finding(rows: Sequence[LabRow], tol: float) -> str:
    """One sentence: who was fastest, or how far the best one came."""
    best = ranked(list(rows))[:1]
    if not best or not isfinite(best[0].residual):
        return "No method gave a result."
    first, converged = best[0], sum(row.success for row in rows)
    if first.success:
        share = f"All {converged}" if converged == len(rows) else f"{converged} of {len(rows)}"
        return (
            f"{share} methods converged; the fastest, {first.name}, took {duration(first.total_seconds)} "
            f"and {first.iterations:,} iterations."
        )
    return (
        f"None of {len(rows)} methods reached {tol:g}; the best, {first.name}, came to {first.residual:.1e} "
        f"in {first.iterations:,} iterations and {duration(first.total_seconds)}."
    )


def _cells(row: LabRow) -> tuple[object, ...]:
    status = element(
        "span",
        row.status.replace("_", " ").lower(),
        class_="status success" if row.success else "status",
        title=row.found.message,
    )
    per_iteration = row["seconds"] / row.iterations if row.iterations else float("nan")
    return (
        element("code", row.name),
        status,
        f"{row.residual:.1e}" if isfinite(row.residual) else "–",
        f"{row.iterations:,}",
        duration(row["seconds"]),
        duration(row["setup_seconds"]),
        duration(per_iteration),
    )


def _troubles(instance: Instance, rows: Sequence[LabRow]) -> Markup:
    """Why some methods have no line: they raised, or the problem is outside their class."""
    raised = [(row.name, row.found.message) for row in rows if "residual" not in row.series]
    reasons = ((method.name, misfit(method, instance.problem)) for method in default_methods())
    together: dict[str, list[str]] = {}
    for name, reason in reasons:
        if reason is not None:
            together.setdefault(reason, []).append(name)
    refused = [(", ".join(names), f"not suited: {reason}") for reason, names in together.items()]
    items = [element("li", element("code", name), f" {reason}") for name, reason in raised + refused]
    return element("ul", join(*items), class_="quiet") if items else Markup("")


def _solve_command(instance: Instance, rows: Sequence[LabRow], stop: Stopping) -> str:
    best = ranked(list(rows))[:1]
    name = plain_name(best[0].name) if best else "auto"
    return f"perp solve {instance.name}.npz --method {name} --max-iterations {stop.max_iterations}"


def _methods(rows: Sequence[LabRow]) -> Markup:
    """What each method is, in its own words."""
    names = dict.fromkeys(plain_name(row.name) for row in rows)
    lines = []
    for method in (BY_NAME[name] for name in names if name in BY_NAME):
        summary = (inspect.getdoc(method) or "").partition("\n\n")[0].replace("\n", " ")
        lines.append((element("code", method.name), method.family, prose(summary), method.reference))
    columns = (Column("name"), Column("family"), Column("what it does", "prose"), Column("reference", "prose"))
    return join(element("h2", "The methods"), table(columns, lines))


def plain_name(label: str) -> str:
    """`quadratic_program` of `quadratic_program(piqp)`: the name that the roster and the command line know."""
    return label.partition("(")[0]


def _machine(machine: Mapping[str, str]) -> Markup:
    return join(element("h2", "Measured with"), definitions(machine, wide=True))


def _fact(value: object) -> str:
    if value is None:
        return "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def duration(seconds: float) -> str:
    """Three digits and the unit that suits them."""
    if not isfinite(seconds):
        return "–"
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"
