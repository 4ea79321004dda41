"""`perp simulate`: run a scene with a method, and say how it went."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from perp.cli.errors import refusing
from perp.cli.group import INTERRUPTED, NOT_CONVERGED
from perp.cli.options import (
    ComplianceUnits,
    ContactCompliance,
    FrictionLaw,
    IterationLimit,
    MethodName,
    MethodOptions,
    SceneSizes,
    Seed,
    StepLength,
    Tolerance,
    read_compliance,
    split_assignments,
)
from perp.cli.simulation_run import Run, advising, build_scene, naming
from perp.cli.simulation_targets import Targets
from perp.cli.solve import choose
from perp.errors import FileFormatError, InvalidProblem, MethodRefused, MissingAbility, MissingExtra

REFUSALS = (MethodRefused, InvalidProblem, MissingAbility, MissingExtra, FileFormatError, OSError, MemoryError)
"""What may turn out at the first step, or when the disk is full."""


def simulate(
    ctx: typer.Context,
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="A scene; 'perp scenes' lists them.")],
    method: MethodName = None,
    steps: Annotated[int, typer.Option(help="How many steps to take.")] = 300,
    dt: StepLength = None,
    size: SceneSizes = None,
    seed: Seed = None,
    model: FrictionLaw = None,
    contact_compliance: ContactCompliance = None,
    compliance_units: ComplianceUnits = None,
    method_option: MethodOptions = None,
    tol: Tolerance = None,
    max_iterations: IterationLimit = None,
    cold: Annotated[
        bool, typer.Option("--cold", help="Start each solve at zero, not where the last one ended.")
    ] = False,
    islands: Annotated[bool, typer.Option("--islands", help="Solve unconnected heaps of bodies apart.")] = False,
    record: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Record every frame and what was measured, as .hdf5.")
    ] = None,
    dump_problems: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every step's problem, with its answer, to this folder.")
    ] = None,
    dump_format: Annotated[str, typer.Option(help="Of these problems: npz, or fclib (cone, no joints).")] = "npz",
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the final state, with forces or speeds, as .png.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
) -> None:
    """Run a scene, and print residuals, iterations, times, the change of energy, and how bodies or liquids fared.

    Options of the scene are options here, too: perp simulate dam_break --dim 3 --cells 48. SCENE --help lists them.

    The first run on a machine compiles what it needs, which takes a minute or two, once.

    Ctrl-C ends the run. What was recorded until then can be read, as it can if the state becomes infinite.

    Exit codes: 0 every step was taken, 1 the state became infinite, 2 bad usage or a bad file, 130 interrupted.
    """
    from perp.cli.progress import following_steps
    from perp.cli.simulation_table import show

    compliance = read_compliance(contact_compliance, compliance_units)
    made = build_scene(scene, size or [], seed, model, cold, ctx, compliance)
    with naming("--method-option"):
        words = split_assignments(method_option or [])
        solver = choose(made.kind.method if method is None else method, words)
    run = Run(made, solver, words, steps, dt, tol, max_iterations, islands)
    settings = run.check()
    targets = Targets(record, dump_problems, dump_format, plot)
    targets.check(run)
    with refusing(*REFUSALS), ExitStack() as stack, advising("add" if method is None else "choose another"):
        folder = targets.open_folder(run, stack)
        recorder = targets.open_recorder(run, settings, stack)
        on_step = stack.enter_context(following_steps(steps, quiet=quiet or json))
        result = run.go(recorder, folder, on_step)
    targets.draw(run, result)
    show(run, result, targets, None if recorder is None else recorder.frames, json)
    if result.ended.name == "NOT_FINITE":
        typer.echo(f"perp: {result.message}", err=True)
        raise typer.Exit(NOT_CONVERGED)
    if result.ended.name == "INTERRUPTED":
        raise typer.Exit(INTERRUPTED)
