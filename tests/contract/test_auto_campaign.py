"""A hundred and fifty samples of the campaign through plain `perp.solve`, and the instruments of the campaign.

`python -m benchmarks campaign` takes 10,000 of them; `docs/campaign.csv` says what came of them.
"""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

import perp
from perp import gallery
from perp.problems.residual_scale import scaled_residual

sys.path.append(str(Path(__file__).resolve().parents[2]))
child = pytest.importorskip("benchmarks.campaign_child", reason="benchmarks are in a checkout only")
digest = pytest.importorskip("benchmarks.campaign_digest")
judging = pytest.importorskip("benchmarks.campaign_judge")
proofs = pytest.importorskip("benchmarks.campaign_judge")
row_files = pytest.importorskip("perp.lab.runs.row_file")
runner = pytest.importorskip("benchmarks.campaign")
samples = pytest.importorskip("benchmarks.campaign_samples")

COUNT = 150
TOL = 1e-8


@pytest.mark.parametrize("number", range(COUNT), ids=[f"{k} {samples.structure_of(k)}" for k in range(COUNT)])
def test_a_sample_is_solved_or_not_as_its_making_says(number):
    row = child.measure_sample(number, TOL, repeat=number % 7 == 0)
    assert row.flaws == ""
    if row.solvable != "gamble":
        assert (row.success == 1) == (row.solvable == "yes"), row


# ---- the samples


def test_every_kind_of_the_gallery_and_every_model_of_contacts_is_drawn():
    assert {f"gallery/{kind}" for kind in gallery.kinds()} <= set(samples.NAMES)
    for model in ("box", "cone", "convex", "disc"):
        assert sum(f"contacts/{model}" in name for name in samples.NAMES) == 4


@pytest.mark.parametrize("name", samples.NAMES)
def test_a_number_is_the_same_problem_each_time_and_its_planted_solution_solves_it(name):
    number = samples.NAMES.index(name) + 3 * len(samples.NAMES)
    assert samples.structure_of(number) == name
    first, second = samples.draw_sample(number), samples.draw_sample(number)
    assert child.fingerprint(first.problem) == child.fingerprint(second.problem)
    assert 1 <= first.problem.n <= 200
    if first.x is not None:
        assert judging.judge(first.problem, first.x).certain == 0.0


# ---- the judge


@pytest.mark.parametrize("number", range(0, 10 * len(samples.NAMES), 37))
def test_the_judge_agrees_with_the_residuals_of_perp_at_any_point(number):
    problem = samples.draw_sample(number).problem
    rng = np.random.default_rng(number)
    for x in (
        np.zeros(problem.n),
        3.0 * rng.standard_normal(problem.n),
        problem.project(rng.standard_normal(problem.n)),
    ):
        found = judging.judge(problem, x)
        assert found.residual == pytest.approx(perp.verify(problem, x).residual, rel=1e-11, abs=1e-13)
        y = problem.slack(x)
        assert found.scaled == pytest.approx(scaled_residual(problem, x, y, found.residual), rel=1e-11, abs=1e-13)
    assert judging.judge(problem, problem.project(x)).outside <= 1e-15 * max(1.0, np.abs(x).max())


def result_of(problem, x, **changes):
    return replace(perp.solve(problem), x=np.asarray(x, dtype=float), **changes)


def planted():
    example = gallery.make("dense_pd", n=20)
    return child.Sample(example.problem, True, "", example.x)


def test_a_wrong_answer_that_claims_success_is_a_flaw():
    sample = planted()
    assert list(child.find_flaws(sample, perp.solve(sample.problem), TOL)) == []
    worse = result_of(sample.problem, np.abs(sample.x + 1e-6))
    (flaw,) = child.find_flaws(sample, worse, TOL)
    assert flaw.startswith("false CONVERGED")
    outside = result_of(sample.problem, np.where(sample.x == 0.0, -1e-9, sample.x))
    assert any("out of bounds" in flaw for flaw in child.find_flaws(sample, outside, TOL))
    broken = result_of(sample.problem, np.full(20, np.nan), status=perp.Status.BREAKDOWN)
    assert "x or y is not finite" in child.find_flaws(sample, broken, TOL)


