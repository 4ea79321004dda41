"""From particles to the grid and back: linear weights both ways (Zhu & Bridson 2005, "Animating Sand as a Fluid").

`dimension` numbers a particle in `position` and `velocity`; fields, frames and offsets as in fluid_fields.py.
"""

from __future__ import annotations

import numpy as np

from perp.kernels.compile import kernel
from perp.kernels.fluid.fields import index_of, sample, spread

U0, U1, U2, U3 = (np.uint64(k) for k in range(4))


@kernel
def count_particles(position, dimension, frame, offset, shape, amount, field):
    """Add `amount` for each particle, spread over the places around it."""
    for particle in range(np.uint64(position.size) // dimension):
        a, b, c = index_of(position, dimension * particle, dimension, frame, offset)
        spread(field, shape, a, b, c, amount)


@kernel
def collect_velocity(position, velocity, dimension, axis, frame, offset, shape, weight, field):
    """The mean of one component of the velocities around each place, and its weight: momentum over mass.

    `axis` counts from the first component of a particle. Places that no particle is near have weight 0 and velocity 0.
    """
    field[:] = 0.0
    weight[:] = 0.0
    for particle in range(np.uint64(position.size) // dimension):
        at = dimension * particle
        a, b, c = index_of(position, at, dimension, frame, offset)
        spread(field, shape, a, b, c, velocity[at + axis])
        spread(weight, shape, a, b, c, 1.0)
    for at in range(np.uint64(field.size)):
        if weight[at] > 0.0:
            field[at] /= weight[at]


@kernel
def return_velocity(position, velocity, dimension, axis, frame, offset, shape, flip, old, new, out):
    """v+ = u_new(x) + flip (v - u_old(x)) for one component.

    flip = 0 is PIC: particles take over the velocity of the grid, and lose what it cannot hold. flip = 1 is FLIP: they
    take over its change.
    """
    for particle in range(np.uint64(position.size) // dimension):
        at = dimension * particle
        a, b, c = index_of(position, at, dimension, frame, offset)
        kept = velocity[at + axis] - sample(old, shape, a, b, c)
        out[at + axis] = sample(new, shape, a, b, c) + flip * kept
