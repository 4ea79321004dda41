"""The measurement behind the rules of "auto": small families from end to end, the digest, and the table."""

from __future__ import annotations

import csv
from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import perp
from benchmarks import auto, choosing
from benchmarks.choosing_digest import NOT_RUN, Row, digest, find_chain, render_markdown, tell_seconds
from benchmarks.choosing_families import FAMILIES, Family, copositive, indefinite, p_matrix, quadratic_program
from benchmarks.choosing_runs import QUICK, Candidate, Step, all_candidates, measure_family
from perp.lab.runs.row_file import RowFile, read_rows
from perp.problems.problem import Problem

FEW = ("lemke", "dantzig", "pgs(30) > block_principal", "jacobi")


def few_candidates() -> list[Candidate]:
    return [one for one in all_candidates() if one.label in FEW]


def identity_family() -> Family:
    return Family("identity", "A = I", lambda n, seed: perp.LCP(np.eye(n), -1.0 - seed * np.ones(n)), (2, 5))


def run(family: Family, path: Path) -> RowFile[Row]:
    file = RowFile(path, Row)
    measure_family(family, few_candidates(), file, QUICK)
    return file


# --- from end to end -------------------------------------------------------------------------------------------------


def test_a_family_is_measured_with_every_candidate_that_fits(tmp_path: Path) -> None:
    file = run(identity_family(), tmp_path / "rows.csv")
    assert {row.method for row in file.rows.values()} == set(FEW)
    assert {row.n for row in file.rows.values()} == {2, 5}
    assert all(row.solved and row.residual <= 1e-8 and row.seconds > 0.0 for row in file.rows.values())


def test_what_is_finished_is_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    run(identity_family(), path)
    before = path.read_text(encoding="utf-8")

    def refuse(n: int, seed: int) -> Problem:
        raise AssertionError("nothing is left to measure")

    run(Family("identity", "A = I", refuse, (2, 5)), path)
    assert path.read_text(encoding="utf-8") == before


def test_a_run_that_was_broken_off_goes_on_where_it_stood(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    complete = run(identity_family(), path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:-9], encoding="utf-8")  # the last line is torn
    assert len(read_rows(path, Row, grows=True)) == len(complete.rows) - 1
    again = run(identity_family(), path)
    assert again.rows.keys() == complete.rows.keys()
    assert len(read_rows(path, Row, grows=True)) == len(complete.rows)


def test_a_method_that_was_late_at_one_size_is_not_asked_at_the_next(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    file = RowFile(path, Row)
    file.add(Row("identity", 2, 2, 0, "lemke", "TIME_LIMIT", 0.5, 1.0))
    run(identity_family(), path)
    late = {(row.n, row.status) for row in read_rows(path, Row, grows=True) if row.method == "lemke"}
    assert late == {(2, "TIME_LIMIT"), (5, NOT_RUN)}


def test_the_command_writes_rows_digest_and_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "FAMILIES", (identity_family(),))
    monkeypatch.setattr(choosing, "BY_NAME", {"identity": identity_family()})
    monkeypatch.setattr(choosing, "all_candidates", few_candidates)
    options = Namespace(quick=True, only="identity", folder=tmp_path, largest=None)
    shown = list(choosing.measure_choosing(options))
    assert len(shown) == 2
    assert (tmp_path / "rows.csv").read_text(encoding="utf-8").startswith(",".join(Row.headings()))
    with (tmp_path / "best.csv").open(encoding="utf-8") as file:
        best = list(csv.DictReader(file))
    assert [(line["family"], line["n"], line["solved"]) for line in best] == [
        ("identity", "2", "1"),
        ("identity", "5", "1"),
    ]
    assert best[0]["method_1"] in FEW
    assert float(best[0]["share_1"]) == 1.0
    assert "**identity**: A = I" in (tmp_path / "best.md").read_text(encoding="utf-8")


def test_an_unknown_family_is_answered_with_the_known_ones() -> None:
    with pytest.raises(SystemExit, match="dense spd"):
        choosing.chosen_families("nonsense")


# --- digest ----------------------------------------------------------------------------------------------------------


def rows_of(**times: list[float | None]) -> list[Row]:
    """A row for each problem: its seconds where it was solved, and None where it failed after ten seconds."""
    return [
        Row("f", 20, 20, seed, method, "CONVERGED" if spent else "STAGNATED", 1e-9, spent or 10.0)
        for method, all_seconds in times.items()
        for seed, spent in enumerate(all_seconds)
    ]


