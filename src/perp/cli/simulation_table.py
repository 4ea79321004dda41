"""The summary of a run: lines for a person, or one JSON object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from perp.cli.simulation_run import Run
    from perp.cli.simulation_targets import Targets
    from perp.lab.simulation_summary import Summary


def show(run: Run, summary: Summary, targets: Targets, frames: int | None, as_json: bool) -> None:
    """`frames` were recorded."""
    if as_json:
        from perp.lab.results import to_json

        typer.echo(to_json(describe_run(run, summary) | targets.written()))
        return
    lines = summary_lines(run, summary)
    width = max(map(len, lines))
    for name, value in lines.items():
        typer.echo(f"{name:>{width}}  {value}")
    for name, path in targets.written().items():
        if path is not None:
            typer.echo(f"wrote {path}{f' ({frames} frames)' if name == 'record' else ''}")


def describe_run(run: Run, summary: Summary) -> dict[str, Any]:
    made = run.scene
    head = {
        "scene": made.name,
        "options": dict(made.options),
        "seed": made.seed,
        "run": run.settings(),
        "bodies": len(summary.frame.position),
        "success": summary.ended.name == "DONE",
    }
    return head | summary.as_row()


def summary_lines(run: Run, summary: Summary) -> dict[str, str]:
    made = run.scene
    options = "".join(f", {name}={value}" for name, value in made.options.items())
    model = getattr(made.world, "model", None)
    settings = "".join(f", {name}={value}" for name, value in run.method_options.items())
    took = f"{summary.steps} of {summary.steps_wanted} steps of {summary.dt:.6g} s"
    lines = {
        "scene": f"{made.name}{options}{f', seed={made.seed}' if made.kind.seeded else ''}",
        "bodies": f"{len(summary.frame.position):,}{f'; {model} friction' if model else ''}",
        "method": f"{summary.method}{settings}",
        "ended": f"{summary.ended.name}: {summary.message} ({took})",
    }
    if summary.steps == 0:
        return lines
    lines |= {
        "contacts": f"{summary.contacts_mean:,.0f} mean, {summary.contacts_max:,} max; at most "
        f"{summary.rows_max:,} rows",
        "converged": f"{_converged(run, summary)}; {summary.warm:,} started from the last impulses",
        "residual": f"{summary.residual_mean:.2e} mean, {summary.residual_max:.2e} max",
        "energy error": f"{summary.energy_error_mean:.2e} J mean, {summary.energy_error_max:.2e} J max",
        "iterations": f"{summary.iterations_mean:,.1f} mean, {summary.iterations_max:,} max",
        "solver": f"{_time(summary.solve_seconds_mean)} mean, {_time(summary.solve_seconds_median)} median a step",
        "step": f"{_time(summary.step_seconds_mean)} mean, {_time(summary.step_seconds_median)} median: "
        f"{summary.steps_per_second:,.0f} steps/s; collisions {summary.collide_share:.0%}, assembly "
        f"{summary.assemble_share:.0%}, solver {summary.solve_share:.0%}, motion {summary.move_share:.0%}",
        "first step": f"{_time(summary.first_step_seconds)}, with the loading of kernels; not in the times above",
        "penetration": f"{1e3 * summary.penetration_max:.3g} mm max",
        "energy": f"{summary.energy_start:.4g} J to {summary.energy_end:.4g} J: change {summary.energy_drift:+.2%}, "
        f"largest gain of a step {max(summary.energy_rise, 0.0):.2g} of the start",
        "fingerprint": f"{summary.fingerprint[:16]} of the final state",
    }
    return lines


def _converged(run: Run, summary: Summary) -> str:
    """How many steps, out of how many; where they are not all, whether their iterations had a limit."""
    from perp.solvers.stopping import Stopping

    tol = Stopping().tol if run.tol is None else run.tol
    told = f"{summary.converged:,} of {summary.steps:,} steps within tol {tol:.3g}"
    limit = run.max_iterations
    if limit is None or summary.converged == summary.steps or summary.iterations_max < limit:
        return told
    own = ", the scene's own" if run.has_own_limit else ""
    return f"{told} (limit {limit:,} iterations a step{own})"


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"
