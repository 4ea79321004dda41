"""Friction: `python -m benchmarks friction [--models ..] [--methods ..] [--scenes] [--files DIR] [--packing]`.

Stacks of boxes (gravity walls and pyramids, planted walls) of 336 to 30,000 rows, mass ratios 1 to 10^4, friction 0.1
to 1, under the laws convex, disc, cone, box, and the exact cone with compliance (1e-4 by inertia, 1e-3 by load), each
solved cold by the methods named; seeds from 1000 on, as those below 100 were tuned on. `--scenes`, `--files` and
`--packing` measure steps of scenes (cold and warm), contact problems of a folder, and a packing of spheres instead.

A problem is solved if its residual, recomputed by `perp.verify`, is at most `--tol`; `scaled` counts by the measure of
"auto". Times are whole calls of `perp.solve` on a problem that nothing is known of: short ones the median of two runs
after a first, long ones a single run after one on a small problem. An iteration of Clarabel counts as a factorisation.
Its time is that of one call alone, without the statement of the problem; it asks for `--tol` (`--clarabel-tolerance`)
in its own measure, which is more lenient than the residual: whether its answer is good enough is another column.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from rich.table import Table

from benchmarks.friction_problems import (
    MODELS,
    PACKING_MODELS,
    SCENES,
    SHAPES,
    Case,
    Run,
    collect,
    files,
    make_stack,
    packings,
    time_mujoco,
)
from benchmarks.friction_runs import PEER, SKIPPED, Contest, Row, default_methods, make_empty_row, show, write_rows
from benchmarks.friction_siconos import SOLVERS, Siconos, find_missing
from benchmarks.tables import say
from perp.errors import suggest
from perp.solvers.roster import BY_NAME

ROWS, QUICK_ROWS = (336, 1_092, 2_772, 10_332, 30_000), (336,)
RATIOS, QUICK_RATIOS = (1.0, 100.0, 1e4), (1.0, 1e4)
QUICK_SHAPES = ("wall",)
FIRST_SEED = 1000
SEEDS, QUICK_SEEDS, LARGE_SEEDS = 5, 2, 2
LARGE = 10_000
"""Rows from which on there are at most `LARGE_SEEDS` seeds where nobody says how many."""
LIMIT, QUICK_LIMIT = 20.0, 2.0
LONGEST = 24
"""Letters of a name in a table."""
TIGHT, USUAL = 1e-10, 1e-8
"""Tolerances of the convex models, and of the others."""


def add_friction_options(parser: ArgumentParser) -> None:
    """Beside --quick, --rows, --seeds, --limit, --out and --tol, which others have as well."""
    group = parser.add_argument_group(
        "friction", "also --rows, --seeds, --limit, --tol, --out (.csv or .json), --quick"
    )
    group.add_argument("--models", help=f"of {','.join(MODELS)}; default: all, of scenes and files their own")
    group.add_argument("--methods", help=f"names (default {','.join(default_methods())})")
    group.add_argument("--ratios", help="mass ratios (default 1,100,10000)")
    group.add_argument("--shapes", help=f"of {', '.join(SHAPES)}; separated by commas")
    group.add_argument("--first-seed", type=int, default=FIRST_SEED, help=f"default {FIRST_SEED}")
    group.add_argument("--clarabel-tolerance", type=float, help="what Clarabel is asked for (default: --tol)")
    group.add_argument(
        "--scenes", nargs="?", const=",".join(SCENES), help=f"steps of scenes (default {','.join(SCENES)})"
    )
    group.add_argument("--steps", type=int, default=100, help="of each scene (default 100)")
    group.add_argument("--every", type=int, default=5, help="so many steps one is solved by all (default 5)")
    group.add_argument("--stepper", help="the method that moves scenes on")
    group.add_argument("--files", type=Path, help="contact problems below this folder")
    group.add_argument("--packing", nargs="?", type=int, const=10_000, help="so many spheres (default 10,000)")
    group.add_argument("--siconos", action="store_true", help="also Siconos, where python3-siconos is installed")


def measure_friction(options: Namespace) -> Iterator[Table | str]:
    """`python -m benchmarks friction`."""
    quick: bool = options.quick
    limit = options.limit or (QUICK_LIMIT if quick else LIMIT)
    methods = _read_words(options.methods, default_methods(), ("auto", *BY_NAME))
    contest = Contest(methods, limit, options.clarabel_tolerance)
    record = _Record(contest, options.tol, options.out, tuple(_find_siconos(options, limit)))
    if options.siconos and not record.siconos:
        yield find_missing() or ""
    if PEER in methods and not _has_clarabel():
        yield "Clarabel is left out: pip install 'perp[clarabel]'"
    elsewhere = options.scenes or options.files or options.packing
    if not elsewhere:
        yield from _measure_stacks(options, record)
    if options.packing:
        models = _read_words(options.models, PACKING_MODELS, MODELS)
        seeds = range(options.first_seed, options.first_seed + (options.seeds or 1))
        yield from _measure_cases("packing", packings(options.packing, models, seeds), record)
    if options.files:
        models = _read_words(options.models, ("convex", "disc", "cone", "box"), MODELS)
        yield from _measure_cases("files", files(options.files, models), record)
    if options.scenes:
        yield from _measure_scenes(options, record)
    false = sum(row.is_false for row in record.rows)
    yield f"friction: {len(record.rows):,} runs, {false} false successes" + (
        f", all in {options.out}" if options.out else ""
    )


class _Record:
    """Runs methods on cases, and keeps the rows."""

    def __init__(self, contest: Contest, tol: float | None, out: Path | None, siconos: tuple[Siconos, ...]) -> None:
        self.contest, self.tol, self.out, self.siconos = contest, tol, out, siconos
        self.rows: list[Row] = []
        self._rehearsed: set[str] = set()

    def run(self, case: Case, hopeless: Callable[[str], bool] = lambda method: False) -> list[Row]:
        """A row for each method that takes the problem; those that are hopeless are not run."""
        tol = self.tol or (TIGHT if case.model in ("convex", "disc") else USUAL)
        if case.model not in self._rehearsed:
            self._rehearsed.add(case.model)
            say(f"loading kernels for {case.model}")
            self.contest.rehearse(case.model)
        found: list[Row] = []
        for method in self.contest.methods:
            if hopeless(method):
                row: Row | None = make_empty_row(case, method, tol, SKIPPED, "too slow on smaller ones")
            else:
                row = self.contest.run(case, method, tol)
            found += [] if row is None else [row]
        if case.start is None:
            found += [row for row in (one.run(case, tol) for one in self.siconos) if row is not None]
        self.rows += found
        if self.out is not None:
            write_rows(self.out, self.rows)
        return found


def _measure_stacks(options: Namespace, record: _Record) -> Iterator[Table]:
    quick: bool = options.quick
    sizes = options.rows or (QUICK_ROWS if quick else ROWS)
    ratios = (
        tuple(float(word) for word in options.ratios.split(","))
        if options.ratios
        else (QUICK_RATIOS if quick else RATIOS)
    )
    shapes = _read_words(options.shapes, QUICK_SHAPES if quick else tuple(SHAPES), tuple(SHAPES))
    for model in _read_words(options.models, MODELS, MODELS):
        rows: list[Row] = []
        slow: set[tuple[str, float, str]] = set()
        for shape, wanted, ratio in product(shapes, sizes, ratios):
            count = options.seeds or (QUICK_SEEDS if quick else LARGE_SEEDS if wanted >= LARGE else SEEDS)
            say(f"{model}, {shape}, {wanted:,} rows, masses 1:{ratio:g}, {count} seeds")
            found: list[Row] = []
            for seed in range(options.first_seed, options.first_seed + count):
                case = make_stack(shape, wanted, model, ratio, seed)
                hopeless = _foretell(slow, shape, ratio)
                found += record.run(case, hopeless)
            slow |= {(shape, ratio, method) for method in _too_slow(found, record.contest.limit)}
            rows += found
        yield show(
            f"Model {model}, cold, tolerance {rows[0].tol:g}, at most {record.contest.limit:g} s" if rows else model,
            rows,
            ("shape", "rows", "masses"),
            lambda row: (row.name, row.wanted, f"1:{row.ratio:,.0f}"),
        )


def _foretell(slow: set[tuple[str, float, str]], shape: str, ratio: float) -> Callable[[str], bool]:
    return lambda method: (shape, ratio, method) in slow


def _too_slow(rows: Sequence[Row], limit: float) -> Iterator[str]:
    """Methods that solved none, and came to the limit each time: they need not try more rows."""
    for method in {row.method for row in rows}:
        own = [row for row in rows if row.method == method]
        if all(row.status == SKIPPED or (not row.is_solved and row.seconds > 0.9 * limit) for row in own):
            yield method


def _measure_cases(title: str, cases: Iterable[Case], record: _Record) -> Iterator[Table]:
    """One table a model; problems by name."""
    rows: list[Row] = []
    for case in cases:
        say(f"{title}: {case.name}, {case.model}, {case.problem.n:,} rows")
        rows += record.run(case)
    for model in dict.fromkeys(row.model for row in rows):
        own = [row for row in rows if row.model == model]
        told = f"{title}, model {model}, cold, tolerance {own[0].tol:g}"
        yield show(told, own, ("problem", "rows"), lambda row: (_shorten(row.name), row.rows))
        if len({row.name for row in own}) > 1:
            yield show(f"{told}: all together", own, (), lambda row: ())


def _shorten(name: str) -> str:
    """The end of the name of a file; the rows in `--out` have all of it."""
    return Path(name).stem[-LONGEST:]


def _measure_scenes(options: Namespace, record: _Record) -> Iterator[Table | str]:
    models = (None,) if options.models is None else _read_words(options.models, MODELS, MODELS)
    run = Run(options.steps, options.every, options.first_seed, options.stepper, record.contest.limit)
    for name in options.scenes.split(","):
        for model in models:
            rows: list[Row] = []
            for case in collect(name, model, run):
                rows += record.run(case)
            rows.sort(key=lambda row: row.start)
            if rows:
                count, most = len({row.wanted for row in rows}), max(row.rows for row in rows)
                told = f"{name}: {count} steps, {rows[0].model}, up to {most:,} rows, tolerance {rows[0].tol:g}"
                yield show(told, rows, ("start",), lambda row: (row.start,), tail=True)
        mujoco = time_mujoco(name, run)
        if mujoco is not None:
            yield mujoco


def _find_siconos(options: Namespace, limit: float) -> Iterator[Siconos]:
    if options.siconos and find_missing() is None:
        for solver in SOLVERS:
            yield Siconos(solver, limit)


def _has_clarabel() -> bool:
    from perp.solvers.reformulation.bridges import find_bridge

    return find_bridge("clarabel") is not None


def _read_words(text: str | None, default: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    words = tuple(default) if text is None else tuple(word.strip() for word in text.split(","))
    for word in words:
        if word not in known:
            raise SystemExit(f"{word!r} is unknown{suggest(word, known)}")
    return words
