"""Which method when: `python -m benchmarks choosing [--quick] [--only FAMILY] [--folder docs/choosing]`.

Families of problems (`choosing_families`) times methods (`choosing_candidates`), each solved to a scaled residual of
1e-8 within a time limit. `rows.csv` has every run, `best.csv` and the table for `docs/choosing.md` what follows from
them. A run that was broken off goes on where it stood: delete `rows.csv` to measure anew. One core, nothing beside it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from rich.table import Table

from benchmarks.choosing_digest import Row, digest, render_markdown, tell_seconds, write_digest
from benchmarks.choosing_families import BY_NAME, FAMILIES, Family
from benchmarks.choosing_runs import QUICK, Limits, all_candidates, measure_family
from benchmarks.tables import add_row, make_table
from perp.lab.runs.row_file import RowFile

FOLDER = Path("docs/choosing")
QUICK_FOLDER = Path("build/choosing")
"""A quick look must not take the place of the measurement."""


def add_choosing_options(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("choosing and auto")
    group.add_argument("--only", help="families whose names begin so, separated by commas; default: all")
    group.add_argument("--folder", type=Path, help=f"choosing: for its files (default {FOLDER}, quick {QUICK_FOLDER})")
    group.add_argument("--largest", type=int, help="rows beyond which nothing is measured")


def chosen_families(only: str | None) -> Sequence[Family]:
    if not only:
        return FAMILIES
    wanted = [word.strip() for word in only.split(",")]
    chosen = [family for family in FAMILIES if any(family.name.startswith(word) for word in wanted)]
    if not chosen:
        raise SystemExit(f"no family is named {only!r}; known: {', '.join(BY_NAME)}")
    return chosen


def measure_choosing(options: Namespace) -> Iterator[Table | str]:
    """Tables, a family each, as they are ready; the files are complete after each of them."""
    limits = QUICK if options.quick else Limits()
    if options.largest is not None:
        limits = replace(limits, largest=options.largest)
    folder = options.folder or (QUICK_FOLDER if options.quick else FOLDER)
    file = RowFile(folder / "rows.csv", Row)
    begun = perf_counter()
    for family in chosen_families(options.only):
        measure_family(family, all_candidates(), file, limits)
        yield _show(family, file)
        write_files(folder, file)
    yield f"choosing: {len(file.rows):,} rows in {folder}, {tell_seconds(perf_counter() - begun)} spent now"


def write_files(folder: Path, file: RowFile[Row]) -> None:
    """`best.csv` and `best.md` from all the rows there are, in the order of the families."""
    place = {name: number for number, name in enumerate(BY_NAME)}
    rows = sorted(file.rows.values(), key=lambda row: (place.get(row.family, len(place)), row.n))
    lines = digest(rows)
    write_digest(folder / "best.csv", lines)
    about = {family.name: family.about for family in FAMILIES}
    (folder / "best.md").write_text(render_markdown(lines, about), encoding="utf-8")


def _show(family: Family, file: RowFile[Row]) -> Table:
    table = make_table(f"{family.name}: {family.about}", ("n", "best", "second", "third", "chain", "solved"), labels=5)
    for line in digest(row for row in file.rows.values() if row.family == family.name):
        best = [str(score) for score in line.best] + [""] * (3 - len(line.best))
        add_row(table, [line.n, *best, " > ".join(line.chain), f"{line.solved} of {line.problems}"])
    return table
