"""Load the compiled vector work before the clock of an iteration runs (`step(0)`)."""

from __future__ import annotations

import numpy as np

from perp.problems.inputs import freeze


def load_kernels() -> None:
    """Call every kernel of `perp.kernels.gradient.conjugate_gradients` once, on nothing."""
    from perp.kernels.gradient import conjugate_gradients as kernels

    v, data = np.empty(0), freeze(np.empty(0))
    sets, pivots = np.empty(0, dtype=np.int8), np.empty(0, dtype=np.int64)
    kernels.dot(v, v)
    kernels.measure_direction(v, v, v, v)
    kernels.step_to_bound(v, v, v, v)
    kernels.take_step(v, v, v, v, 0.0, v, v)
    kernels.project_step(v, v, 0.0, v, v, v)
    kernels.change_of_objective(v, v, v, v)
    kernels.turn(v, v, 0.0)
    kernels.face_residual(sets, v, v)
    kernels.keep_in_face(sets, v, v)
    kernels.tighten(sets, v, v, v, v, pivots)
    kernels.release(sets, v, v, v, v, 0.0, pivots)
    kernels.measure_face(sets, v, v, data, v, v, v)
    kernels.split_gradient(v, v, v, v, v, 0.0, v)
    kernels.chopped_direction(v, v, v, v, v, v, v)
    kernels.project_gradient(v, v, v, v, v, 0.0, True, v)
