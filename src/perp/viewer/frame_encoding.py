"""From a frame of a world to the bytes that the page reads; `layout` says what is where.

Bodies have islands, which contacts couple, and joints where the problem of the step is known; liquids have particles
and cells; both have the convergence curve of the solve. Of each contact the page learns what it does, and how far the
solver left it from its law.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import pack
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perp.problems.contact_states import contact_states
from perp.problems.friction import ContactProblem
from perp.problems.inputs import Vector
from perp.problems.island_matrices import find_components
from perp.problems.operators.masses import BodyMasses, PlanarMasses
from perp.problems.residual_scale import natural_map
from perp.recording.frame import Frame, LiquidFrame
from perp.solvers.results import Result, Status
from perp.viewer.layout import (
    BODIES,
    CELL_NUMBERS,
    CONTACT_NUMBERS,
    CURVE_NUMBERS,
    HEADER,
    LAYOUT,
    LIQUID,
    SERIALS,
    ContactNumber,
    Header,
)
from perp.worlds.fluid.liquid_world import LiquidReport
from perp.worlds.world import StepReport

NUMBER = np.dtype("<f4")
NO_SOLVE = -1
NOTHING: Mapping[str, float] = MappingProxyType({})

STATISTICS = {
    Header.ROWS: "rows",
    Header.ITERATIONS: "iterations",
    Header.RESIDUAL: "residual",
    Header.SOLVE_SECONDS: "solve_seconds",
    Header.STEP_SECONDS: "seconds",
    Header.ENERGY: "energy",
    Header.ENERGY_MEAN: "energy_mean",
    Header.ENERGY_MAX: "energy_max",
    Header.PENETRATION: "penetration",
    Header.WARM: "warm",
    Header.VOLUME: "volume",
    Header.CONVERGED: "converged",
}
"""The numbers of a header that are statistics of a step (`perp.simulation.summary`); NaN where there is none."""

Rows = NDArray[np.float32]

MOST_POINTS = 256
"""Of a convergence curve, so that it can travel with every frame."""

WET, SEPARATING = 1, 2
"""Bits of a cell's state."""

NO_ISLAND = -1
"""Of bodies that cannot move, and so couple nothing, and of those that no row of the problem acts on."""


