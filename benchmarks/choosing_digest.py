"""Rows, and what they say: the best methods of each family and size, and the chain that solves most the soonest."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from perp.lab.runs.row_file import Record

Key = tuple[str, int, int, str]

SOLVED = "CONVERGED"
NOT_RUN = "NOT_RUN"
"""Of a method that was too slow at the size before, or not among the few that are asked on large problems."""
FALSE = "FALSE"
"""Of an answer that claims success and has, computed anew, a residual beyond the tolerance."""


@dataclass(frozen=True)
class Row(Record):
    """One method on one problem. `n` is the size asked for, `rows` what the family made of it."""

    DIGITS = 3

    family: str
    n: int
    rows: int
    seed: int
    method: str
    status: str
    residual: float
    seconds: float
    """Processor time of the whole call on a problem never seen before; the median of several where it is short."""

    @property
    def key(self) -> Key:
        return self.family, self.n, self.seed, self.method

    @property
    def solved(self) -> bool:
        return self.status == SOLVED


BEST = 3
"""Methods that are listed."""
CHAIN = 3
"""Methods of a chain, at most."""


@dataclass(frozen=True)
class Score:
    """A method on all problems of one family and size."""

    method: str
    solved: int
    problems: int
    seconds: float
    """Median of the successful runs."""
    residual: float
    """The largest of the successful runs."""

    @property
    def share(self) -> float:
        return self.solved / self.problems

    def __str__(self) -> str:
        unreliable = "" if self.solved == self.problems else f", {self.solved} of {self.problems}"
        return f"{self.method} ({tell_seconds(self.seconds)}{unreliable})"


@dataclass(frozen=True)
class Digest:
    """One line of the table."""

    family: str
    n: int
    problems: int
    solved: int
    """By any method."""
    best: tuple[Score, ...]
    chain: tuple[str, ...]


def digest(rows: Iterable[Row]) -> list[Digest]:
    """A line for each family and size, in the order in which they come."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.family, row.n), []).append(row)
    return [_digest_group(family, n, group) for (family, n), group in groups.items()]


def _digest_group(family: str, n: int, rows: Sequence[Row]) -> Digest:
    problems = {row.seed for row in rows}
    scores = sorted(score_methods(rows), key=lambda score: (-score.share, score.seconds))
    solved = {row.seed for row in rows if row.solved}
    return Digest(family, n, len(problems), len(solved), tuple(scores[:BEST]), find_chain(rows))


def score_methods(rows: Sequence[Row]) -> list[Score]:
    """Every method that solved at least one problem."""
    problems = len({row.seed for row in rows})
    by_method: dict[str, list[Row]] = {}
    for row in rows:
        if row.solved:
            by_method.setdefault(row.method, []).append(row)
    return [
        Score(method, len(runs), problems, median(run.seconds for run in runs), max(run.residual for run in runs))
        for method, runs in by_method.items()
    ]


def find_chain(rows: Sequence[Row]) -> tuple[str, ...]:
    """Methods one after the other, each asked only for what those before it left open.

    The next one is that which solves most of what is open for the time that it spends there, failures included: the
    greedy rule for covering sets, with costs.
    """
    runs = [row for row in rows if row.status != NOT_RUN]
    open_problems = {row.seed for row in runs if row.solved}
    chain: list[str] = []
    while open_problems and len(chain) < CHAIN:
        gains: dict[str, float] = {}
        for method in {row.method for row in runs}:
            mine = [row for row in runs if row.method == method and row.seed in open_problems]
            won = sum(row.solved for row in mine)
            if won:
                gains[method] = won / max(sum(row.seconds for row in mine), 1e-9)
        chosen = max(gains, key=lambda method: (gains[method], method))
        chain.append(chosen)
        open_problems -= {row.seed for row in runs if row.method == chosen and row.solved}
    return tuple(chain)


# --- written down ----------------------------------------------------------------------------------------------------


def write_digest(path: Path, lines: Sequence[Digest]) -> None:
    headings = ["family", "n", "problems", "solved"]
    for place in range(1, BEST + 1):
        headings += [f"method_{place}", f"seconds_{place}", f"share_{place}", f"residual_{place}"]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*headings, "chain"])
        for line in lines:
            cells: list[object] = [line.family, line.n, line.problems, line.solved]
            for place in range(BEST):
                score = line.best[place] if place < len(line.best) else None
                cells += (
                    [score.method, f"{score.seconds:.3g}", f"{score.share:.2f}", f"{score.residual:.0e}"]
                    if score
                    else [""] * 4
                )
            writer.writerow([*cells, " > ".join(f"[{one}]" if ">" in one else one for one in line.chain)])


def render_markdown(lines: Sequence[Digest], about: dict[str, str] | None = None) -> str:
    """A table for people: a line for each family and size, the three best methods with their times."""
    told = about or {}
    text = ["| family | n | best | second | third | solved |", "|---|---:|---|---|---|---:|"]
    previous = ""
    for line in lines:
        words = f"**{line.family}**" + (f": {told[line.family]}" if line.family in told else "")
        name, previous = (words if line.family != previous else ""), line.family
        cells = [str(line.best[place]) if place < len(line.best) else "" for place in range(BEST)]
        text.append(f"| {name} | {line.n:,} | {' | '.join(cells)} | {line.solved} of {line.problems} |")
    return "\n".join(text) + "\n"


def tell_seconds(seconds: float) -> str:
    """Two digits that matter, in the unit that needs no power of ten."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{_two_digits(seconds / size)} {unit}"
    return f"{_two_digits(seconds / 1e-6)} µs"


def _two_digits(number: float) -> str:
    return f"{number:.0f}" if number >= 9.5 else f"{number:.1f}"