def test_the_best_is_the_quickest_of_the_most_reliable() -> None:
    (line,) = digest(rows_of(quick=[0.001, 0.001, None], sure=[0.02, 0.03, 0.04], slow=[0.5, 0.5, 0.5]))
    assert [score.method for score in line.best] == ["sure", "slow", "quick"]
    assert line.best[0].seconds == 0.03
    assert str(line.best[2]) == "quick (1.0 ms, 2 of 3)"
    assert (line.solved, line.problems) == (3, 3)


def test_a_chain_lets_the_second_method_rescue_what_the_first_leaves() -> None:
    rows = rows_of(quick=[0.001, 0.001, None], cautious=[None, None, 0.1], never=[None, None, None])
    rows = [row if row.solved else replace(row, seconds=0.001) for row in rows]
    assert find_chain(rows) == ("quick", "cautious")


def test_a_method_that_fails_late_is_put_behind_one_that_never_fails() -> None:
    assert find_chain(rows_of(gambler=[0.001, 0.001, None], sure=[0.1, 0.1, 0.1])) == ("sure",)


def test_markdown_has_one_line_for_each_size_and_names_a_family_once() -> None:
    rows = [*rows_of(sure=[0.002]), Row("f", 100, 100, 0, "sure", "TIME_LIMIT", 1.0, 1.0)]
    table = render_markdown(digest(rows), {"f": "told"})
    assert table.splitlines() == [
        "| family | n | best | second | third | solved |",
        "|---|---:|---|---|---|---:|",
        "| **f**: told | 20 | sure (2.0 ms) |  |  | 1 of 1 |",
        "|  | 100 |  |  |  | 0 of 1 |",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.34, "2.3 s"), (12.3, "12 s"), (0.00234, "2.3 ms"), (3.2e-5, "32 µs"), (0.99e-6, "1.0 µs")]
)
def test_times_are_told_in_two_digits(seconds: float, text: str) -> None:
    assert tell_seconds(seconds) == text


# --- families and candidates -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_every_family_makes_the_same_problem_again_from_the_same_seed(family: Family) -> None:
    first, again, other = (family.make(family.sizes[0], seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.b, again.b)
    assert first.b.shape != other.b.shape or (first.b != other.b).any()


def test_families_have_names_of_their_own() -> None:
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
    assert len({one.label for one in all_candidates()}) == len(all_candidates())


@pytest.mark.parametrize("seed", range(3))
def test_matrices_made_here_are_what_they_are_called(seed: int) -> None:
    P = p_matrix(7, seed).A.to_dense()
    minors = [np.linalg.det(P[np.ix_(chosen, chosen)]) for chosen in subsets(7)]
    assert min(minors) > 0.0
    C = copositive(12, seed).A.to_dense()
    assert C.min() >= 0.0
    assert np.linalg.eigvalsh(C)[0] < 0.0
    values = np.linalg.eigvalsh(indefinite(20, seed).A.to_dense())
    assert values[0] < 0.0 < values[-1]
    program = quadratic_program(12, seed, free=True)
    assert np.linalg.eigvalsh(program.A.to_dense() + program.A.to_dense().T)[0] > -1e-12
    assert np.isneginf(program.bounds(program.b)[0][:8]).all()


def subsets(n: int) -> list[list[int]]:
    return [[i for i in range(n) if mask >> i & 1] for mask in range(1, 2**n)]


def test_a_chain_of_two_hands_the_iterate_on() -> None:
    problem = FAMILIES[0].make(20, 0)
    exact = perp.solve(problem, "dantzig")
    first = Step(perp.PSOR(), 30)
    chained = Candidate("psor(30) > block_principal", (first, Step(perp.BlockPrincipal())))
    result = chained.solve(problem, 5.0)
    assert result.success
    np.testing.assert_allclose(result.x, exact.x, atol=1e-7)


# --- the cost of choosing --------------------------------------------------------------------------------------------


def test_auto_is_compared_with_methods_called_directly() -> None:
    known = [Row("identity", 5, 5, 0, "lemke", "CONVERGED", 0.0, 0.001)]
    duel = auto.duel(identity_family(), 5, 0, known)
    assert duel.rival == "lemke"
    assert duel.solved
    assert duel.ratio == duel.auto / duel.best > 0.0


def test_targets_are_those_for_twenty_and_for_five_hundred_rows() -> None:
    assert [auto.target_ratio(n) for n in (3, 20, 100, 500, 2000)] == [None, 3.0, None, 1.3, 1.3]
