"""Frames of scenes, and what is measured on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from perp import LCP, BoxLCP, scenes
from perp.lab.runs.process import perform
from perp.lab.work.contact_frames import (
    FixedBoxLead,
    condition_number,
    contact_frames,
    find_shifts,
    make_frames,
    soften,
    solve_exactly,
)
from perp.lab.work.solve_frames import MeteredRecipe, Tally, read_recipe, solve_frames_task
from perp.linalg.preconditioners import ICT, ImaginaryIC0

pytest.importorskip("mujoco")

WALL = {"columns": 2, "courses": 2}


def test_frames_are_the_same_from_a_folder(tmp_path: Path) -> None:
    recipe = contact_frames("wall", [5, 7], dt=1 / 60, **WALL)
    made, kept, again = make_frames(recipe), make_frames(recipe, tmp_path), make_frames(recipe, tmp_path)
    assert [frame.step for frame in made] == [frame.step for frame in kept] == [5, 7]
    for one, other in zip(made, again, strict=True):
        assert (one.problem.b == other.problem.b).all()
        assert (one.start == other.start).all()
        assert (one.problem.A.to_sparse() != other.problem.A.to_sparse()).nnz == 0
        for own, others in zip(one.problem.bounds(one.start), other.problem.bounds(one.start), strict=True):
            assert (own == others).all()


def test_a_frame_is_bounded_by_frictionless_impulses_and_starts_with_known_sets() -> None:
    frame = make_frames(contact_frames("wall", [7], dt=1 / 60, **WALL))[0]
    lower, upper = frame.problem.bounds(frame.start)
    tangents = np.arange(frame.problem.n) % 3 > 0
    assert (lower[tangents] == -upper[tangents]).all()
    assert np.isinf(upper[~tangents]).all()
    assert ((frame.start >= lower) & (frame.start <= upper)).all()
    assert solve_exactly(frame.problem).residual < 1e-8


def test_contacts_that_stay_begin_in_the_sets_in_which_they_ended() -> None:
    """Stacks at rest: what was free in one step is free at the start of the next."""
    made = scenes.make("boxes", stacks=1, height=2, start="standing")
    lead = FixedBoxLead(made.world, made.dt)
    lead.take_step(1)
    frame = lead.take_step(2)
    found = solve_exactly(frame.problem)
    lower, upper = frame.problem.bounds(found.x)
    free = (found.x > lower) & (found.x < upper)
    assert free.any()
    assert (((frame.start > lower) & (frame.start < upper)) == free).all()
    assert lead.slip(1e-9) < 1e-3


def test_condition_numbers_are_those_of_all_eigenvalues_also_by_islands() -> None:
    rng = np.random.default_rng(3)
    blocks = []
    for n in (5, 700):  # the second is beyond what is done densely
        half = sparse.random_array((n, n), density=min(1.0, 8 / n), rng=rng)
        blocks.append(half @ half.T + 0.01 * sparse.eye_array(n))
    A = sparse.block_diag(blocks, format="csr")
    values = np.linalg.eigvalsh(A.toarray())
    assert condition_number(LCP(A, np.ones(705))) == pytest.approx(values[-1] / values[0], rel=1e-2)
    units = sparse.diags_array(np.exp(rng.uniform(-3.0, 3.0, 705)))
    both = [condition_number(LCP(matrix, np.ones(705)), scaled=True) for matrix in (A, units @ A @ units)]
    assert both[0] == pytest.approx(both[1], rel=1e-2)


def test_a_tally_counts_factors_and_imaginary_columns() -> None:
    assert read_recipe({"name": "ict", "drop_tolerance": 1e-5}) == ICT(drop_tolerance=1e-5)
    A = np.array([[1.0, 0.9, 0.9, 0.0], [0.9, 1.0, 0.0, 0.9], [0.9, 0.0, 1.0, 0.9], [0.0, 0.9, 0.9, 3.0]])
    problem = LCP(sparse.csr_array(A), np.ones(4))
    tally, own = Tally(), ImaginaryIC0().prepare(problem)
    metered = MeteredRecipe(ImaginaryIC0(), tally).prepare(problem)
    free = np.ones(4, dtype=bool)
    for each in (free, free, np.array([True, True, False, False])):
        metered.follow(each, np.zeros(4))
    own.follow(free, np.zeros(4))
    assert tally.made == 2
    assert tally.columns == 6
    assert tally.imaginary == own.report()["imaginary_columns"] == 1
    assert metered.apply(np.ones(4))[2:].tolist() == [0.0, 0.0]


def test_a_solver_that_is_stopped_is_told_as_not_solved() -> None:
    recipe = contact_frames("wall", [7], dt=1 / 60, **WALL)
    whole = perform(solve_frames_task(recipe, "block_principal", {"tol": 1e-8}))
    short = perform(solve_frames_task(recipe, "pgs", {"tol": 1e-8, "max_iterations": 2}))
    assert whole.status == "CONVERGED"
    assert whole["solved"] == 1.0
    assert whole["outer"] >= 1.0
    assert short.status == "ITERATION_LIMIT"
    assert short["solved"] == 0.0
    assert short["energy_max"] > whole["energy_max"]


def test_rows_that_pivot_often_are_softened_by_shares_of_their_diagonal() -> None:
    frame = make_frames(contact_frames("wall", [9], dt=1 / 60, columns=3, courses=3))[0]
    assert not find_shifts(frame.problem, frame.start, None, 1e-3, 100).any()
    shift = find_shifts(frame.problem, frame.start, 1, 1e-3, 100)
    lower, upper = frame.problem.bounds(frame.start)
    friction = np.isfinite(lower) & np.isfinite(upper)
    assert (shift[friction] > 0.0).any()
    assert not shift[~friction].any()
    softened = soften(frame.problem, shift)
    assert isinstance(softened, BoxLCP)
    assert softened.A.to_sparse().diagonal() - frame.problem.A.to_sparse().diagonal() == pytest.approx(shift)
