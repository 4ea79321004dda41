"""Iterations of the nonsmooth nonlinear conjugate gradient method on the sweeps of planar pairs; see nncg.py."""

from __future__ import annotations

from perp.kernels.compile import kernel
from perp.kernels.storages import planar_pairs
from perp.kernels.sweeps.nncg import iterate_contacts, iterate_rows


@kernel
def planar_pairs_rows(count, both, there, back, arrays, published, memory, points, velocities):
    iterate_rows(planar_pairs.sweep_rows, count, both, there, back, arrays, published, memory, points, velocities)


@kernel
def planar_pairs_contacts(count, both, there, back, arrays, published, memory, points, velocities):
    sweep = planar_pairs.sweep_contacts
    iterate_contacts(sweep, count, both, there, back, arrays, published, memory, points, velocities)
