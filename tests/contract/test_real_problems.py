"""Contact problems from other people's simulators (skipped where the files are not at hand)."""

from __future__ import annotations

import numpy as np
import pytest

import perp


@pytest.mark.parametrize(
    ("name", "contacts"),
    [("siconos/fclib_hdf5/Capsules-i125-1213.hdf5", 286), ("siconos/fclib_hdf5/Box_Stacks-i0122-82-5.hdf5", 82)],
)
def test_gauss_seidel_solves_a_real_contact_problem_with_the_exact_cone(shared, name, contacts):
    h5py = pytest.importorskip("h5py")
    path = shared / "data" / name
    problem = perp.load(path)
    assert problem.contacts == contacts
    result = perp.solve(problem, "pgs", tol=1e-8, max_iterations=20_000)
    assert result.success
    found = result.verify()
    assert found.de_saxce < 1e-7  # the same error in De Saxcé's form, which no sweep computes
    assert found.cone_violation < 1e-12
    with h5py.File(path) as file:
        velocities = file["solution/u"][()]  # where the origin's own solver stopped
    np.testing.assert_allclose(result.y, velocities, atol=3e-6)
