"""Methods on bodies in a plane: as with compressed rows, only quicker."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import planar_operators
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perp
from perp.kernels.storages import factored, planar_pairs
from perp.problems.operators import PlanarMasses
from perp.solvers.roster import default_methods
from perp.solvers.splitting.sweeps import colour_contacts, make_sweeper

ORDERS = ("forward", "backward", "symmetric", "random", "coloured")
SWEEPING = [
    *(perp.PGS(order=order) for order in ORDERS),
    *(perp.BlockGaussSeidel(order=order) for order in ORDERS),
    perp.PSOR(1.3),
    perp.SymmetricPSOR(1.2),
    perp.NNCG(),
    perp.NNCG(order="symmetric", restart="gradient"),
    perp.AMGS(alpha=0.3),
    perp.AMSOR(relaxation=1.2),
    perp.AMGS(adaptive=True),
    perp.MGS(),
    perp.MSOR(),
    perp.AMAOR(),
]


def without_bodies(problem):
    """The same numbers with J in compressed rows and a diagonal M."""
    A = planar_operators.as_compressed_rows(problem.A)
    return perp.ContactProblem(
        A, problem.b, problem.friction, problem.model, dimension=2, lower=problem.lower, upper=problem.upper
    )


def iterate(problem, method, *counts):
    state = method.start(problem, np.zeros(problem.n))
    for count in counts:
        method.step(problem, state, count)
    return state.x.copy()


@pytest.mark.parametrize("method", SWEEPING, ids=repr)
def test_a_method_makes_the_iterates_that_it_makes_in_compressed_rows(method):
    for seed in range(4):
        problem = planar_operators.random_contacts(seed)
        ours, theirs = iterate(problem, method, 6), iterate(without_bodies(problem), method, 6)
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("model", ["cone", "convex", "disc"])
def test_block_sweeps_make_the_same_iterates_under_every_law(model):
    for seed in range(4):
        problem = planar_operators.random_contacts(seed, model)
        method = perp.BlockGaussSeidel(relaxation=1.1)
        ours, theirs = iterate(problem, method, 6), iterate(without_bodies(problem), method, 6)
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("method", SWEEPING, ids=repr)
def test_iterations_may_be_asked_for_in_any_portions(method):
    problem = planar_operators.random_contacts(5)
    np.testing.assert_array_equal(iterate(problem, method, 2, 3), iterate(problem, method, 5))
    np.testing.assert_array_equal(iterate(problem, method, 0, 60, 1, 64, 25), iterate(problem, method, 150))


ACCEPTED = [
    pytest.param(method, model, id=f"{method.name}-{model}")
    for method in default_methods()
    for model in ("box", "cone", "convex", "disc")
    if f"contact/{model}" in method.accepts
]


@pytest.mark.parametrize(("method", "model"), ACCEPTED)
def test_a_method_solves_a_pyramid_of_discs(method, model):
    levels = 2 if method.name == "mj" else 3  # it does not damp: D^-1 A of three levels has an eigenvalue of 2.3
    problem = planar_operators.pyramid(model, levels)
    result = perp.solve(problem, method, tol=1e-8, max_iterations=50_000)
    assert result.success, result.message
    exact = perp.solve(problem, "block_gauss_seidel", tol=1e-13, max_iterations=50_000)
    np.testing.assert_allclose(result.y, exact.y, atol=1e-6)
    np.testing.assert_allclose(problem.A.velocity(result), problem.A.velocity(exact), atol=1e-6)


@pytest.mark.parametrize("method", [case.values[0] for case in ACCEPTED if case.values[1] == "box"], ids=repr)
def test_a_body_that_cannot_move_stops_no_method(method):
    A = planar_operators.random_planar(np.random.default_rng(1), contacts=5, fixed=True)
    problem = perp.ContactProblem(A, np.random.default_rng(2).standard_normal(A.n), 0.3, dimension=2)
    result = perp.solve(problem, method, tol=1e-8, max_iterations=20_000)
    np.testing.assert_array_equal(A.velocity(result)[:3], 0.0)
    assert result.success, result.message


@given(st.integers(0, 10_000))
def test_contacts_of_one_colour_share_no_body_that_moves(seed):
    problem = planar_operators.random_contacts(seed)
    colours = colour_contacts(problem, problem.contacts, problem.contact_rows)
    bodies = problem.A.planar.as_given()[0][: problem.contact_rows : 2]
    for colour in np.unique(colours):
        moved = bodies[colours == colour]
        moved = moved[moved >= 0]
        assert moved.size == np.unique(moved).size


def test_contacts_whose_rows_act_on_different_bodies_go_through_compressed_rows():
    rng = np.random.default_rng(5)
    masses = PlanarMasses([1.0, 2.0, 3.0], [1.0, 0.5, 0.2])
    A = perp.FactoredOperator.from_body_pairs([[0, 1], [1, 2]], rng.standard_normal((2, 2, 3)), masses)
    problem = perp.ContactProblem(A, -np.ones(2), 0.5, dimension=2)
    assert make_sweeper(problem, 1.0, np.zeros(2)).kernels is factored
    for method in (perp.PGS(), perp.BlockGaussSeidel(), perp.AMGS(), perp.NNCG()):
        assert perp.solve(problem, method).success


def test_contacts_with_two_tangents_on_planar_bodies_go_through_compressed_rows():
    A = perp.FactoredOperator.from_body_pairs(
        [[0, 1]] * 3, np.eye(3)[:, None, :] * [[1.0], [-1.0]], PlanarMasses([1, 2], [1, 2])
    )
    problem = perp.ContactProblem(A, [-1.0, 0.5, 0.2], 0.5, "cone")
    assert make_sweeper(problem, 1.0, np.zeros(3)).kernels is factored
    for method in (perp.PGS(), perp.BlockGaussSeidel(), perp.NNCG()):
        assert perp.solve(problem, method, tol=1e-10).success


def test_rows_without_contacts_are_swept_as_planar_pairs():
    problem = planar_operators.pyramid()
    box = perp.BoxLCP(problem.A, problem.b, -0.1, 0.1)
    assert make_sweeper(box, 1.0, np.zeros(box.n)).kernels is planar_pairs
    for method in (perp.PGS(), perp.NNCG(), perp.AMGS(alpha=0.3)):
        assert perp.solve(box, method).success


COUNT_SIGNATURES = """
import importlib, json
import numpy as np
import planar_operators, perp
from perp.solvers.roster import suitable_methods

