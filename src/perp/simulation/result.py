"""What a run of a world leaves: what each step measured, how it ended, and the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from perp.problems.inputs import Vector
from perp.recording.frame import Frame, LiquidFrame
from perp.simulation import result_text as result_texts
from perp.simulation.kinds import kind_of
from perp.simulation.settings import RunSettings
from perp.simulation.summary import Ending, Summary, summarise
from perp.solvers.results import Status
from perp.worlds.report import StepReport
from perp.worlds.world import World


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
    penetration, energy_mean, energy_max, of a liquid volume, divergence and others. `perp.simulation.kinds` says what
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
        return result_texts.result_text(self)
