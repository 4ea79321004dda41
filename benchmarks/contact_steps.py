"""Boxed contact problems as they follow one another in a simulation: block pivoting beside interior-point methods.

The step before is a planted problem, whose index sets are known; the step to solve has a bias b that changed a little.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median

import numpy as np
from rich.table import Table
from scipy.sparse.linalg import lsqr

import perp
from benchmarks.contest import LOOSE, TIGHT, Attempt, Entrant, compare, fastest
from benchmarks.effort import Effort, Row
from benchmarks.peers import CONTACT_PEERS, Peer, Question
from benchmarks.tables import add_row, make_table, tell, tell_ms
from perp import gallery
from perp.gallery.catalogue import Example
from perp.problems.inputs import Vector

LAYOUTS = ("wall", "pyramid")
CHANGE = 0.01
SAME, FRESH = "block_principal, same A", "block_principal, fresh A"
COUNTERS = ("factorisations", "single_pivots", "fallbacks")


def stack(rows: int, seed: int, layout: str, load: str = "planted") -> Example:
    return gallery.make("boxed_stack", n=rows, seed=seed, layout=layout, mass_ratio=1000.0, compliance=1e-8, load=load)


def parts(example: Example) -> tuple[perp.BoxLCP, perp.FactoredOperator]:
    """The problem and its operator, by their types."""
    problem = example.problem
    assert isinstance(problem, perp.BoxLCP)
    assert isinstance(problem.A, perp.FactoredOperator)
    return problem, problem.A


# --- how b changes from one step to the next -------------------------------------------------------------------------


def _scale(problem: perp.BoxLCP, J: object, rng: np.random.Generator) -> Vector:
    return problem.b * (1.0 + CHANGE * rng.uniform(-1.0, 1.0))


def _change_velocities(problem: perp.BoxLCP, J: object, rng: np.random.Generator) -> Vector:
    """b + J dv, with dv 1 % of the velocities that fit b best."""
    v = lsqr(J, problem.b, atol=1e-8, btol=1e-8)[0]
    return np.asarray(problem.b + J @ (CHANGE * rng.uniform(-1.0, 1.0, v.size) * v))


def _change_entries(problem: perp.BoxLCP, J: object, rng: np.random.Generator) -> Vector:
    return np.asarray(problem.b * (1.0 + CHANGE * rng.uniform(-1.0, 1.0, problem.n)))


STEPS: dict[str, Callable[[perp.BoxLCP, object, np.random.Generator], Vector]] = {
    "scaled": _scale,
    "velocities": _change_velocities,
    "entrywise": _change_entries,
}


def next_step(example: Example, step: str, seed: int, seconds: float) -> Question:
    """The problem after `example`, to be started from its solution."""
    problem, A = parts(example)
    b = STEPS[step](problem, A.J, np.random.default_rng(seed))
    return Question(perp.BoxLCP(A, b, problem.lower, problem.upper), example.x, seconds)


# --- warm ------------------------------------------------------------------------------------------------------------


def measure_warm(effort: Effort, peers: list[Peer], rows: list[Row]) -> Iterator[Table]:
    for layout in LAYOUTS:
        entrants = {step: list(_enter(peers, effort.limit)) for step in STEPS}
        _rehearse(entrants, layout)
        for wanted in effort.contact_rows:
            count = _run(entrants, wanted, layout, effort)
            rows.extend({"part": "B", "layout": layout, "rows": count} | row for row in _summarise(entrants))
            yield _show_ours(f"B. {layout}, {count:,} rows, warm: ours by the way in which b changed", entrants)
            yield _show_all(f"B. {layout}, {count:,} rows, warm: median ms; (worst residual) where missed", entrants)


def _enter(peers: list[Peer], limit: float) -> Iterator[Entrant]:
    for name, prepare in ((SAME, _prepare_same), (FRESH, _prepare_fresh)):
        yield Entrant(name, [prepare], TIGHT, limit, is_ours=True)
    for target in (LOOSE, TIGHT):
        for peer in peers:
            if peer in CONTACT_PEERS:
                yield Entrant.of_peer(peer, target, limit)


def _prepare_same(question: Question) -> Callable[[], perp.Result]:
    problem = question.problem
    assert isinstance(problem, perp.BoxLCP)
    again = perp.BoxLCP(problem.A, problem.b, problem.lower, problem.upper)
    return partial(_solve, again, question.start, question.seconds)


def _prepare_fresh(question: Question) -> Callable[[], perp.Result]:
    problem = question.problem
    assert isinstance(problem, perp.BoxLCP)
    again = perp.BoxLCP(copy_operator(problem.A), problem.b, problem.lower, problem.upper)
    return partial(_solve, again, question.start, question.seconds)


def copy_operator(A: perp.Operator) -> perp.FactoredOperator:
    """The same numbers in an operator that nobody has analysed yet."""
    assert isinstance(A, perp.FactoredOperator)
    assert A.pairs is not None
    assert isinstance(A.mass, perp.BodyMasses)
    return perp.FactoredOperator.from_body_pairs(*A.pairs.as_given(), A.mass, A.compliance)


def _solve(problem: perp.BoxLCP, x0: Vector | None, seconds: float, fallback: str = "parametric") -> perp.Result:
    return perp.solve(problem, "block_principal", x0=x0, tol=1e-12, max_seconds=seconds, fallback=fallback)


def _rehearse(entrants: dict[str, list[Entrant]], layout: str) -> None:
    """Imports, compilers and caches: once, on a problem that does not count."""
    example = stack(100, 99, layout)
    for step, listed in entrants.items():
        for entrant in listed:
            entrant.attempt(next_step(example, step, 99, entrant.limit))
            entrant.forget()


def _run(entrants: dict[str, list[Entrant]], wanted: int, layout: str, effort: Effort) -> int:
    """All seeds, all steps, everybody in turn; returns the number of rows."""
    listed = [entrant for one in entrants.values() for entrant in one]
    for entrant in listed:
        entrant.begin()
    for seed in range(effort.seeds):
        example = stack(wanted, seed, layout)
        count = example.problem.n
        before = next_step(example, "scaled", seed + effort.seeds, effort.limit)
        _prepare_same(before)()  # an earlier step, so that A has been analysed; from its solution nothing would be done
        if seed == 0:
            running = [entrant for entrant in listed if entrant.is_ours or not entrant.is_too_slow_for(count)]
        for step, one in entrants.items():
            question = next_step(example, step, seed, effort.limit)
            for entrant in one:
                if entrant in running and (entrant.is_ours or not entrant.has_spent_its_time()):
                    entrant.attempt(question)
    return count


def count_of(attempts: Sequence[Attempt], counter: str) -> list[float]:
    """What each of our solves counted in the end."""
    columns = (attempt.answer.history.counters.get(counter) for attempt in attempts)
    return [0.0 if column is None else float(column[-1]) for column in columns]


def _summarise(entrants: dict[str, list[Entrant]]) -> Iterator[Row]:
    for step, listed in entrants.items():
        for one in listed:
            row: Row = {
                "step": step,
                "solver": one.name,
                "ours": one.is_ours,
                "target": str(one.target),
                "seconds": [attempt.seconds for attempt in one.attempts],
                "natural": [attempt.judgement.natural for attempt in one.attempts],
                "impulse": [attempt.judgement.impulse for attempt in one.attempts],
                "reached": [attempt.reached for attempt in one.attempts],
            }
            if one.is_ours:
                row["iterations"] = [attempt.answer.iterations for attempt in one.attempts]
                row |= {name: count_of(one.attempts, name) for name in COUNTERS}
            yield row


def _show_ours(title: str, entrants: dict[str, list[Entrant]]) -> Table:
    headings = ("b", "solved", "iterations", "factors", "single", "ms, same A", "fresh A", "impulse")
    table = make_table(title, (*headings, "/ peer 1e-6", "/ peer 1e-10"))
    for step, listed in entrants.items():
        same, fresh = (next(one for one in listed if one.name == name) for name in (SAME, FRESH))
        attempts = same.attempts
        ratios = (compare(same, fastest(listed, target)) for target in (LOOSE, TIGHT))
        cells = [
            step,
            f"{sum(attempt.reached for attempt in attempts)} of {len(attempts)}",
            tell_range([float(attempt.answer.iterations) for attempt in attempts]),
            tell_range(count_of(attempts, "factorisations")),
            tell_range(count_of(attempts, "single_pivots")),
            tell_ms(same.seconds),
            tell_ms(fresh.seconds),
            f"{same.residual:.0e}",
        ]
        told = (None if ratio is None else f"{ratio:.2f}" if same.reached else "unsolved" for ratio in ratios)
        add_row(table, [*cells, *told])
    return table


def _show_all(title: str, entrants: dict[str, list[Entrant]]) -> Table:
    table = make_table(title, ("solver", "target", *entrants), labels=2)
    for lines in zip(*entrants.values(), strict=True):
        add_row(table, [lines[0].name, lines[0].target, *(_tell_time(one) for one in lines)])
    bests = [(target, [fastest(listed, target) for listed in entrants.values()]) for target in (LOOSE, TIGHT)]
    for target, peers in bests:
        add_row(table, ["fastest peer", target, *(peer.name if peer else None for peer in peers)])
    return table


def _tell_time(one: Entrant) -> str:
    if not one.attempts:
        return f"> {one.limit:g} s, foretold"
    if one.is_late:
        return f"> {one.limit:g} s"
    missed = sum(not attempt.reached for attempt in one.attempts)
    note = f" ({one.residual:.0e}, {missed} of {len(one.attempts)})" if missed else ""
    return tell_ms(one.seconds) + note


def tell_range(values: Sequence[float]) -> str:
    """The median, and the largest where that is another one."""
    middle, largest = median(values), max(values)
    return tell(middle) if middle == largest else f"{tell(middle)} (..{tell(largest)})"


# --- cold ------------------------------------------------------------------------------------------------------------

FALLBACKS = ("parametric", "progress", "count")


def measure_cold(effort: Effort, rows: list[Row]) -> Iterator[Table]:
    """Without index sets to start from; the fallbacks beside one another up to 1,000 rows."""
    for load in ("planted", "gravity"):
        headings = ("stack", "rows", "fallback", "solved", "factors", "iterations", "seconds", "endings")
        table = make_table(f"B. Cold, load {load}, block_principal, at most {effort.limit:g} s a run", headings)
        for layout in LAYOUTS:
            for wanted in effort.contact_rows:
                for fallback in FALLBACKS if wanted <= 1_000 else FALLBACKS[:1]:
                    attempts = _run_cold(wanted, layout, load, fallback, effort)
                    add_row(table, _describe_cold(layout, fallback, attempts))
                    rows.append(
                        {
                            "part": "B",
                            "start": "cold",
                            "load": load,
                            "layout": layout,
                            "rows": attempts[0].answer.problem.n,
                            "fallback": fallback,
                            "solved": [attempt.reached for attempt in attempts],
                            "seconds": [attempt.seconds for attempt in attempts],
                            "factorisations": count_of(attempts, "factorisations"),
                            "single_pivots": count_of(attempts, "single_pivots"),
                            "endings": [attempt.answer.status.name for attempt in attempts],
                            "impulse": [attempt.judgement.impulse for attempt in attempts],
                        }
                    )
        yield table


def _run_cold(wanted: int, layout: str, load: str, fallback: str, effort: Effort) -> list[Attempt]:
    """One seed after the other, until all are done or the time for this kind is spent."""

    def prepare(question: Question) -> Callable[[], perp.Result]:
        problem = question.problem
        assert isinstance(problem, perp.BoxLCP)
        return lambda: _solve(problem, None, question.seconds, fallback)

    entrant = Entrant("cold", [prepare], TIGHT, effort.limit, is_ours=True)
    for seed in range(effort.seeds):
        problem = stack(wanted, seed, layout, load).problem
        entrant.attempt(Question(problem, seconds=effort.limit))
        if sum(attempt.seconds for attempt in entrant.attempts) > effort.cold_seconds:
            break
    return entrant.attempts


def _describe_cold(layout: str, fallback: str, attempts: list[Attempt]) -> list[object]:
    solved = [attempt for attempt in attempts if attempt.reached]
    endings = Counter(attempt.answer.status.name.lower() for attempt in attempts)
    return [
        layout,
        attempts[0].answer.problem.n,
        fallback,
        f"{len(solved)} of {len(attempts)}",
        tell_range(count_of(attempts, "factorisations")),
        tell_range([float(attempt.answer.iterations) for attempt in attempts]),
        tell_range([attempt.seconds for attempt in attempts]),
        ", ".join(f"{count} {name}" for name, count in endings.most_common()),
    ]
