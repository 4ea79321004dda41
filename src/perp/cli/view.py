"""`perp view`: a scene or a recording in the browser, live or as one file."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perp import recording as recordings
from perp.cli import progress
from perp.cli.errors import NOT_CONVERGED, CommandError, refusing
from perp.cli.options import (
    GIVEN,
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
from perp.cli.simulate import Run, build_scene, naming
from perp.cli.solve import choose
from perp.errors import FileFormatError, MissingExtra
from perp.viewer import choices, messages, pages, replay, server, simulation

if TYPE_CHECKING:
    from perp.cli.progress import OnCount
    from perp.viewer.messages import Start
    from perp.viewer.pages import Page
    from perp.viewer.simulation import RecordedRun

DEFAULT_SCENE = "stack"
DEFAULT_STEPS = 300
PAGES = (".html", ".htm")


def view(
    ctx: typer.Context,
    scene: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENE",
            help="A scene; 'perp scenes' lists them. Default stack: the page can choose another.",
            show_default=False,
        ),
    ] = None,
    method: MethodName = None,
    method_option: MethodOptions = None,
    size: SceneSizes = None,
    seed: Seed = None,
    model: FrictionLaw = None,
    contact_compliance: ContactCompliance = None,
    compliance_units: ComplianceUnits = None,
    tol: Tolerance = None,
    max_iterations: IterationLimit = None,
    dt: StepLength = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Where to listen on this machine; default a free port.")
    ] = None,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address, and leave it to you to open it.")
    ] = False,
    replay: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Show a recording of 'perp simulate --record'.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one .html file that works offline, and show nothing.")
    ] = None,
    steps: Annotated[
        int | None, typer.Option(help=f"How many steps of the scene to export; default {DEFAULT_STEPS}.")
    ] = None,
) -> None:
    """Watch a scene in the browser: play, pause and step, switch the method, compare two, see forces and convergence.

    perp view wall --method pgs                     live, on this machine

    perp view --replay run.hdf5                     a recording

    perp view stack --export page.html --steps 200  one file, also with --replay

    Options of the scene are options here, too: perp view dam_break --cells 48. SCENE --help lists them.

    The page is for this machine and this address only, which has a random part. Ctrl-C ends server and simulation.

    Exit codes: 0 done (Ctrl-C is how a server ends), 1 exported, but the state became infinite, 2 bad usage or a bad
    file, 130 an export was interrupted.
    """
    flags = {
        "SCENE": scene,
        "--method": method,
        "--method-option": method_option,
        "--size": size,
        "--seed": seed,
        "--model": model,
        "--contact-compliance": contact_compliance,
        "--compliance-units": compliance_units,
        "--tol": tol,
        "--max-iterations": max_iterations,
        "--dt": dt,
        **{f"--{name.replace('_', '-')}": value for name, value in ctx.meta.get(GIVEN, {}).items()},
    }
    if replay is not None:
        _refuse("--replay shows what was recorded", flags | {"--steps": steps})
    if export is None:
        _refuse("without --export nothing is written", {"--steps": steps})
    else:
        _refuse("--export writes a file and starts no server", {"--port": port, "--no-browser": no_browser or None})
        _require_target(export)
    with refusing(OSError, MissingExtra):
        page = pages.read_page()
        if export is None:
            pages.require_packages()
    if replay is None:
        count = DEFAULT_STEPS if steps is None else steps
        start = _check_scene(
            ctx,
            scene or DEFAULT_SCENE,
            method,
            method_option,
            size,
            seed,
            model,
            read_compliance(contact_compliance, compliance_units),
            tol,
            max_iterations,
            dt,
            count,
        )
    else:
        start, count = _check_recording(replay)
    if export is None:
        _show(start, page, port or 0, browse=not no_browser)
    else:
        _export(start, page, count, export)


def _refuse(reason: str, flags: dict[str, object]) -> None:
    """Those that were given have no place here."""
    given = [flag for flag, value in flags.items() if value is not None]
    if given:
        raise CommandError(f"{reason}: leave {' and '.join(given)} away")


def _require_target(path: Path) -> None:
    """Find out before the work, not after it, that the page has no place to go."""
    if path.suffix.lower() not in PAGES:
        raise CommandError(f"--export {path}: pages are written as .html")
    with refusing(OSError):  # a name that is too long
        is_place = path.parent.is_dir() and not path.is_dir()
    if not is_place:
        raise CommandError(f"--export {path}: there is no such folder, or it is not a place for a file")
    if not os.access(path.parent, os.W_OK):
        raise CommandError(f"--export {path}: nothing may be written to that folder")


def _check_scene(
    ctx: typer.Context,
    scene: str,
    method: str | None,
    method_options: list[str] | None,
    sizes: list[str] | None,
    seed: int | None,
    model: str | None,
    compliance: tuple[float, str] | None,
    tol: float | None,
    max_iterations: int | None,
    dt: float | None,
    steps: int,
) -> messages.Start:
    """Build the scene once, so that whatever is wrong with the line is told here, and not in the browser."""
    made = build_scene(scene, sizes or [], seed, model, False, ctx, compliance)
    with naming("--method-option"):
        words = split_assignments(method_options or [])
        solver = choose(made.kind.method if method is None else method, words)
    Run(made, solver, words, steps, dt, tol, max_iterations).check()
    return messages.Start(
        scene=scene,
        options=made.options,
        seed=made.seed,
        model=model,
        compliance=compliance,
        method=method,
        method_options={name: getattr(solver, name) for name in words},
        tol=tol,
        max_iterations=max_iterations,
        dt=dt,
    )


def _check_recording(path: Path) -> tuple[messages.Start, int]:
    """What to show, and how many frames it has."""
    with refusing(FileFormatError, MissingExtra, OSError), recordings.Recording(path) as recording:
        frames = len(recording)
    if not frames:
        raise CommandError(f"{path}: there are no frames in it")
    return messages.Start(replay=str(path.absolute())), frames


def _show(start: Start, page: Page, port: int, *, browse: bool) -> None:
    def tell(address: str) -> None:
        typer.echo(f"{_name(start)}: {address}\nCtrl-C ends it.")
        if browse:
            server.open_browser(address)

    try:
        listener = server.listen(port)
    except OSError as error:
        raise CommandError(
            f"--port {port}: {error.strerror}: choose another one, or none, which finds a free port"
        ) from error
    with closing(listener):
        server.serve(start, page, listener, on_ready=tell)


def _export(start: Start, page: Page, count: int, path: Path) -> None:
    with refusing(choices.Refusal, OSError, MemoryError):
        with progress.counting_frames(count) as on_step:
            run = _record(start, count, on_step)
        written = pages.export_page(path, run, f"perp: {_name(start)}", page)
    typer.echo(f"wrote {path}: {len(run.frames):,} frames, {written / 1e6:.1f} MB; it opens in any browser, offline")
    if written > pages.LARGE:
        typer.echo(
            f"perp: warning: browsers take long to open more than {pages.LARGE / 1e6:.0f} MB; use fewer steps",
            err=True,
        )
    if run.note is not None:
        typer.echo(f"perp: {run.note}", err=True)
        raise typer.Exit(NOT_CONVERGED)


def _record(start: Start, count: int, on_step: OnCount | None) -> RecordedRun:
    if start.replay is not None:
        return replay.load_recording(start.replay, on_step)

    return simulation.run_steps(start, count, on_step)


def _name(start: Start) -> str:
    return start.scene if start.replay is None else Path(start.replay).name