for problem in (
    *(planar_operators.pyramid(model, levels=2) for model in ("box", "cone", "convex", "disc")),
    planar_operators.random_contacts(0),
    perp.LCP(planar_operators.pyramid().A, planar_operators.pyramid().b),
    perp.BoxLCP(planar_operators.pyramid().A, planar_operators.pyramid().b, -1.0, 1.0),
):
    problem.slack(np.ones(problem.n)), problem.A @ np.ones(problem.n)
    problem.A.relative_velocity(problem.A.velocity(np.ones(problem.n)))
    for method in (*suitable_methods(problem), *([perp.PGS(order="random")] if problem.kind == "contact/box" else [])):
        result = perp.solve(problem, method, max_iterations=3, x0=np.ones(problem.n))
        problem.A.velocity(result), result.verify()
counts = {}
for module in ("storages.planar_pairs", "sweeps.blocked_pairs", "sweeps.modulus", "sweeps.nncg"):
    loaded = importlib.import_module("perp.kernels." + module)
    for name, item in vars(loaded).items():
        if hasattr(item, "signatures") and item.py_func.__module__ == loaded.__name__:
            if "forceinline" not in item.targetoptions and (module[:8] == "storages" or "planar" in module + name):
                counts[f"{module}.{name}"] = len(item.signatures)
print(json.dumps(counts))
"""


def test_every_planar_kernel_is_compiled_for_exactly_one_signature():
    tests = planar_operators.__file__.rpartition("/")[0]
    command = f"import sys; sys.path.insert(0, {tests!r})\n" + COUNT_SIGNATURES
    run = subprocess.run([sys.executable, "-c", command], check=True, capture_output=True, text=True)
    counts = json.loads(run.stdout)
    assert len(counts) == 11
    assert counts == dict.fromkeys(counts, 1)
