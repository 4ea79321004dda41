"""Shapes in space are where their bodies are, turned as those are."""

from __future__ import annotations

import numpy as np

from perp.recording import ContactFrame, Frame, Shape
from perp.recording.frame import place_shapes, rotation_matrices

QUARTER = np.array([np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
"""About z."""


def test_a_quarter_turn_about_z_takes_x_to_y():
    np.testing.assert_allclose(rotation_matrices(QUARTER[None])[0] @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-12)


def test_a_shape_is_placed_by_itself_and_then_by_its_body_and_one_of_the_world_by_itself_alone():
    still = np.zeros((1, 3))
    frame = Frame(0, 0.0, np.array([[5.0, 0.0, 0.0]]), QUARTER[None], still, still, ContactFrame.none(3))
    at = np.array([1.0, 0.0, 0.0])
    origin, axes = place_shapes(frame, [Shape("box", 0, (0.1, 0.1, 0.1), at), Shape("box", -1, (0.1, 0.1, 0.1), at)])
    np.testing.assert_allclose(origin, [[5.0, 1.0, 0.0], [1.0, 0.0, 0.0]], atol=1e-12)
    np.testing.assert_allclose(axes, [rotation_matrices(QUARTER[None])[0], np.eye(3)], atol=1e-12)
