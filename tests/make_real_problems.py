"""Writes `real_problems.csv`: for each real problem the method that solves it best, and how well.

    python tests/make_real_problems.py [--methods a,b] [--problems TEXT] [--seconds S] [--rows FILE] [--fresh]

Every applicable method of the roster is run on every problem of `shared/data` (some 25 minutes with a second a run), or
only those methods, or only problems whose name contains TEXT; a row of the table gives way to a better one. With --rows
all rows are kept in a file, and those that stand there already are not run again. With --fresh what the table says so
far is forgotten. Better means: decided (solved, or proved to have no solution), then accurate, then quick.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from math import isnan
from pathlib import Path

from real_data import real_problems

from perp.lab.runs.row_file import read_rows, write_rows
from perp.lab.survey import Candidate, Survey, SurveyRow
from perp.solvers.roster import BY_NAME

TABLE = Path(__file__).with_name("real_problems.csv")
DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"

TOL = 1e-10
"""Times the size of a problem: what its runs aim at."""

ACCURATE = 1e-10
"""A relative error that is as good as any smaller one."""

LEFT_OUT = ("enumeration",)
"""One index set of a problem with thousands of free rows takes it minutes, and no limit of time acts within a step."""

COLUMNS = ("problem", "kind", "n", "method", "status", "residual", "relative", "iterations", "seconds")


@dataclass(frozen=True)
class TableRow:
    """The best run of one problem."""

    problem: str
    kind: str
    n: int
    method: str
    status: str
    residual: float
    relative: float
    iterations: int
    seconds: float

    @property
    def rank(self) -> tuple[int, float, float]:
        """The smallest is the best."""
        if self.status == "INFEASIBLE":
            return 0, 0.0, self.seconds
        if isnan(self.relative):
            return 3, 0.0, 0.0
        if self.relative <= ACCURATE:
            return 1, float(self.status != "CONVERGED"), self.seconds
        return 2, self.relative, self.seconds


def read_table(path: Path = TABLE) -> dict[str, TableRow]:
    with path.open(encoding="utf-8", newline="") as stream:
        return {
            row["problem"]: TableRow(
                row["problem"],
                row["kind"],
                int(row["n"]),
                row["method"],
                row["status"],
                float(row["residual"]),
                float(row["relative"]),
                int(row["iterations"]),
                float(row["seconds"]),
            )
            for row in csv.DictReader(stream)
        }


def write_table(rows: Iterable[TableRow], path: Path = TABLE) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            numbers = (f"{row.residual:.1e}", f"{row.relative:.1e}", row.iterations, f"{row.seconds:.1e}")
            writer.writerow((row.problem, row.kind, row.n, row.method, row.status, *numbers))


def make_row(row: SurveyRow) -> TableRow:
    return TableRow(
        row.problem,
        row.kind,
        row.n,
        row.method.partition("(")[0],  # quadratic_program(piqp) is quadratic_program
        row.status,
        row.residual,
        row.relative,
        row.iterations,
        row.total_seconds,
    )


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Write the table of the real problems and who solves them best.")
    parser.add_argument("--methods", help="only these, with commas between them")
    parser.add_argument("--problems", default="", metavar="TEXT", help="only problems whose name contains TEXT")
    parser.add_argument("--seconds", type=float, default=1.0, help="the time limit of a run")
    parser.add_argument("--rows", type=Path, help="a file that keeps all rows")
    parser.add_argument("--fresh", action="store_true", help="forget what the table says of these problems")
    asked = parser.parse_args(words)
    known = real_problems(DATA)
    table = read_table() if TABLE.exists() else {}
    kept = (
        {(row.problem, row.method): row for row in read_rows(asked.rows, SurveyRow)}
        if asked.rows and asked.rows.exists()
        else {}
    )
    names = asked.methods.split(",") if asked.methods else [name for name in BY_NAME if name not in LEFT_OUT]
    survey = Survey(TOL, asked.seconds, names)
    for name, problem in known.items():
        if asked.problems not in name:
            continue
        rows = list(survey.run(Candidate(name, problem.read), kept))
        kept |= {(row.problem, row.method): row for row in rows}
        if asked.rows:
            write_rows(asked.rows, SurveyRow, kept.values())
        choice = [make_row(row) for row in rows]
        if name in table and not asked.fresh:
            choice.append(table[name])
        if choice:
            table[name] = min(choice, key=lambda row: row.rank)
            write_table(table[known_name] for known_name in known if known_name in table)
            best = table[name]
            sys.stdout.write(f"{name}: {best.method} {best.status} {best.relative:.1e} {best.seconds:.1e} s\n")


if __name__ == "__main__":
    main(sys.argv[1:])
