"""What choosing costs: `python -m benchmarks auto [--quick] [--only FAMILY] [--largest ROWS]`.

`perp.solve(problem)` beside the best methods called by name, in turn, in one process, every call on a problem that
nobody has looked at; times are those of the processor. Who the best are, `docs/choosing/rows.csv` says (`python -m
benchmarks choosing` writes it); where it says nothing, all that fit run once. Targets: at about 20 rows `auto` takes at
most 3 times as long as the best, from 500 rows on at most 1.3 times; and an LCP of three rows, solved before, takes
less than 50 microseconds.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter, process_time

from rich.table import Table

import perp
from benchmarks.choosing import FOLDER, chosen_families
from benchmarks.choosing_digest import Row, score_methods, tell_seconds
from benchmarks.choosing_families import BY_NAME, Family
from benchmarks.choosing_runs import TOLERANCE, Candidate, absolute_tolerance, all_candidates, judge
from benchmarks.tables import add_row, make_table
from perp.lab.runs.row_file import read_rows
from perp.problems.problem import Problem

SIZES = (3, 6, 12, 20, 24, 96, 100, 480, 500, 2000)
QUICK_FAMILIES = "dense spd,dense pd,dense qp,dense box,poisson,boxed stack,stack 1:1"
SMALL, SMALL_RATIO = range(12, 25), 3.0
LARGE, LARGE_RATIO = 480, 1.3
TINY, TINY_SECONDS = "dense spd", 50e-6
RIVALS = 3
SEEDS = (0, 1)
TURNS, LEAST_TURNS, TURN_SECONDS = 25, 3, 0.5
LIMIT = 10.0
"""Seconds for one call."""


@dataclass(frozen=True)
class Duel:
    """`auto` and its rivals on one problem, medians of calls in turn."""

    rows: int
    auto: float
    rival: str
    best: float
    solved: bool
    """Whether auto's answer holds."""
    method: str
    """The method that made auto's answer."""

    @property
    def ratio(self) -> float:
        return self.auto / self.best


def measure_auto(options: Namespace) -> Iterator[Table | str]:
    yield measure_tiny()
    largest = options.largest or (500 if options.quick else max(SIZES))
    only = options.only or (QUICK_FAMILIES if options.quick else None)
    known = read_rows(FOLDER / "rows.csv", Row, grows=True)
    table = make_table(
        "`auto` beside the best method called by name (fresh problems, medians, worst of the seeds)",
        ("family", "rows", "best", "its time", "auto", "auto / best", "at most", "met", "answer by"),
        labels=1,
    )
    counts = {True: 0, False: 0}
    for family in chosen_families(only):
        for n in (size for size in family.sizes if size in SIZES and size <= largest):
            rows = [row for row in known if row.family == family.name and row.n == n]
            worst = max((duel(family, n, seed, rows) for seed in SEEDS), key=lambda one: (not one.solved, one.ratio))
            target = target_ratio(n)
            met = None if target is None else worst.solved and worst.ratio <= target
            if met is not None:
                counts[met] += 1
            add_row(table, [family.name, worst.rows, *_tell(worst, target, met)])
    yield table
    yield f"targets met: {counts[True]} of {sum(counts.values())}"


def target_ratio(n: int) -> float | None:
    if n in SMALL:
        return SMALL_RATIO
    return LARGE_RATIO if n >= LARGE else None


def _tell(duel: Duel, target: float | None, met: bool | None) -> Iterator[object]:
    yield from (duel.rival, tell_seconds(duel.best), tell_seconds(duel.auto))
    yield f"{duel.ratio:.2f}"
    yield target
    yield None if met is None else "yes" if met else "NO"
    yield duel.method if duel.solved else f"{duel.method}: NOT SOLVED"


def duel(family: Family, n: int, seed: int, known: Sequence[Row]) -> Duel:
    problem, x0 = family.make(n, seed), family.starting_point(n, seed)
    tol = absolute_tolerance(problem)
    contenders: dict[str, Callable[[Problem], perp.Result]] = {
        candidate.label: partial(candidate.solve, seconds=LIMIT, x0=x0, tol=tol)
        for candidate in find_rivals(problem, known)
    }
    contenders["auto"] = partial(perp.solve, tol=TOLERANCE, x0=x0)
    seconds, results = take_turns(problem, contenders)
    rivals = {name: value for name, value in seconds.items() if name != "auto"}
    best = min(rivals, key=lambda name: (not results[name].success, rivals[name]), default="auto")
    answer = results["auto"]
    solved = answer.success and judge(problem, answer)[0] <= TOLERANCE
    return Duel(problem.n, seconds["auto"], best, seconds[best], solved, answer.method)


def find_rivals(problem: Problem, known: Sequence[Row]) -> list[Candidate]:
    """The quickest of the most reliable methods, by what is known or else by one run each."""
    candidates = {one.label: one for one in all_candidates() if len(one.steps) == 1 and one.fits(problem)}
    scores = [score for score in score_methods(known) if score.method in candidates]
    if not scores:
        return sorted(candidates.values(), key=partial(_try_once, problem))[:RIVALS]
    scores.sort(key=lambda score: (-score.share, score.seconds))
    return [candidates[score.method] for score in scores[:RIVALS]]


def _try_once(problem: Problem, candidate: Candidate) -> tuple[bool, float]:
    """Sorts by success and time; the first call of two loads kernels."""
    candidate.solve(deepcopy(problem), 0.1)
    fresh = deepcopy(problem)
    begun = perf_counter()
    result = candidate.solve(fresh, LIMIT / 20)
    return not result.success, perf_counter() - begun


def take_turns(
    problem: Problem, contenders: dict[str, Callable[[Problem], perp.Result]]
) -> tuple[dict[str, float], dict[str, perp.Result]]:
    """Median seconds of each, all in turn, each time on a new copy; more turns where a turn is short.

    The first turn loads kernels and is not counted, except for those that fail: they are not asked again.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    results: dict[str, perp.Result] = {}
    begun_all = perf_counter()
    for turn in range(TURNS + 1):
        for name, solve in contenders.items():
            if turn and not results[name].success:
                continue
            fresh = deepcopy(problem)
            begun = process_time()
            results[name] = solve(fresh)
            spent = process_time() - begun
            if turn or not results[name].success:
                seconds[name].append(spent)
        if turn >= LEAST_TURNS and perf_counter() - begun_all > TURN_SECONDS:
            break
    return {name: median(values) for name, values in seconds.items()}, results


def measure_tiny() -> Table:
    """Three rows, the same problem again and again: what the public call itself costs."""
    table = make_table(
        f"An LCP of three rows, solved before (at most {tell_seconds(TINY_SECONDS)}), and one never seen",
        ("call", "time", "new problem", "met"),
    )
    problem = BY_NAME[TINY].make(3, 0)
    names = ("auto", "psor", "dantzig", "lemke", "block_principal")
    seconds: dict[str, list[float]] = {name: [] for name in names}
    fresh_seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(320):
        for name in names:
            fresh = deepcopy(problem)
            first = perf_counter()
            perp.solve(fresh, name)
            between = perf_counter()
            perp.solve(problem, name)
            last = perf_counter()
            if turn >= 20:
                fresh_seconds[name].append(between - first)
                seconds[name].append(last - between)
    for name in names:
        spent = median(seconds[name])
        met = ("yes" if spent <= TINY_SECONDS else "NO") if name == "auto" else None
        add_row(table, [name, tell_seconds(spent), tell_seconds(median(fresh_seconds[name])), met])
    return table
