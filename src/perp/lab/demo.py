"""The demonstration: boxes on boxes and a fluid, solved by every method that suits them.

`report.html` has rows and figures in one file that needs nothing from elsewhere, `results.json` the numbers.
"""

from __future__ import annotations

import inspect
import os
import platform
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from perp.extras import matplotlib
from perp.lab.page import Column, Markup, definitions, duration, element, join, page, prose, table
from perp.lab.palette import Stroke, assign_strokes
from perp.lab.plots import draw_convergence, figure_to_svg, pattern_to_png, ranked
from perp.lab.results import write_results
from perp.lab.runs.process import perform
from perp.lab.runs.row import LabRow
from perp.lab.runs.runner import Here, Reporter, Runner
from perp.lab.work.recipes import gallery, make_instance
from perp.lab.work.solve import Trial
from perp.problems.files.guard import replacing
from perp.problems.problem import Problem
from perp.recording.frame import package_versions
from perp.solvers.method import Method, misfit
from perp.solvers.roster import BY_NAME, default_methods, suitable_methods
from perp.solvers.stopping import Stopping

STOP = Stopping(max_iterations=10_000, max_seconds=5.0, check_every=1)
"""Every iteration is looked at, so that the figures show all of them."""

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


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with a name and a story, so that tables and reports can speak of it.

    `name` is the short word in tables, `title` the heading, `story` what the reader should know before looking.
    """

    name: str
    title: str
    story: str
    problem: Problem
    recipe: Mapping[str, Any]

    @property
    def command(self) -> str:
        """The command line that writes this very problem to a file."""
        kind, n, seed = (str(self.recipe[name]) for name in ("gallery", "n", "seed"))
        words = ["perp", "generate", kind, "--n", n, "--seed", seed]
        for key, value in self.recipe["options"].items():
            words += ["--option", f"{key}={value}"]
        return shlex.join([*words, "--out", f"{self.name}.npz"])


def from_gallery(name: str, title: str, story: str, *, kind: str, n: int, seed: int = 0, **options: Any) -> Instance:
    """An instance of a kind of the gallery."""
    recipe = gallery(kind, n, seed, **options)
    return Instance(name, title, story, make_instance(recipe).problem, recipe)


@dataclass(frozen=True)
class Demo:
    """What a demonstration made."""

    rows: list[LabRow]
    report: Path
    results: Path


def demo_instances(n: int = 1000) -> list[Instance]:
    """The problems of the demonstration, each of about n rows."""
    return [
        from_gallery(
            "stack",
            "A wall of boxes, friction in a box",
            "The first time step of a wall of rigid boxes that is almost at rest under gravity. Each face touches the "
            "next in four points; each point has a normal impulse and two friction impulses, each of which is bounded "
            "by itself, by the friction coefficient times the normal impulse. A face has twelve impulses for the six "
            "ways in which two boxes can move against each other, so that A is singular and the impulses are not "
            "unique. Every box leans on others, down to the ground, while a sweep hands impulses on from neighbour to "
            "neighbour: that is why sweeping methods, though quick at first, are slow in the end.",
            kind="box_stack",
            n=n,
            load="gravity",
        ),
        from_gallery(
            "stack-cone",
            "The same wall, friction in a cone",
            "Coulomb's law without the approximation: the two friction impulses of a point are bounded together, by a "
            "disc whose radius is the friction coefficient times the normal impulse, and they oppose the slip.",
            kind="box_stack",
            n=n,
            load="gravity",
            model="cone",
        ),
        from_gallery(
            "pile",
            "A pile of boxes, friction bounds known in advance",
            "Boxes of very different mass, each on four others, as a boxed problem: every friction impulse is bounded "
            "by the weight that rests above, which does not change during the solve. Half of the rows would be "
            "redundant but for a compliance of 1e-8, the heaviest box weighs a thousand times the lightest, and the "
            "condition number of A is some 1e9. Interior points take that in their stride; sweeps and gradients do "
            "not.",
            kind="boxed_pile",
            n=n,
            load="gravity",
        ),
        from_gallery(
            "fluid",
            "Pressure of a fluid with a free surface",
            "Where there is fluid the pressure is positive, where there is none it is zero, and which is which is part "
            "of the question: a linear complementarity problem with the seven-point Laplacian of a cube of cells. A is "
            "symmetric positive definite, so that there is exactly one solution.",
            kind="poisson_3d",
            n=n,
        ),
    ]


def run_demo(folder: Path, *, reporter: Reporter[LabRow] | None = None, n: int = 1000, stop: Stopping = STOP) -> Demo:
    """Solve, and write `report.html` and `results.json` into `folder`, which is made if need be."""
    matplotlib.require()
    folder.mkdir(parents=True, exist_ok=True)
    instances = demo_instances(n)
    rows = solve_all(instances, stop, reporter=reporter)
    machine = machine_facts()
    demo = Demo(rows, folder / "report.html", folder / "results.json")
    write_results(demo.results, rows, stop, machine)
    write_report(demo.report, instances, rows, stop, machine)
    return demo


def solve_all(
    instances: Sequence[Instance],
    stop: Stopping,
    *,
    methods: Callable[[Problem], Iterable[Method]] = suitable_methods,
    reporter: Reporter[LabRow] | None = None,
) -> list[LabRow]:
    """Solve each instance with each method that `methods` names for it: by default every suitable one of the roster."""
    tasks = [
        Trial("solve", at.recipe, method.label, stop=asdict(stop), group=at.name, problem=at.problem, solver=method)
        for at in instances
        for method in methods(at.problem)
    ]
    runner = Runner(lambda: Here(perform), reporter)
    runner.reporter.planned(len(tasks), 0)
    return list(runner.run(tasks))


def machine_facts() -> dict[str, str]:
    """Where it was measured: versions and processor count, as a report shows them; nothing names the machine."""
    return {
        **package_versions(),
        "processors": f"{os.cpu_count()} x {platform.machine()}",
        "system": platform.system(),
    }


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