def encode_frame(
    frame: Frame | LiquidFrame,
    *,
    lane: int = 0,
    place: int = 0,
    report: StepReport | None = None,
    statistics: Mapping[str, float] = NOTHING,
    tol: float | None = None,
) -> bytes:
    """The frame with serial number 0 (see `with_serial`).

    Parameters
    ----------
    report
        Of the step that led to the frame; without one, as in a recording, what contacts do and how well each was solved
        is not known.
    statistics
        Of the step, as `perp.simulation.run.measure_step` makes them; those of the frame itself hold where a name is
        missing.
    tol
        That the solve was asked for.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # numbers beyond those of float32 become infinite
        curve = convergence_curve(None if report is None else report.solution).astype(NUMBER)
        islands = 0
        if isinstance(frame, LiquidFrame):
            bodies, cells = particle_rows(frame), cell_rows(frame, report)
            contacts: Rows = np.empty((0, 2 * frame.dimension + CONTACT_NUMBERS), dtype=NUMBER)
        else:
            island, islands = find_islands(frame, report)
            bodies, cells = _body_rows(frame, island), np.empty((0, CELL_NUMBERS), dtype=NUMBER)
            contacts = _contact_rows(frame, report)
        header = np.zeros(HEADER, dtype=NUMBER)
        numbers = {**frame.statistics, **statistics}
        for number, name in STATISTICS.items():
            header[number] = numbers.get(name, np.nan)
        for number, value in {
            Header.LAYOUT: LAYOUT,
            Header.KIND: LIQUID if isinstance(frame, LiquidFrame) else BODIES,
            Header.LANE: lane,
            Header.STEP: frame.step,
            Header.TIME: frame.time,
            Header.DIMENSION: frame.dimension,
            Header.BODIES: len(bodies),
            Header.CONTACTS: len(contacts),
            Header.CELLS: len(cells),
            Header.CURVE: len(curve),
            Header.STATUS: _status_code(report),
            Header.ISLANDS: islands,
            Header.TOL: np.nan if tol is None else tol,
            Header.PLACE: place,
        }.items():
            header[number] = value
    return b"".join(np.ascontiguousarray(part, dtype=NUMBER).data for part in (header, bodies, contacts, cells, curve))


def with_serial(data: bytes, serial: int) -> bytes:
    """The same frame with a serial number, 0 <= serial < SERIALS."""
    if not 0 <= serial < SERIALS:
        raise ValueError(f"serial is {serial}; a number in 0..{SERIALS - 1} is needed")
    begin = NUMBER.itemsize * Header.SERIAL
    return b"".join((data[:begin], pack("<f", serial), data[begin + NUMBER.itemsize :]))


def _status_code(report: StepReport | None) -> int:
    status = getattr(report.solution, "status", None) if report is not None else None
    return status.code if isinstance(status, Status) else NO_SOLVE


def _body_rows(frame: Frame, island: NDArray[np.intp]) -> Rows:
    """Position, angle or quaternion, island."""
    return np.concatenate([frame.position, frame.orientation, island[:, None]], axis=1, dtype=NUMBER, casting="unsafe")


def _contact_rows(frame: Frame, report: StepReport | None) -> Rows:
    """Point, impulse and the numbers of `ContactNumber`."""
    contacts, d = frame.contacts, frame.dimension
    rows: Rows = np.empty((contacts.gap.size, 2 * d + CONTACT_NUMBERS), dtype=NUMBER)
    rows[:, :d], rows[:, d : 2 * d] = contacts.point, contacts.impulse
    known = ContactNumbers.of_step(report, contacts.gap.size)
    for number, values in {
        ContactNumber.BODY_A: contacts.bodies[:, 0],
        ContactNumber.BODY_B: contacts.bodies[:, 1],
        ContactNumber.STATE: known.state,
        ContactNumber.NORMAL_IMPULSE: np.einsum("ij,ij->i", contacts.impulse, contacts.normal),
        ContactNumber.GAP: contacts.gap,
        ContactNumber.OPENING: known.opening,
        ContactNumber.SLIP: known.slip,
        ContactNumber.RESIDUAL: known.residual,
        ContactNumber.ENERGY_ERROR: known.energy_error,
    }.items():
        rows[:, 2 * d + number] = values
    return rows


def convergence_curve(solution: Any) -> NDArray[np.float64]:
    """k x 2, the checks of a solve, the starting point first; none where the solver was not one of perp's."""
    if not isinstance(solution, Result):
        return np.empty((0, CURVE_NUMBERS))
    history = solution.history
    kept = thin(history.residual, MOST_POINTS)
    return np.column_stack([history.iteration[kept], history.residual[kept]])


def thin(values: NDArray[np.float64], most: int) -> NDArray[np.intp]:
    """The places of at most so many values, in order; the first, the last and the least are among them.

    The least and the largest of each stretch stay, so that peaks and dips do, whether an axis is logarithmic or not.
    """
    count = values.size
    if count <= most:
        return np.arange(count)
    stretches = most // 2 - 1  # two places are left for the ends
    begin = np.linspace(0, count, stretches, endpoint=False).astype(np.intp)
    low, high = np.where(np.isnan(values), np.inf, values), np.where(np.isnan(values), -np.inf, values)
    places = [0, count - 1]
    for first, last in zip(begin, [*begin[1:], count], strict=True):
        places += [first + np.argmin(low[first:last]), first + np.argmax(high[first:last])]
    return np.unique(np.array(places, dtype=np.intp))


def particle_rows(frame: LiquidFrame) -> Rows:
    """n x (d + 1): position [m] and speed [m/s]."""
    n, d = frame.position.shape
    rows: Rows = np.empty((n, d + 1), dtype=np.float32)
    rows[:, :d] = frame.position
    rows[:, d] = np.sqrt(np.einsum("ij,ij->i", frame.velocity, frame.velocity))
    return rows


