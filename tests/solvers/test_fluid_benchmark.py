"""The pieces of `python -m benchmarks fluid`, on small grids."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import perp

sys.path.append(str(Path(__file__).resolve().parents[2]))
methods = pytest.importorskip("benchmarks.fluid_methods", reason="benchmarks are in a checkout only")
growth = pytest.importorskip("benchmarks.fluid_growth")
memory = pytest.importorskip("benchmarks.fluid_memory")
peers = pytest.importorskip("benchmarks.fluid_speed")
speed = pytest.importorskip("benchmarks.fluid_speed")
sweeps = pytest.importorskip("benchmarks.fluid_sweeps")

KNOWN = methods.Variant("mprgp", {"preconditioner": "jacobi"})


def run(seconds=1.0, iterations=10, inner=None, reached=True):
    return methods.Run(reached, seconds, 0.0, seconds, iterations, inner, 1e-9, "converged")


@pytest.mark.parametrize("kind", methods.KINDS)
@pytest.mark.parametrize("dimension", [2, 3])
def test_about_half_of_the_cells_are_active(kind, dimension):
    problem = methods.make_problem(kind, dimension, 16)
    assert problem.A.grid == (16,) * dimension
    result = perp.solve(problem, "mprgp", tol=1e-9)
    assert result.success
    assert 0.35 < np.mean(result.x > 0.0) < 0.6


def test_the_contact_must_be_found_where_an_obstacle_is_loaded_and_is_told_by_b_where_it_is_planted():
    share = {}
    for kind in methods.KINDS:
        problem = methods.make_problem(kind, 2, 48)
        x = perp.solve(problem, "mprgp", tol=1e-9).x
        share[kind] = np.mean((problem.b < 0.0) == (x > 0.0))
    assert share["planted"] > 0.75 > share["obstacle"]


def test_methods_that_are_not_there_are_named_and_left_out():
    problem = methods.make_problem("planted", 2, 8)
    absent = (methods.Variant("no_such_method"), methods.Variant("mprgp", {"preconditioner": "no_such_recipe"}))
    present, lines = methods.split_by_presence((KNOWN, *absent), problem)
    assert present == [KNOWN]
    assert [line.partition(" (")[0] for line in lines] == [
        "left out: no_such_method",
        "left out: mprgp, no_such_recipe",
    ]


def test_a_run_is_judged_by_its_residual_and_keeps_to_its_time():
    problem = methods.make_problem("planted", 2, 16)
    found = methods.run_ours(problem, KNOWN.make(), 1e-8, 10.0)
    assert found.reached
    assert found.residual <= 1e-8
    assert not methods.run_ours(problem, KNOWN.make(), 1e-30, 10.0).reached


def test_growth_is_judged_from_the_first_size_to_the_last_that_was_solved():
    flat = growth.tell_growth({16: run(1.0, 10), 32: run(8.0, 12)}, 3)
    assert flat == ("32 / 16", "1.20 ok", None, None, "1.00 ok")
    inner = growth.tell_growth({16: run(1.0, 2, 10), 32: run(16.0, 3, 30)}, 3)
    assert inner == ("32 / 16", 1.5, "3.00 OVER", None, "2.00 OVER")
    slow_start = growth.tell_growth({16: run(8.0), 32: run(8.0), 64: run(128.0)}, 3)
    assert slow_start[-1] == "2.00 OVER"  # 128 is less than 64 times 8, and twice what 32^3 cells took
    assert growth.tell_growth({16: run(), 32: run(), 64: run(reached=False)}, 3)[0] == "32 / 16"
    assert growth.tell_growth({16: run(), 32: run(reached=False)}, 3) == ("growth", "too few sizes")
    assert growth.tell_growth({}, 3) == ("growth", "too few sizes")


def test_after_a_miss_a_method_is_not_asked_for_larger_grids(monkeypatch):
    asked = []

    def miss(problem, method, tol, limit, check_every):
        asked.append(problem.n)
        return run(reached=False)

    monkeypatch.setattr(growth, "run_ours", miss)
    growth.measure_kind("planted", 2, (4, 8), [KNOWN], 1.0)
    assert asked == [16]


def test_a_peer_that_missed_or_would_take_too_long_is_not_asked_again():
    assert speed.can_make_it(64, None, 1.0)
    assert speed.can_make_it(64, (32, run(1.0)), 16.0)
    assert not speed.can_make_it(64, (32, run(1.1)), 16.0)
    assert not speed.can_make_it(64, (32, run(0.1, reached=False)), 16.0)


def test_a_ratio_has_a_verdict_on_the_largest_cube_only():
    assert speed.tell_ratio(run(2.0), 20.0, True) == "10"
    assert speed.tell_ratio(run(2.0), 6.0, False) == "3"
    assert speed.tell_ratio(run(2.0), 6.0, True) == "3 UNDER"
    assert speed.tell_ratio(run(2.0), None, True) is None
    assert speed.tell_ratio(run(2.0, reached=False), 6.0, True) is None


def test_the_relaxation_of_the_whole_cube_is_the_one_of_the_textbook():
    k = 30
    A = perp.StencilOperator((k,), 2.0, -1.0).to_dense()
    radius = np.abs(np.linalg.eigvalsh(np.eye(k) - A / 2.0)).max()  # of Jacobi's method
    assert speed.relaxation(1.0, k) == pytest.approx(2.0 / (1.0 + np.sqrt(1.0 - radius**2)))
    assert 1.0 <= speed.relaxation(4.0, 4) < speed.relaxation(1.0, 4) < 2.0


def test_the_search_returns_the_relaxation_that_was_fastest(monkeypatch):
    seconds = {speed.relaxation(shape, 16): time for shape, time in ((0.5, 3.0), (1.0, 1.0), (2.0, 2.0))}
    monkeypatch.setattr(speed, "run_ours", lambda problem, method, tol, limit: run(seconds[method.relaxation]))
    best, found = speed.search_psor(None, 16, (0.5, 1.0, 2.0), 10.0)
    assert (best, found.seconds) == (1.0, 1.0)


def test_a_peer_in_a_process_of_its_own_is_judged_here(tmp_path):
    problem = methods.make_problem("planted", 2, 10)
    peers.write_problem(problem, tmp_path / "problem.npz")
    bounded = next(peer for peer in peers.PEERS if peer.solver == "lbfgsb")
    found = peers.run_peer(bounded, problem, tmp_path / "problem.npz", 1e-6, 30.0)
    assert found.reached
    assert found.residual <= 1e-6
    assert found.solve > 0.0


def test_a_peer_that_takes_too_long_or_fails_is_a_line_and_no_exception(tmp_path):
    problem = methods.make_problem("planted", 2, 60)
    peers.write_problem(problem, tmp_path / "problem.npz")
    bounded = next(peer for peer in peers.PEERS if peer.solver == "lbfgsb")
    late = peers.run_peer(bounded, problem, tmp_path / "problem.npz", 1e-6, 1e-3)
    assert not late.reached
    assert late.ending.startswith("none in")
    failed = peers.run_peer(peers.GridPeer("nobody", "nobody"), problem, tmp_path / "problem.npz", 1e-6, 5.0)
    assert failed.ending.startswith("failed: KeyError")


def test_petsc_solves_a_small_square_where_it_is_installed(tmp_path):
    if peers.find_petsc() is None:
        pytest.skip(peers.REMEDY)
    problem = methods.make_problem("obstacle", 2, 10)
    peers.write_problem(problem, tmp_path / "problem.npz")
    found = peers.run_peer(peers.PEERS[0], problem, tmp_path / "problem.npz", 1e-6, 30.0)
    assert found.reached


@pytest.mark.parametrize("case", sweeps.CASES)
def test_the_bytes_of_a_sweep_are_those_of_its_arrays(case):
    problem = sweeps.make_case(case, 12)
    n, A = problem.n, problem.A
    read = A.centre.nbytes + problem.b.nbytes + sum(face.nbytes for face in A.faces or ())
    read += problem.lower.nbytes + problem.upper.nbytes if case == "box" else 0
    written_and_read = 2 * 8 * n
    assert (read + written_and_read) / n == pytest.approx(sweeps.CASES[case], rel=0.06)  # faces of the rim are padded


def test_memory_is_what_rose_above_the_problem():
    if not memory.RESET.exists():
        pytest.skip("only Linux tells the peak")
    told = memory.measure_one(methods.Variant("mprgp"), 24)
    assert told["iterations"] > 0
    assert 0.0 <= told["rise"] < 200.0
