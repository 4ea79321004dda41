"""The Python that makes a step again, bit by bit."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from perp.scenes import kinds
from perp.version import __version__
from perp.viewer.messages import Compare
from perp.viewer.sessions.method_choice import MethodChoice
from perp.viewer.sessions.recipe import Recipe
from perp.viewer.sessions.saving import name_file
from perp.viewer.sessions.step_log import Span, StepLog

MethodLog = StepLog[MethodChoice]


def tell_step(
    recipe: Recipe,
    step: int,
    methods: Sequence[MethodLog],
    compares: StepLog[Compare] | None = None,
    version: str = __version__,
) -> str:
    """A program that ends with `world` after this step, and `report` of it.

    `methods` has one log a lane. Where a second method was at work in this step, its answer is made as well.
    """
    made = f"step {step:,}" if step else "the beginning"
    head = [f"# {recipe.scene}, {made}; perp {version}", "import perp", "", *_tell_world(recipe, "world")]
    if step == 0:
        return _text(head)
    path = methods[0].spans(1, step)
    lines = [*head, "", *_tell_steps(path, "world", "report"), "", "print(report)", _tell_save(recipe.scene, step)]
    since, _, compare = Span(1, step, "off") if compares is None else compares.at(step)
    if compare == "same_state":
        answer = _tell_solve(methods[1].at(step).value, "report.problem", "report.x0")
        lines += ["", "# the second method on the problem of the same step", f"second = {answer}", "print(second)"]
    elif compare == "own_ways":
        path = [*methods[0].spans(1, since - 1), *methods[1].spans(since, step)]
        lines += ["", f"# the second method, which went its own way from step {since:,} on"]
        lines += [*_tell_world(recipe, "second_world"), ""]
        lines += [*_tell_steps(path, "second_world", "second_report"), "", "print(second_report)"]
    return _text(lines)


def tell_recorded_frame(path: str, place: int) -> str:
    """A program that reads a frame of a recording, where nothing is known that would make it again."""
    lines = [
        f"# frame {place:,} of a recording: what made it is not written in it; perp {__version__}",
        "import perp",
        "",
        f"with perp.recording.Recording({_literal(path)}) as recording:",
        f"    frame = recording[{place}]",
        "print(frame)",
    ]
    return _text(lines)


def _tell_world(recipe: Recipe, name: str) -> list[str]:
    kind = kinds()[recipe.scene]
    changed = {key: value for key, value in recipe.options.items() if value != kind.options[key].default}
    if kind.seeded:
        changed["seed"] = recipe.seed
    lines = [f"{name} = perp.scenes.make({_arguments([_literal(recipe.scene)], changed)}).world"]
    if recipe.model is not None:
        lines.append(f"{name}.model = {_literal(recipe.model)}")
    if recipe.warm_start is not None:
        lines.append(f"{name}.warm_start = {recipe.warm_start!r}")
    if recipe.compliance is not None:
        value, units = recipe.compliance
        lines.append(f"{name}.contact_compliance, {name}.compliance_units = {value!r}, {_literal(units)}")
    return [*lines, f"dt = {recipe.step_seconds!r}"]


def _tell_steps(path: Iterable[Span[MethodChoice]], world: str, report: str) -> list[str]:
    lines = []
    for first, last, method in path:
        lines.append(f"for _ in range({last - first + 1}):  # {_name_steps(first, last)}")
        lines.append(f"    {report} = {world}.step(dt, lambda problem, x0: {_tell_solve(method, 'problem', 'x0')})")
    return lines


def _name_steps(first: int, last: int) -> str:
    return f"step {first:,}" if first == last else f"steps {first:,} to {last:,}"


def _tell_solve(method: MethodChoice, problem: str, x0: str) -> str:
    """`perp.solve(problem, perp.PSOR(relaxation=1.2), x0=x0, tol=1e-06)`."""
    chosen = f"perp.{method.class_name}({_arguments([], method.options)})" if method.options else _literal(method.name)
    limits = {"tol": method.tol, "max_iterations": method.max_iterations}
    given = {name: value for name, value in limits.items() if value is not None}
    function = "solve_islands" if method.islands else "solve"
    return f"perp.{function}({_arguments([problem, chosen, f'x0={x0}'], given)})"


def _tell_save(scene: str, step: int) -> str:
    return f"perp.save(report.problem, {_literal(name_file(scene, step, 'npz'))}, x=report.x)"


def _arguments(words: Sequence[str], named: Any) -> str:
    return ", ".join([*words, *(f"{name}={_literal(value)}" for name, value in named.items())])


def _literal(value: Any) -> str:
    """`repr` with the quotation marks of this project."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
