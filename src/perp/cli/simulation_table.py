"""The summary of a run: lines for a person, or one JSON object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from perp.cli.simulation_run import Run
    from perp.cli.simulation_targets import Targets
    from perp.simulation import SimulationResult


def show(run: Run, result: SimulationResult, targets: Targets, frames: int | None, as_json: bool) -> None:
    """`frames` were recorded."""
    if as_json:
        from perp.lab.results import to_json

        typer.echo(to_json(describe_run(run, result) | targets.written()))
        return
    from perp.simulation.result_text import result_text

    typer.echo(result_text(result, run.method_options))
    for name, path in targets.written().items():
        if path is not None:
            typer.echo(f"wrote {path}{f' ({frames} frames)' if name == 'record' else ''}")


def describe_run(run: Run, result: SimulationResult) -> dict[str, Any]:
    made = run.scene
    head = {
        "scene": made.name,
        "options": dict(made.options),
        "seed": made.seed,
        "run": result.settings.tell(run.method_options),
        "success": result.success,
    }
    bodies = {} if made.world.grid() is not None else {"bodies": len(result.frame.position)}
    return head | bodies | result.summary().as_row()
