"""Under which circumstances the rows of a page were measured, in few words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from math import isfinite

from perp.lab.page import Column, Markup, table
from perp.lab.report import duration
from perp.lab.runs.circumstances import Circumstances
from perp.lab.runs.row import LabRow


@dataclass(frozen=True, order=True)
class Setting:
    """What many rows have in common: these of their circumstances."""

    version: str
    revision: str
    code: str
    python: str
    numpy: str
    scipy: str
    numba: str
    machine: str
    processors: int
    threads: int


def setting_of(circumstances: Circumstances) -> Setting:
    return Setting(**{each.name: getattr(circumstances, each.name) for each in fields(Setting)})


def count_settings(rows: Iterable[LabRow]) -> Counter[Setting]:
    return Counter(setting_of(row.circumstances) for row in rows)


def show_settings(rows: Iterable[LabRow]) -> Markup:
    """A line for each setting: one, where all rows come from one run."""
    headings = ("perp", "revision", "code", "Python", "NumPy", "SciPy", "Numba", "machine", "processors", "threads")
    columns = (*map(Column, headings), Column("rows", "number"))
    lines = [(*astuple(setting), f"{count:,}") for setting, count in sorted(count_settings(rows).items())]
    return table(columns, [[cell if cell != "" else "–" for cell in line] for line in lines])


def describe_conditions(rows: Sequence[LabRow]) -> str:
    """One sentence on versions, one on load and time."""
    versions = dict.fromkeys(
        f"perp {each.version}{each.revision and f' at revision {each.revision}'}, Python {each.python}, "
        f"NumPy {each.numpy}, SciPy {each.scipy}, Numba {each.numba} on {each.machine} "
        f"with {each.processors} processors"
        + ("" if each.threads == 1 else " and BLAS threads that were not pinned to one")
        for each in sorted(count_settings(rows))
    )
    spent = sum(row.circumstances.wall_seconds for row in rows if isfinite(row.circumstances.wall_seconds))
    days = sorted({datetime.fromtimestamp(row.circumstances.started, UTC).date().isoformat() for row in rows})
    when = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
    alone = sum(row.circumstances.alone for row in rows)
    return (
        f"Measured on {when} with {'; '.join(versions)}. {len(rows):,} rows took {duration(spent)} of work, "
        f"{alone:,} of them while no other task ran; {_describe_load(rows)}."
    )


def _describe_load(rows: Sequence[LabRow]) -> str:
    loads = [row.circumstances.load for row in rows if isfinite(row.circumstances.load)]
    if not loads:
        return "the system does not tell its load"
    least, most = f"{min(loads):.1f}", f"{max(loads):.1f}"
    return f"the load before a row was {least}" + ("" if least == most else f" to {most}")
