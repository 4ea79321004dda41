"""The table of a survey as text: problems down, methods across, a word for each run, and what the words mean."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10

from perp.lab.runs.row import FAILED
from perp.lab.survey import NO_METHOD, NOT_READ, SurveyRow

WORDS = {
    "RELATIVE": ("slow", "the merit function hardly changes any more"),
    "ACTIVE_SET_UNCHANGED": ("same", "the active set stays the same"),
    "STAGNATED": ("still", "the iterate no longer changes"),
    "CYCLING": ("cycle", "it came back to an earlier iterate"),
    "LOCAL_MINIMUM": ("local", "a local minimum of the merit function"),
    "NON_DESCENT": ("flat", "no direction of descent"),
    "ITERATION_LIMIT": ("limit", "the limit of iterations"),
    "TIME_LIMIT": ("time", "the limit of time"),
    "REDUCED_ACCURACY": ("round", "done, and rounding keeps the residual above the tolerance"),
    "RAY": ("ray", "it ended on a ray"),
    "INFEASIBLE": ("none", "proved to have no solution"),
    "BREAKDOWN": ("broke", "it broke down"),
    "NON_FINITE": ("inf", "the slack at the start is not finite"),
    FAILED: ("FAIL", "it raised an error"),
}
"""What a run that did not converge shows in place of the exponent of its residual."""

NOT_APPLICABLE = "."
CELL = 6
"""Columns of a cell, with the blank before it."""


def show_table(rows: Sequence[SurveyRow], order: Sequence[str], width: int) -> str:
    """One table, or several below one another where the methods do not fit the width; then the words."""
    runs = [row for row in rows if row.status not in (NOT_READ, NO_METHOD)]
    lines: list[str] = []
    if runs:
        methods = sorted({row.method for row in runs}, key=lambda name: (_place(name, order), name))
        lines += _tables(runs, methods, width)
        lines += ["", *_legend(runs, methods, width)]
    for status, title in ((NO_METHOD, "problems found no method"), (NOT_READ, "files hold no problem")):
        others = [row for row in rows if row.status == status]
        if others:
            lines += ["", f"{len(others)} {title}:", *(f"  {row.problem}: {row.message}" for row in others)]
    return "\n".join(lines)


def cell(row: SurveyRow | None) -> str:
    """The decimal exponent of the residual of a run that converged, or a word."""
    if row is None:
        return NOT_APPLICABLE
    if row.status == "CONVERGED":
        return "exact" if row.residual == 0.0 else f"{floor(log10(row.residual))}"
    return WORDS[row.status][0] if row.status in WORDS else row.status[: CELL - 1].lower()


def _place(name: str, order: Sequence[str]) -> int:
    return order.index(name) if name in order else len(order)


def _tables(runs: Sequence[SurveyRow], methods: Sequence[str], width: int) -> list[str]:
    by_place = {(row.problem, row.method): row for row in runs}
    problems = {row.problem: row.n for row in runs}
    name_width = max(map(len, problems))
    head = name_width + 8
    across = max(1, (width - head) // CELL)
    lines: list[str] = []
    for first in range(0, len(methods), across):
        part = methods[first : first + across]
        numbers = "".join(f"{first + k + 1:>{CELL}}" for k in range(len(part)))
        lines += [""] * bool(lines) + [f"{'problem':<{name_width}} {'n':>7}{numbers}"]
        for problem, n in problems.items():
            cells = "".join(f"{cell(by_place.get((problem, method))):>{CELL}}" for method in part)
            lines.append(f"{problem:<{name_width}} {n:>7}{cells}")
    return lines


def _legend(runs: Sequence[SurveyRow], methods: Sequence[str], width: int) -> list[str]:
    solved = {method: sum(row.method == method and row.is_decided for row in runs) for method in methods}
    tried = {method: sum(row.method == method for row in runs) for method in methods}
    entries = [f"{k} {method} ({solved[method]} of {tried[method]})" for k, method in enumerate(methods, start=1)]
    lines = _wrapped("methods, and how many problems each has solved: ", entries, width)
    statuses = {row.status for row in runs}
    words = ["a number: converged, the decimal exponent of the residual", "exact: a residual of zero"]
    words += [f"{word}: {meaning}" for status, (word, meaning) in WORDS.items() if status in statuses]
    words += [f"{NOT_APPLICABLE}: does not apply"]
    return lines + _wrapped("", words, width)


def _wrapped(start: str, entries: Sequence[str], width: int) -> list[str]:
    """Entries with semicolons between them, none of them broken."""
    lines, line = [], start
    for k, entry in enumerate(entries):
        piece = entry + ("; " if k + 1 < len(entries) else "")
        if line.strip() and len(line) + len(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line = "  "
        line += piece
    return [*lines, line.rstrip()]
