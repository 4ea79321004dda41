"""Frames read number by number, as `perp.viewer.layout` has it in words: the twin of what the page does."""

from __future__ import annotations

import struct
from types import SimpleNamespace

BODY_NAMES = {
    (1, 2): ("x", "y", "angle", "island"),
    (1, 3): ("x", "y", "z", "qw", "qx", "qy", "qz", "island"),
    (2, 2): ("x", "y", "speed"),
    (2, 3): ("x", "y", "z", "speed"),
}
CONTACT_NAMES = ("body_a", "body_b", "state", "normal_impulse", "gap", "opening", "slip", "residual", "energy_error")
"""After point and impulse."""


def read_frame(data: bytes) -> SimpleNamespace:
    """header (a list), and lists of dicts: bodies, contacts, cells, curve. All bytes must be used up."""
    (frame,) = read_frames(data)
    return frame


def read_frames(data: bytes) -> list[SimpleNamespace]:
    """Frames that were strung together; each knows its own length."""
    numbers = list(struct.unpack(f"<{len(data) // 4}f", data))
    frames = []
    while numbers:
        frames.append(_take_frame(numbers))
    return frames


def _take_frame(numbers: list[float]) -> SimpleNamespace:
    def take(count: float) -> list[float]:
        taken, numbers[: int(count)] = numbers[: int(count)], []
        assert len(taken) == count
        return taken

    header = take(32)
    layout, kind, dimension = header[0], int(header[1]), int(header[6])
    assert layout == 1
    names = BODY_NAMES[kind, dimension]
    bodies = [dict(zip(names, take(len(names)), strict=True)) for _ in range(int(header[7]))]
    contacts = []
    for _ in range(int(header[8])):
        contact = {"point": take(dimension), "impulse": take(dimension)}
        contacts.append(contact | dict(zip(CONTACT_NAMES, take(9), strict=True)))
    cells = [dict(zip(("pressure", "state", "residual"), take(3), strict=True)) for _ in range(int(header[9]))]
    curve = [tuple(take(2)) for _ in range(int(header[10]))]
    return SimpleNamespace(header=header, bodies=bodies, contacts=contacts, cells=cells, curve=curve)
