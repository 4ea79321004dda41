"""The report of a run: one page, its figures as files, and its rows and verdicts as CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from perp.lab.experiments.catalogue import all_experiments
from perp.lab.figures import require_matplotlib
from perp.lab.page import element, join, page
from perp.lab.publication.attempts import Trouble
from perp.lab.publication.beyond import make_beyond
from perp.lab.publication.conditions import show_settings
from perp.lab.publication.evidence import Evidence, gather
from perp.lab.publication.look import RULES
from perp.lab.publication.overview import TITLE, by_source, introduce_source, make_overview
from perp.lab.publication.sections import make_section
from perp.lab.publication.spreadsheets import write_spreadsheets
from perp.lab.runs.store import RowStore
from perp.problems.files.replacement import replacing

MOST_NAMED = 5


@dataclass(frozen=True, eq=False)
class Report:
    """What was written."""

    page: Path
    evidence: tuple[Evidence, ...]
    troubles: tuple[Trouble, ...]
    """Parts that could not be made; the page says so in their places."""
    skipped: tuple[Path, ...] = ()
    """Files of rows that could not be read; the page names them."""


def write_report(run: Path, out: Path, *, told: Callable[[str], object]) -> Report:
    """The report of the rows in the folder `run`, written to the folder `out`, which is made if need be.

    ValueError where the folder has no row of any experiment. `told` is called with the id of each section to come.
    """
    require_matplotlib()
    store = RowStore(run)
    evidence = gather(store, all_experiments())
    if not any(each.rows for each in evidence):
        raise ValueError(f"{run} has no rows of any experiment that this version could use: 'perp lab run' makes them")
    return publish(evidence, out, told=told, skipped=store.skipped)


def publish(
    evidence: Sequence[Evidence], out: Path, *, told: Callable[[str], object], skipped: Sequence[Path] = ()
) -> Report:
    """report.html, figures/ and the CSV files (`spreadsheets`) in the folder `out`.

    `skipped` are files of rows that could not be read.
    """
    require_matplotlib()
    figures = out / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    pieces: list[object] = [make_overview(evidence)]
    troubles: list[Trouble] = []
    for source, members in by_source(evidence).items():
        pieces.append(introduce_source(source, members))
        for each in members:
            told(each.id)
            section, failed = make_section(each, figures)
            pieces.append(section)
            troubles += failed
    rows = [row for each in evidence for row in each.rows]
    section, failed = make_beyond(rows, figures)
    distinct = {row.key: row for row in rows}
    pieces += [
        section,
        element("h2", "How it was measured", id="measured", class_="source"),
        element(
            "p",
            "Each row was measured in a process of its own, with BLAS and Numba on one thread. Rows whose time enters "
            "a claim ran while nothing else did. The CSV files beside this page have every row and every verdict.",
        ),
        show_settings(distinct.values()),
        element("p", _say_skipped(skipped), class_="notice") if skipped else "",
    ]
    write_spreadsheets(out, evidence)
    path = out / "report.html"
    with replacing(path) as temporary:
        temporary.write_text(page(TITLE, join(*pieces), RULES), encoding="utf-8")
    return Report(path, tuple(evidence), (*troubles, *failed), tuple(skipped))


def _say_skipped(skipped: Sequence[Path]) -> str:
    names = ", ".join(path.name for path in skipped[:MOST_NAMED])
    more = f" and {len(skipped) - MOST_NAMED:,} more" if len(skipped) > MOST_NAMED else ""
    return f"{len(skipped):,} files of rows are damaged or foreign and were left out: {names}{more}."