def cell_rows(frame: LiquidFrame, report: StepReport | None) -> Rows:
    """c x 3: pressure [Pa], state, residual (NaN without a report). None in space, where they would not be seen."""
    if frame.dimension != 2:
        return np.empty((0, CELL_NUMBERS), dtype=np.float32)
    rows: Rows = np.empty((frame.pressure.size, CELL_NUMBERS), dtype=np.float32)
    rows[:, 0] = frame.pressure.reshape(-1)
    rows[:, 1] = (WET * frame.liquid + SEPARATING * frame.separating).reshape(-1)
    rows[:, 2] = np.nan
    if isinstance(report, LiquidReport) and report.pressures.grid.size == len(rows):
        made = report.pressures
        rows[:, 2] = made.on_cells(np.abs(natural_map(made.problem, report.x, report.net_outflow)))
    return rows


def find_islands(frame: Frame, report: StepReport | None) -> tuple[NDArray[np.intp], int]:
    """The island of each body, and how many islands there are.

    An island has the number of its lowest body, so that it keeps its colour from frame to frame.

    A problem of body pairs tells all of it. Without one, as in a recording or in joint coordinates, contacts alone
    couple bodies, and all bodies count as able to move.
    """
    bodies = len(frame.position)
    moves = np.ones(bodies, dtype=np.bool_)
    pairs: NDArray[Any] = frame.contacts.bodies
    contacts = None if report is None else report.problem.frictional
    if contacts is not None:
        A = contacts.A.factored
        if A is not None and A.paired is not None and A.paired.body_count == bodies:
            pairs = _pairs_of_rows(contacts, A.paired.bodies.reshape(-1, 2))
            if isinstance(A.mass, BodyMasses | PlanarMasses):
                moves = np.isfinite(A.mass.mass)
    return name_islands(pairs, moves)


def name_islands(pairs: NDArray[Any], moves: NDArray[np.bool_]) -> tuple[NDArray[np.intp], int]:
    """From pairs of bodies (-1 or beyond the last: the world), and which bodies can move."""
    bodies = moves.size
    side_moves = np.append(moves, False)[np.where(pairs < 0, bodies, pairs)]
    joined = pairs[side_moves.all(axis=1)]
    _, label = find_components(joined[:, 0], joined[:, 1], bodies)
    lowest = np.unique(label, return_index=True)[1]
    island = np.full(bodies, NO_ISLAND, dtype=np.intp)
    acted_on = pairs[side_moves]
    island[acted_on] = lowest[label[acted_on]]
    return island, int(np.count_nonzero(island == np.arange(bodies)))


