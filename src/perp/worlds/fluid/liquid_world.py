"""A world of liquid: particles that carry it, a staggered grid that keeps it incompressible, walls that it may leave.

particles to grid, free surface -> body force -> pressure -> velocities -> particles -> motion
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from perp.errors import InvalidProblem, StateNotFinite
from perp.problems.inputs import (
    Vector,
    as_matrix,
    as_vector,
    freeze,
    require_count,
    require_number,
    require_real_dtype,
    require_share,
)
from perp.recording.frame import LiquidFrame, LiquidGrid, Shape
from perp.worlds.fluid.flow import (
    carry_particles,
    collect_velocity,
    drop_pressure,
    fastest_of,
    find_outside,
    find_surface,
    is_sound,
    mean_height,
    return_velocity,
)
from perp.worlds.fluid.pressure import FORMS, SEPARATIONS, PressureProblem, make_pressure_problem, require_choice
from perp.worlds.fluid.solids import Distance
from perp.worlds.fluid.vessel import StaggeredGrid, Vessel
from perp.worlds.world import OVERFLOWING, Solve, StepReport, StepSeconds, World, read_answer, require_callable


class LiquidOptions:
    """How a step is made; `LiquidWorld` says what each option does."""

    warm_start: bool
    _separation: str
    _form: str
    _flip: float
    _volume_correction: float

    @property
    def separation(self) -> str:
        return self._separation

    @separation.setter
    def separation(self, word: str) -> None:
        require_choice(word, "separation", SEPARATIONS)
        self._separation = word

    @property
    def form(self) -> str:
        return self._form

    @form.setter
    def form(self, word: str) -> None:
        require_choice(word, "form", FORMS)
        self._form = word

    @property
    def flip(self) -> float:
        return self._flip

    @flip.setter
    def flip(self, share: float) -> None:
        require_share(share, "flip")
        self._flip = float(share)

    @property
    def volume_correction(self) -> float:
        return self._volume_correction

    @volume_correction.setter
    def volume_correction(self, share: float) -> None:
        require_share(share, "volume_correction")
        self._volume_correction = float(share)


GRAVITY = 9.80665
"""[m/s^2]"""


class LiquidWorld(LiquidOptions, World):
    """A liquid without viscosity in a vessel that does not move, with a free surface.

    A step turns the velocities of particles into velocities on the grid, adds dt times gravity, takes away what would
    compress the liquid or drive it into a wall, hands the change back to the particles (FLIP, with a share of PIC; Zhu
    & Bridson 2005), and carries them along with the velocity on the grid: semi-implicit Euler in time, third order
    along the stream. No step is too long to be stable, as a particle crosses about one cell at a time, but several
    cells a step blur what happens on the way. The tolerance of a solver is a share of the volume of a cell in a step:
    velocities are off by about that share of a cell a step, which says little if steps are very short.

    Copies (`copy.copy` and `copy.deepcopy` alike) and pickles go on as the original would, and share nothing with it.

    Parameters
    ----------
    position
        n x d [m], d = 2 or 3; `seed_particles` makes them. Steps push those in the solid out of it.
    cells, spacing, origin
        (nx, ny) or (nx, ny, nz), edge of a cell [m], lower corner of the grid [m]. Outside of it is solid.
    solid
        A function of points (m x d) that returns m signed distances [m], negative in the solid; see
        `perp.worlds.fluid.solids`. It is sampled at the corners of cells.
    velocity
        n x d, or one vector for all [m/s].
    density
        [kg/m^3], in the plane [kg/m^2].
    gravity
        A vector [m/s^2]; 9.80665 down the last axis where none is given.
    flip
        The share of what the grid cannot hold of a particle's velocity that it keeps in a step: 0 is PIC, 1 is FLIP.
    separation
        Whether liquid may leave a wall: "none", "walls", "everywhere"; see `perp.worlds.fluid.pressure`.
    form
        Of the pressure problem: "stencil", a row for each cell of the grid, or "sparse", for liquid cells only.
    per_axis
        As many particles an axis a cell stand for a full cell.
    volume_correction
        The share of the liquid that is too much, or too little, in a cell that is driven out of it, or into it, while
        the fastest particle crosses a cell, or in a step that is longer. Without, the particles of a splash end up
        denser than they began, and volume is lost.
    warm_start
        Whether a solve starts from the pressure of the last step.
    """

    warm_start: bool
    steps: int
    time: float

    def __init__(
        self,
        position: Any,
        cells: Sequence[int],
        spacing: float,
        *,
        origin: Any = None,
        solid: Distance | None = None,
        velocity: Any = None,
        density: float = 1000.0,
        gravity: Any = None,
        flip: float = 0.97,
        separation: str = "walls",
        form: str = "stencil",
        per_axis: int = 2,
        volume_correction: float = 0.5,
        warm_start: bool = True,
    ) -> None:
        self.time, self.steps = 0.0, 0
        self.staggered: StaggeredGrid = StaggeredGrid(cells, spacing, origin)
        d = self.staggered.dimension
        self.gravity: Vector = _read_gravity(gravity, d)
        require_number(density, "density", positive=True)
        require_count(per_axis, "per_axis", least=1)
        self.density: float = float(density)
        self.particle_volume: float = (self.staggered.spacing / per_axis) ** d
        self.separation, self.form, self.flip, self.warm_start = separation, form, flip, warm_start
        self.volume_correction = volume_correction
        self._vessel = Vessel(self.staggered, solid)
        self.position: NDArray[np.float64] = np.array(as_matrix(position, "position"))
        """n x d [m]; may be changed between steps."""
        n = len(self.position)
        given = np.zeros((n, d)) if velocity is None else np.asarray(velocity)
        self.velocity: NDArray[np.float64] = np.array(
            as_matrix(np.tile(given, (n, 1)) if given.ndim == 1 else given, "velocity")
        )
        """n x d [m/s]; may be changed between steps."""
        self._pressure: Vector | None = None
        self._require_state()

    def __repr__(self) -> str:
        grid = " x ".join(f"{count:,}" for count in self.staggered.cells)
        held = f"{len(self.position):,} particles, {grid} cells, separation {self.separation!r}"
        return f"<{type(self).__name__}: {held}, t = {self.time:.6g} s, {self.steps:,} steps>"

    def step(self, dt: float, solve: Solve) -> LiquidReport:
        """Move the liquid on by dt [s] with the pressure from `solve(problem, x0)`."""
        require_number(dt, "dt", positive=True)
        require_callable(solve)
        ratio = min(self.staggered.spacing / float(dt), OVERFLOWING)
        if not OVERFLOWING**-2 < self.density * ratio**2 < OVERFLOWING**2:
            raise InvalidProblem(f"dt is {dt}; pressures have the unit density (spacing / dt)^2, which is out of range")
        begun = perf_counter()
        self._require_state()
        position, velocity = self.position.reshape(-1), self.velocity.reshape(-1)
        share = self.particle_volume / self.staggered.spacing**self.staggered.dimension
        level, liquid, excess = find_surface(self._vessel, position, share)
        volume = self._vessel.volume_below(level)
        old, weight = collect_velocity(self._vessel, position, velocity)
        star = [one + dt * pull for one, pull in zip(old, self.gravity, strict=True)]
        if not all(is_sound(one) for one in star):
            raise StateNotFinite(self.steps + 1, self.time)
        found = perf_counter()
        made = make_pressure_problem(
            self.staggered,
            self._vessel.fractions,
            level,
            liquid,
            star,
            float(dt),
            separation=self.separation,
            form=self.form,
            wanted=self.volume_correction * self._crossed(float(dt)) * excess,
        )
        x0 = self._recall(made)
        assembled = perf_counter()
        solution = solve(made.problem, None if x0 is None else x0.copy())  # a solver may work in place
        x = read_answer(solution)
        if x.shape != (made.problem.n,):
            raise InvalidProblem(f"x of the solution has shape {x.shape}; the problem has {made.problem.n} unknowns")
        solved = perf_counter()
        y = self._move(made, x, old, star, weight)
        self.steps += 1
        self.time += float(dt)
        moved = perf_counter()
        seconds = StepSeconds(found - begun, assembled - found, solved - assembled, moved - solved)
        return LiquidReport(
            self.steps,
            self.time,
            made.problem,
            x0,
            x,
            solution,
            seconds,
            made,
            y,
            self.density,
            len(self.position),
            volume,
            mean_height(self.position, self.gravity),
            fastest_of(self.velocity),
        )

    def _move(
        self, made: PressureProblem, x: Vector, old: list[Vector], star: list[Vector], weight: list[Vector]
    ) -> Vector:
        """New velocities and positions; returns the net outflow. Raises, and changes nothing, where not finite."""
        with np.errstate(all="ignore"):
            y = made.problem.A.slack(x, made.problem.b, np.empty(x.size))
            sound = is_sound(x) and is_sound(y)
        if sound:
            new = drop_pressure(self._vessel, made, made.on_cells(x), made.separating(x, y), star, weight)
            sound = all(is_sound(one) for one in new)
        if sound:
            velocity = return_velocity(self._vessel, self.position, self.velocity, self.flip, old, new)
            position = carry_particles(self._vessel, made.dt, new, self.position, velocity)
            sound = is_sound(velocity) and is_sound(position)
        if not sound:
            raise StateNotFinite(self.steps + 1, self.time)
        self.position, self.velocity = position, velocity
        scale = self.density * (self.staggered.spacing / made.dt) ** 2
        self._pressure = freeze(np.where(made.liquid != 0, scale * made.on_cells(x), 0.0))
        return y

    def _crossed(self, dt: float) -> float:
        """How much of a cell is crossed in a step at most, by the fastest particle and waves of a cell's length.

        Correcting the volume makes liquid move by a share of a cell. In a step, however short, that would be at any
        speed: the short steps of a splash would add energy to it. So it takes as long as crossing a cell does.
        """
        spacing = self.staggered.spacing
        waves = float(np.sqrt(np.linalg.norm(self.gravity) * spacing))
        return min(1.0, (fastest_of(self.velocity) + waves) * dt / spacing)

    def _recall(self, made: PressureProblem) -> Vector | None:
        """The pressure of the last step, where there is liquid still, if it takes energy out of the step.

        1/2 x^T A x + b^T x is below its value at zero then; the rule of `perp.worlds.contacts`.
        """
        if not self.warm_start or self._pressure is None:
            return None
        scale = (made.dt / self.staggered.spacing) ** 2 / self.density
        start = made.problem.project(made.of_unknowns(np.where(made.liquid != 0, scale * self._pressure, 0.0)))
        with np.errstate(all="ignore"):
            y = made.problem.A.slack(start, made.problem.b, np.empty(start.size))
            return start if float(np.sum(start * (y + made.problem.b))) < 0.0 else None

    def forget_pressure(self) -> None:
        """Start the next step cold: after particles were moved by hand."""
        self._pressure = None

    def _require_state(self) -> None:
        """Whether there is a particle for each velocity, inside the grid."""
        d = self.staggered.dimension
        for name in ("position", "velocity"):
            given = np.asarray(getattr(self, name))
            require_real_dtype(given.dtype, name)
            if given.ndim != 2 or given.shape[1] != d or len(given) != len(self.position):
                count = "n" if name == "position" else len(self.position)
                raise InvalidProblem(f"{name} has shape {given.shape}; {count} x {d} is needed")
            setattr(self, name, np.ascontiguousarray(given, dtype=np.float64))
        if not (is_sound(self.position) and is_sound(self.velocity)):
            raise StateNotFinite(self.steps + 1, self.time)
        i = find_outside(self.position, self.staggered.origin, self.staggered.upper)
        if i is not None:
            raise InvalidProblem(f"position[{i}] is {self.position[i].tolist()}, outside of the grid")

    def __copy__(self) -> Self:
        return deepcopy(self)

    def frame(self, report: StepReport | None = None) -> LiquidFrame:
        """The state now, with the pressure of the step that led to it."""
        if report is None:
            cells = self.staggered.cells
            none = np.zeros(cells, dtype=bool)
            fields = (np.zeros(cells), none, none.copy())
        elif isinstance(report, LiquidReport):
            fields = (report.pressure, report.liquid, report.separating)
        else:
            raise TypeError(f"report is a {type(report).__name__}; the report of a step of this world is needed")
        return LiquidFrame(self.steps, self.time, self.position.copy(), self.velocity.copy(), *fields)

    def grid(self) -> LiquidGrid:
        grid = self.staggered
        nodes = [count + 1 for count in grid.cells]
        return LiquidGrid(grid.cells, grid.spacing, grid.origin, self._vessel.solid.reshape(nodes))

    def shapes(self) -> tuple[Shape, ...]:
        return ()

    @property
    def mass(self) -> float:
        """Of one particle [kg]."""
        return self.density * self.particle_volume

    def energy(self) -> float:
        kinetic = 0.5 * float(np.square(self.velocity).sum())
        return self.mass * (kinetic - float((self.position @ self.gravity).sum()))

    def fingerprint(self) -> str:
        state = sha256()
        for part in (np.array([self.time]), self.position, self.velocity):
            state.update(np.ascontiguousarray(part).tobytes())
        return state.hexdigest()


def _read_gravity(given: Any, dimension: int) -> Vector:
    """[m/s^2]; down the last axis where none is given."""
    if given is None:
        given = [0.0] * (dimension - 1) + [-GRAVITY]
    if np.shape(given) != (dimension,):
        example = ", ".join(["0.0"] * (dimension - 1) + ["-9.81"])
        raise InvalidProblem(f"gravity is {given!r}; a number an axis is needed, for example ({example})")
    return as_vector(given, "gravity", dimension)


@dataclass(frozen=True, eq=False, repr=False)
class LiquidReport(StepReport):
    """One step of a liquid. `x` are pressures without dimension: x = p dt^2 / (density spacing^2)."""

    pressures: PressureProblem
    """The problem with the cells that it belongs to."""
    net_outflow: Vector
    """y of each unknown: what left its cell, as a share of its volume, beyond what the volume correction asks for."""
    density: float
    """[kg/m^d]"""
    particles: int
    volume: float
    """At the beginning of the step, from the free surface [m^d]."""
    height: float
    """Mean height of the particles at the end of it [m]."""
    fastest: float
    """Speed of the fastest particle at the end of it [m/s]."""

    @property
    def things(self) -> str:
        return f"{self.particles:,} particles, {np.count_nonzero(self.liquid):,} liquid cells, "

    @property
    def liquid(self) -> NDArray[np.bool_]:
        """Which cells had an unknown pressure."""
        liquid: NDArray[np.bool_] = self.pressures.liquid.reshape(self.pressures.grid.cells) != 0
        return liquid

    @property
    def pressure(self) -> NDArray[np.float64]:
        """Of each cell [Pa]; 0 where there is no liquid."""
        made = self.pressures
        scale = self.density * (made.grid.spacing / made.dt) ** 2
        return np.where(self.liquid, scale * made.on_cells(self.x).reshape(made.grid.cells), 0.0)

    @property
    def separating(self) -> NDArray[np.bool_]:
        """Which cells let go: the pressure is at its bound, zero, and more flows out than in."""
        return self.pressures.separating(self.x, self.net_outflow).reshape(self.pressures.grid.cells)

    def measures(self) -> dict[str, float]:
        made, y, dt = self.pressures, self.net_outflow, self.pressures.dt
        is_liquid = made.of_unknowns(made.liquid) != 0
        loose = made.of_unknowns(made.separating(self.x, y))
        return {
            "particles": float(self.particles),
            "liquid_cells": float(np.count_nonzero(is_liquid)),
            "separating": float(np.count_nonzero(loose)),
            "divergence": float(np.abs(y[is_liquid & ~loose]).max(initial=0.0)) / dt,
            "outflow": float(y[loose].max(initial=0.0)) / dt,
            "volume": self.volume,
            "height": self.height,
            "fastest": self.fastest,
        }
