"""What a run of a world leaves: what each step measured, how it ended, and the world; printed, it is a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perp.problems.inputs import Vector
from perp.recording.frame import Frame, LiquidFrame
from perp.scenes.catalogue import Scene
from perp.simulation.settings import RunSettings
from perp.simulation.summary import ContactSummary, Ending, LiquidSummary, Summary, kind_of, summarise
from perp.solvers.results import Status
from perp.solvers.stopping import DEFAULT_STOPPING
from perp.worlds.world import StepReport, World


@dataclass(frozen=True, eq=False, repr=False)
class SimulationResult:
    """The steps of a run in numbers; `print(result)` tells what matters."""

    settings: RunSettings
    """What was run: scene, method, limits, dt."""
    ended: Ending
    message: str
    steps_wanted: int
    failed_step: int | None
    """The step after which the state would not have been finite."""
    energy_start: float
    """Kinetic and potential [J], from the zero of height that the scene chose."""
    statistics: Mapping[str, Vector]
    """A column with a number for each step, by name: residual, iterations, converged, warm, rows, energy, seconds and
    those of its parts (collide_seconds, assemble_seconds, solve_seconds, move_seconds); of bodies also contacts,
    penetration, energy_mean, energy_max, of a liquid volume, divergence and others. `perp.simulation.summary` says what
    they mean."""
    statuses: tuple[Status | None, ...]
    """How the solve of each step ended; None where a function of one's own does not tell."""
    report: StepReport | None
    """Of the last step: its contacts, its problem, what the solver found; None where no step was taken."""
    frame: Frame | LiquidFrame
    """The final state, with the contacts (or the pressure) of the last step."""
    fingerprint: str
    """The hash of the final state: runs that agree in it are the same, bit by bit."""

    @property
    def success(self) -> bool:
        """Whether every step was taken. How well each was solved, `statuses` and `statistics` tell."""
        return self.ended is Ending.DONE

    @property
    def steps(self) -> int:
        """Taken, with a finite state after each."""
        return len(self.statuses)

    @property
    def world(self) -> World:
        """The one that was moved; another call of `perp.simulate` takes it on."""
        return self.settings.world

    def summary(self) -> Summary:
        """Means, maxima and medians of all steps; `summary.as_row()` is a dict of plain numbers and words."""
        facts = {
            "ended": self.ended,
            "message": self.message,
            "steps_wanted": self.steps_wanted,
            "failed_step": self.failed_step,
            "method": self.settings.method_name,
            "dt": self.settings.dt,
            "fingerprint": self.fingerprint,
        }
        return summarise(kind_of(self.world).summary, self.statistics, self.energy_start, facts)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary().tell()}>"

    def __str__(self) -> str:
        return result_text(self)


# A run in lines for a person.


def result_text(result: SimulationResult, method_options: Mapping[str, str] | None = None) -> str:
    """A line for each thing; `method_options` as in `RunSettings.tell`."""
    lines = _lines(result, method_options)
    width = max(map(len, lines))
    return "\n".join(f"{name:>{width}}  {value}" for name, value in lines.items())


