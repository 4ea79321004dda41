"""Rows of the campaign, and what they say."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from benchmarks.tables import add_row, make_table
from perp.lab.runs.row_file import Record

LISTED = 12
"""Numbers of failures that are listed for a structure."""


@dataclass(frozen=True)
class Row(Record):
    """One sample."""

    DIGITS = 4

    number: int
    structure: str
    kind: str
    n: int
    solvable: str
    """yes; no; gamble: a solution was planted, but no theory says how to find it; unknown: rounding leaves it open."""
    status: str
    """The name of the status; ERROR, HANG or CRASH where there is none."""
    success: int
    residual: float
    """Recomputed, as the next."""
    scaled: float
    seconds: float
    methods: str
    proved: int
    """Whether a certificate that holds shows that there is no solution."""
    flaws: str
    """What must not happen, in words, separated by semicolons; empty where nothing did."""
    why: str

    @property
    def key(self) -> int:
        return self.number

    @property
    def is_certified(self) -> bool:
        return bool(self.success) and not self.flaws

    @property
    def is_missed(self) -> bool:
        return self.solvable == "yes" and not self.is_certified


def digest(rows: Sequence[Row], tol: float) -> Iterator[Table | str]:
    yield _structures(rows)
    yield from _failures(rows)
    yield _verdict(rows, tol)


def counts(rows: Sequence[Row], tol: float) -> dict[str, float]:
    """Every number that is promised, by name."""
    solvable = [row for row in rows if row.solvable == "yes"]
    unsolvable = [row for row in rows if row.solvable == "no"]
    certified = sum(row.is_certified for row in solvable)
    return {
        "samples": len(rows),
        "solvable": len(solvable),
        "certified": certified,
        "share certified": certified / max(1, len(solvable)),
        "certified, absolute residual above tol": sum(row.is_certified and row.residual > tol for row in solvable),
        "without solution": len(unsolvable),
        "of these proved": sum(row.proved and not row.flaws for row in unsolvable),
        "gambles": sum(row.solvable == "gamble" for row in rows),
        "gambles won": sum(row.solvable == "gamble" and row.is_certified for row in rows),
        "unknown": sum(row.solvable == "unknown" for row in rows),
        "NaN": _with("not finite", rows) + _with("NaN", rows),
        "false CONVERGED": _with("CONVERGED", rows),
        "false proofs": _with("proof", rows),
        "exceptions": _with("raised", rows),
        "hangs and crashes": sum(row.status in ("HANG", "CRASH") for row in rows),
        "warnings": _with("warned", rows),
        "prints": _with("printed", rows),
        "modified problems": _with("modified", rows),
        "other bits on repetition": _with("same bits", rows),
        "seconds": sum(row.seconds for row in rows),
    }


def _with(words: str, rows: Sequence[Row]) -> int:
    return sum(words in row.flaws for row in rows)


HEADINGS = ("structure", "samples", "solvable", "certified", "no solution", "proved", "flaws", "seconds", "slowest")


def _lines(rows: Sequence[Row]) -> Iterator[list[str | int | float]]:
    """A line a structure, in the order of the samples."""
    chosen = ("samples", "solvable", "certified", "without solution", "of these proved")
    for structure in dict.fromkeys(row.structure for row in rows):
        mine = [row for row in rows if row.structure == structure]
        found = counts(mine, 0.0)
        flaws = sum(bool(row.flaws) for row in mine)
        yield [structure, *(int(found[name]) for name in chosen), flaws, found["seconds"], max(r.seconds for r in mine)]


def _structures(rows: Sequence[Row]) -> Table:
    table = make_table("campaign", HEADINGS)
    for line in _lines(rows):
        add_row(table, line)
    return table


def write_digest(path: Path, rows: Sequence[Row], tol: float) -> None:
    """A line for each structure with the numbers of what was missed; before them, every number that is promised."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "number"])
        writer.writerows([name, f"{number:.6g}"] for name, number in counts(rows, tol).items())
        writer.writerow([])
        writer.writerow([*HEADINGS, "missed"])
        for line in _lines(rows):
            missed = [row.number for row in rows if row.structure == line[0] and row.is_missed]
            cells = [f"{cell:.3g}" if isinstance(cell, float) else cell for cell in line]
            writer.writerow([*cells, " ".join(map(str, missed))])


def _failures(rows: Sequence[Row]) -> Iterator[str]:
    """Solvable samples that were not certified, by structure and status; then flaws."""
    missed = [row for row in rows if row.is_missed]
    groups = Counter((row.structure, row.status) for row in missed)
    for (structure, status), count in sorted(groups.items(), key=lambda item: -item[1]):
        numbers = [row.number for row in missed if (row.structure, row.status) == (structure, status)]
        yield f"not certified: {structure}, {status}: {count}: {_list(numbers)}"
    flawed = [row for row in rows if row.flaws]
    for flaw in dict.fromkeys(_kind_of(row.flaws) for row in flawed):
        numbers = [row.number for row in flawed if _kind_of(row.flaws) == flaw]
        example = next(row.flaws for row in flawed if _kind_of(row.flaws) == flaw)
        yield f"flaw: {flaw}: {len(numbers)}: {_list(numbers)} ({example[:200]})"


def _kind_of(flaw: str) -> str:
    return flaw.partition(":")[0].partition(" by ")[0].partition("(")[0]


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:LISTED])) + (", ..." if len(numbers) > LISTED else "")


def _verdict(rows: Sequence[Row], tol: float) -> Table:
    table = make_table(f"campaign, tol {tol:g}", ("what", "number"))
    for name, number in counts(rows, tol).items():
        add_row(table, [name, f"{number:.4%}" if "share" in name else int(number) if number % 1 == 0 else number])
    return table