def _pairs_of_rows(problem: ContactProblem, pairs: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """One pair a contact is enough, where all rows of a contact act on the same two bodies."""
    if not problem.has_pairs_of_bodies:
        return pairs
    return np.concatenate([pairs[problem.every(0)], pairs[problem.contact_rows :]])


# Numbers of contacts. The rules are those of `perp.problems.residuals`, contact by contact in place of the sum or the
# largest of all. Contacts are rows of m x d arrays here, the normal first.

Floats = NDArray[np.float64]

HUGE = 1e300
"""An infinite slack counts as this one, so that its direction survives a projection."""

LEAST_SPEED, MOST_SPEED = 1e-6, 1e-3
"""Between these [m/s] lies the speed below which a contact stands still: the default of `contact_states`, and what
no eye sees."""


@dataclass(frozen=True, eq=False, repr=False)
class ContactNumbers:
    """One number a contact in each; NaN where it is not known."""

    state: Vector
    """`perp.ContactState`"""
    opening: Vector
    """y_n [m/s]"""
    slip: Vector
    """|y_t| [m/s]"""
    residual: Vector
    """The largest entry of the natural map among the rows."""
    energy_error: Vector
    """The sum of 1/2 A_ii r_i^2 over the rows [J]."""

    @staticmethod
    def unknown(contacts: int) -> ContactNumbers:
        """Of contacts without a problem, as in a recording."""
        return ContactNumbers(*(np.full(contacts, np.nan) for _ in range(5)))

    @staticmethod
    def of_step(report: StepReport | None, contacts: int) -> ContactNumbers:
        """Those of the step's own contacts, which are so many."""
        problem = None if report is None else report.problem.frictional
        if report is None or problem is None or problem.contacts != contacts:
            return ContactNumbers.unknown(contacts)
        return measure_contacts(problem, report.x, _known_slack(report))


def measure_contacts(problem: ContactProblem, x: Vector, y: Vector | None = None) -> ContactNumbers:
    """Of any impulses x; y is their slack, where it is known already.

    After few iterations everything creeps. A contact whose friction is within its bounds, and so should stick, slips by
    its residual: slower than the largest residual counts as standing still, as far as `MOST_SPEED` allows.
    """
    with np.errstate(all="ignore"):  # overflow shows in the numbers
        rows, energy = row_errors(problem, x, problem.slack(x) if y is None else y)
        residual = rows.max(axis=1)
        still = np.fmin(np.fmax(residual.max(initial=0.0), LEAST_SPEED), MOST_SPEED)
    found = contact_states(problem, x, tol=float(still))
    return ContactNumbers(found.state.astype(np.float64), found.opening, found.slip, residual, energy.sum(axis=1))


def row_errors(problem: ContactProblem, x: Vector, y: Vector) -> tuple[Floats, Floats]:
    """|natural map| of every row of the contacts, and 1/2 A_ii r_i^2 [J], NaN where the diagonal is not known."""
    shape = (problem.contacts, problem.dimension)
    slack = y[: problem.contact_rows].reshape(shape)
    scaled = slack * problem.row_scales[: problem.contact_rows].reshape(shape) if problem.has_extreme_rows else slack
    residual = np.abs(_natural_map(problem, x, scaled))
    if problem.diagonal is None:
        return residual, np.full(shape, np.nan)
    stiffness = _stiffness(problem, problem.diagonal[: problem.contact_rows].reshape(shape))
    is_known = stiffness > 0.0
    impulse = _natural_map(problem, x, np.divide(slack, stiffness, out=np.zeros(shape), where=is_known))
    return residual, np.where(is_known, 0.5 * stiffness * impulse * impulse, 0.0)


def _known_slack(report: StepReport) -> Vector | None:
    """A `Result` has the slack of its x, from the problem's own data."""
    solution = report.solution
    return solution.y if isinstance(solution, Result) and solution.problem is report.problem else None


def _stiffness(problem: ContactProblem, diagonal: Floats) -> Floats:
    """A_ii, the same number for rows that are projected together: the largest of theirs."""
    together = 0 if problem.model == "convex" else 1 if problem.has_discs else problem.dimension
    stiffness = diagonal.copy()
    if together < problem.dimension:
        stiffness[:, together:] = diagonal[:, together:].max(axis=1, keepdims=True)
    return stiffness


def _natural_map(problem: ContactProblem, x: Vector, y: Floats) -> Floats:
    """x - P(x - y) of the contacts under the problem's law, so that a small y is not lost beside a large x."""
    impulse = x[: problem.contact_rows].reshape(y.shape)
    if problem.model == "convex":
        return _cone_map(problem, x, np.clip(y, -HUGE, HUGE))
    normal = np.minimum(y[:, :1], impulse[:, :1])
    limit = problem.tangent_limits(x)[:, None]
    tangent, slip = impulse[:, 1:], y[:, 1:]
    if problem.has_discs:
        return np.concatenate([normal, _disc_map(tangent, np.clip(slip, -HUGE, HUGE), limit)], axis=1)
    return np.concatenate([normal, np.minimum(np.maximum(slip, tangent - limit), tangent + limit)], axis=1)


def _disc_map(tangent: Floats, slip: Floats, radius: Floats) -> Floats:
    """The same with P the projection on the disc |x_t| <= radius; no overflow on the way."""
    point = tangent - slip
    largest = np.abs(point).max(axis=1, keepdims=True)
    share = point / np.where(largest > 0.0, largest, 1.0)
    length = np.hypot(share[:, :1], share[:, 1:])
    factor = np.divide(radius, largest * length, out=np.ones_like(largest), where=largest > 0.0)
    return np.where(factor < 1.0, tangent - factor * point, slip)


def _cone_map(problem: ContactProblem, x: Vector, y: Floats) -> Floats:
    """The same with P the projection on the cone |x_t| <= friction x_n."""
    point = x.copy()
    point[: problem.contact_rows] -= y.reshape(-1)
    nearest = problem.project(point)[: problem.contact_rows].reshape(y.shape)
    inside = (nearest == point[: problem.contact_rows].reshape(y.shape)).all(axis=1, keepdims=True)
    return np.where(inside, y, x[: problem.contact_rows].reshape(y.shape) - nearest)