def test_success_on_a_problem_without_solution_is_a_flaw_and_so_is_a_proof_where_there_is_one():
    sample = planted()
    without = child.Sample(sample.problem, False, "")
    assert list(child.find_flaws(without, perp.solve(sample.problem), TOL)) == [
        "CONVERGED on a problem without solution"
    ]
    infeasible = perp.LCP([[0.0, -1.0], [-1.0, 0.0]], [-1.0, -1.0])
    proved = perp.solve(infeasible)
    assert list(child.find_flaws(child.Sample(infeasible, False, ""), proved, TOL)) == []
    claim = child.Sample(infeasible, True, "", np.ones(2))
    assert list(child.find_flaws(claim, proved, TOL)) == ["false proof: a solution was planted"]


@pytest.mark.parametrize(
    ("u", "objection"),
    [([1.0, 1.0], None), ([1.0, -1.0], "sign"), ([-1.0, -1.0], "sign"), ([0.0, 0.0], "margin")],
)
def test_vectors_are_proofs_or_not(u, objection):
    problem = perp.LCP([[0.0, -1.0], [-1.0, 0.0]], [-1.0, -1.0])
    found = proofs.proves_nothing(problem, np.array(u))
    assert found is None if objection is None else objection in found
    assert "no bound holds" in proofs.proves_nothing(perp.LCP(np.eye(2), [-1.0, -1.0]), np.ones(2))


def test_an_exhaustion_that_forgot_an_index_set_or_a_column_is_found_out():
    unsolvable = gallery.make("unsolvable").problem
    assert proofs.find_objection(unsolvable, perp.solve(unsolvable).certificate) is None
    assert "solve it" in proofs.find_index_set(perp.LCP(np.eye(2), [-1.0, 1.0]), np.arange(2))
    assert "columns" in proofs.find_index_set(unsolvable, np.array([0]))


# ---- rows and processes


def test_rows_come_back_from_their_file_without_a_torn_line(tmp_path):
    path = tmp_path / "rows.csv"
    kept = row_files.RowFile(path, digest.Row)
    for number in (2, 0, 1):
        kept.add(child.measure_sample(number))
    with path.open("a") as file:
        file.write("7,lcp/spd,lcp")
    back = row_files.RowFile(path, digest.Row).rows
    assert sorted(back) == [0, 1, 2]
    assert asdict(back[0])["structure"] == samples.structure_of(0)
    assert all(row.is_certified for row in back.values())


def test_the_digest_counts_what_was_promised(tmp_path):
    solved = child.measure_sample(0)
    lost = child.failed_row(1, TOL, "HANG", 20.0, "no answer in 20 s")
    raised = child.failed_row(2, TOL, "ERROR", 0.1, "raised ValueError: x")
    counts = digest.counts([solved, lost, raised], TOL)
    assert (counts["solvable"], counts["certified"], counts["exceptions"], counts["hangs and crashes"]) == (3, 1, 1, 1)
    digest.write_digest(tmp_path / "digest.csv", [solved, lost, raised], TOL)
    text = (tmp_path / "digest.csv").read_text()
    assert "certified,1\n" in text
    assert f"{samples.structure_of(1)},1,1,0,0,0,1,20,20,1\n" in text
    assert counts["false CONVERGED"] == counts["false proofs"] == counts["NaN"] == counts["warnings"] == 0


def test_what_a_solve_prints_or_warns_of_is_heard():
    with child.caught_output() as heard:
        os.write(1, b"hello")
        warnings.warn("careful", RuntimeWarning, stacklevel=1)
    assert len(heard) == 2
    assert "hello" in heard[0]
    assert "careful" in heard[1]
    with child.caught_output() as heard:
        pass
    assert heard == []


class Silent(runner.Child):
    """A process that says that it is ready, and then nothing, or that ends."""

    def __init__(self, program):
        super().__init__()
        self.program = program

    def _command(self):
        return [sys.executable, "-c", self.program]


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("import time; print('ready', flush=True); time.sleep(60)", "HANG"),
        ("print('ready', flush=True); input()", "CRASH"),
    ],
)
def test_a_process_that_hangs_or_dies_is_a_row(program, status):
    with Silent(program) as process:
        row = process.measure(3, TOL, 0.2)
    assert (row.number, row.status, row.solvable) == (3, status, "yes")
    assert not row.is_certified