def _lines(result: SimulationResult, method_options: Mapping[str, str] | None) -> dict[str, str]:
    settings, summary = result.settings, result.summary()
    scene = settings.scene
    if method_options is None:
        method_options = settings.tell().get("method_options", {})
    took = f"{summary.steps} of {summary.steps_wanted} steps of {summary.dt:.6g} s"
    lines = {
        **({} if scene is None else {"scene": f"{scene.name}{_words(scene.options)}{_seed(scene)}"}),
        **_things(result),
        "method": f"{summary.method}{_words(method_options)}",
        "ended": f"{summary.ended.name}: {summary.message} ({took})",
    }
    if summary.steps == 0:
        return lines
    is_liquid = settings.world.grid() is not None
    last, first_part = ("pressures", "particles to grid") if is_liquid else ("impulses", "collisions")
    return lines | {
        **_load(summary),
        "converged": f"{_converged(settings, summary)}; {summary.warm:,} started from the last {last}",
        "residual": f"{summary.residual_mean:.2e} mean, {summary.residual_max:.2e} max",
        "iterations": f"{summary.iterations_mean:,.1f} mean, {summary.iterations_max:,} max",
        "solver": f"{_time(summary.solve_seconds_mean)} mean, {_time(summary.solve_seconds_median)} median a step",
        "step": f"{_time(summary.step_seconds_mean)} mean, {_time(summary.step_seconds_median)} median: "
        f"{summary.steps_per_second:,.0f} steps/s; {first_part} {summary.collide_share:.0%}, assembly "
        f"{summary.assemble_share:.0%}, solver {summary.solve_share:.0%}, motion {summary.move_share:.0%}",
        "first step": f"{_time(summary.first_step_seconds)}, with the loading of kernels; not in the times above",
        **_motion(summary, result.frame.dimension),
        "energy": f"{summary.energy_start:.4g} J to {summary.energy_end:.4g} J: change {summary.energy_drift:+.2%}, "
        f"largest gain of a step {max(summary.energy_rise, 0.0):.2g} of the start",
        "fingerprint": f"{summary.fingerprint[:16]} of the final state",
    }


def _words(options: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value}" for name, value in options.items())


def _seed(scene: Scene) -> str:
    return f", seed={scene.seed}" if scene.kind.seeded else ""


def _things(result: SimulationResult) -> dict[str, str]:
    """What moves."""
    world, count = result.world, len(result.frame.position)
    grid = world.grid()
    if grid is not None:
        shape = " x ".join(map(str, grid.cells))
        return {"liquid": f"{count:,} particles in {shape} cells of {grid.spacing:.4g} m"}
    model, compliance = getattr(world, "model", None), getattr(world, "contact_compliance", 0.0)
    soft = f", compliance {compliance:g} {getattr(world, 'compliance_units', '')}" if compliance else ""
    return {"bodies": f"{count:,}{f'; {model} friction' if model else ''}{soft}"}


def _load(summary: Summary) -> dict[str, str]:
    """How much there was to solve for."""
    rows = f"at most {summary.rows_max:,} rows"
    if isinstance(summary, ContactSummary):
        return {"contacts": f"{summary.contacts_mean:,.0f} mean, {summary.contacts_max:,} max; {rows}"}
    if isinstance(summary, LiquidSummary):
        separating = f"separating {summary.separating_mean:,.1f} mean, {summary.separating_max:,} max"
        return {"cells": f"with liquid {summary.liquid_cells_max:,} max; {separating}; {rows}"}
    return {"rows": rows}


def _motion(summary: Summary, dimension: int) -> dict[str, str]:
    """How well what moves kept to what it should do."""
    if isinstance(summary, ContactSummary):
        return {
            "energy error": f"{summary.energy_error_mean:.2e} J mean, {summary.energy_error_max:.2e} J max",
            "penetration": f"{1e3 * summary.penetration_max:.3g} mm max",
        }
    if isinstance(summary, LiquidSummary):
        unit = "m^2" if dimension == 2 else "m^3"
        return {
            "divergence": f"{summary.divergence_max:.2e} 1/s max; separating cells grow by {summary.outflow_max:.3g} "
            f"1/s at most",
            "volume": f"{summary.volume_start:.4g} {unit} to {summary.volume_end:.4g} {unit}: "
            f"change {summary.volume_drift:+.2%}",
            "height": f"{summary.height_start:.4g} m to {summary.height_end:.4g} m, the mean of the particles; fastest "
            f"{summary.fastest_max:.3g} m/s",
        }
    return {}


def _converged(settings: RunSettings, summary: Summary) -> str:
    """How many steps, out of how many; where they are not all, whether their iterations had a limit."""
    tol = DEFAULT_STOPPING.tol if settings.tol is None else settings.tol
    counted = f"{summary.converged:,} of {summary.steps:,} steps within tol {tol:.3g}"
    limit = settings.max_iterations
    if limit is None or summary.converged == summary.steps or summary.iterations_max < limit:
        return counted
    own = ", the scene's own" if settings.has_own_limit else ""
    return f"{counted} (limit {limit:,} iterations a step{own})"


def _time(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"
