"""From a frame of a world to the bytes that the page reads; `layout` tells what is where."""

from __future__ import annotations

from collections.abc import Mapping
from struct import pack
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from perp.recording.frame import Frame, LiquidFrame
from perp.solvers.results.status import Status
from perp.viewer.frames.contact_numbers import ContactNumbers
from perp.viewer.frames.curve import convergence_curve
from perp.viewer.frames.islands import find_islands
from perp.viewer.frames.liquid_encoding import cell_rows, particle_rows
from perp.viewer.layout import (
    BODIES,
    CELL_NUMBERS,
    CONTACT_NUMBERS,
    HEADER,
    LAYOUT,
    LIQUID,
    SERIALS,
    ContactNumber,
    Header,
)
from perp.worlds.report import StepReport

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
"""The numbers of a header that are statistics of a step (`perp.simulation.kinds`); NaN where there is none."""

Rows = NDArray[np.float32]


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
        Of the step, as `perp.simulation.step.measure_step` makes them; those of the frame itself hold where a name is
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
        told = {**frame.statistics, **statistics}
        for number, name in STATISTICS.items():
            header[number] = told.get(name, np.nan)
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
    told = ContactNumbers.of_step(report, contacts.gap.size)
    for number, values in {
        ContactNumber.BODY_A: contacts.bodies[:, 0],
        ContactNumber.BODY_B: contacts.bodies[:, 1],
        ContactNumber.STATE: told.state,
        ContactNumber.NORMAL_IMPULSE: np.einsum("ij,ij->i", contacts.impulse, contacts.normal),
        ContactNumber.GAP: contacts.gap,
        ContactNumber.OPENING: told.opening,
        ContactNumber.SLIP: told.slip,
        ContactNumber.RESIDUAL: told.residual,
        ContactNumber.ENERGY_ERROR: told.energy_error,
    }.items():
        rows[:, 2 * d + number] = values
    return rows
