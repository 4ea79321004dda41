"""Frames of random numbers, the same for the same number."""

from __future__ import annotations

import numpy as np

from perp.recording import ContactFrame, Frame, Shape
from perp.recording.layout import STATE, state_width


def make_frame(step, bodies=5, dimension=3, contacts=None):
    draw = np.random.default_rng([step, bodies, dimension])
    m = step % 4 if contacts is None else contacts
    state = {name: draw.standard_normal((bodies, state_width(name, dimension))) for name in STATE}
    pairs = draw.integers(-1, bodies, (m, 2))
    point, normal, impulse = draw.standard_normal((3, m, dimension))
    touching = ContactFrame(pairs, point, normal, draw.standard_normal(m), impulse)
    said = {"residual": draw.random(), "iterations": float(step)} if step else {}
    return Frame(step, 0.01 * step, **state, contacts=touching, statistics=said)


def assert_same_frame(one, other):
    assert (one.step, one.time, one.statistics) == (other.step, other.time, other.statistics)
    for name in STATE:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
    for name in ("bodies", "point", "normal", "gap", "impulse"):
        first, second = getattr(one.contacts, name), getattr(other.contacts, name)
        assert first.shape == second.shape
        assert first.dtype == second.dtype
        assert first.tobytes() == second.tobytes()


def make_shapes(dimension):
    if dimension == 2:
        ends = np.array([[0.0, 0.0], [1.0, 2.0]])
        return (
            Shape("disc", 0, (0.25,), np.array([0.5, 0.0]), color=(0.1, 0.2, 0.3), name="rad, grün"),
            Shape("segment", -1, (), np.zeros(2), vertices=ends),
            Shape("half_plane", -1, (), np.zeros(2), vertices=ends),
        )
    quarter = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])
    tetrahedron = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype=np.int32)
    return (
        Shape("box", 0, (0.1, 0.2, 0.3), np.array([0.0, 0.0, 1.0]), quarter, name="box"),
        Shape("mesh", 1, vertices=tetrahedron, faces=faces),
        Shape("capsule", 1, (0.1, 0.5)),
        Shape("mesh", 2, vertices=2.0 * tetrahedron, faces=faces, name="second"),
        Shape("plane", -1, (4.0, 4.0), color=(1.0, 1.0, 1.0)),
    )
