"""What stands on the lab's page: style, circumstances of rows, tables and pictures, and the section of an experiment.

A section says what was run, what the paper says of it, and what came out; its figures are files beside the page.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from math import isfinite, isinf, isnan
from pathlib import Path

from perp.lab.claims import Outcome, Verdict
from perp.lab.experiments.experiment import Cell, Picture, Table
from perp.lab.page import Column, Markup, definitions, details, duration, element, join, prose, table
from perp.lab.plots import draw_svg, figure_to_png, svg_in_page, svg_on_paper
from perp.lab.publication.evidence import Evidence, Trouble, attempt
from perp.lab.runs.circumstances import Circumstances
from perp.lab.runs.row import DONE, TROUBLE, LabRow
from perp.lab.runs.task import canonical
from perp.problems.files.guard import replacing
from perp.solvers.results import Status

COLOURS = {
    Outcome.HOLDS: "--series-3",
    Outcome.DIFFERS: "--series-2",
    Outcome.CANNOT_HOLD: "--series-4",
    Outcome.VOID: "--muted",
    Outcome.NOT_MEASURED: "--muted",
}

TALL = 24
"""Longer tables scroll by themselves."""

HEAVY = 400_000
"""Characters of SVG from which on the page shows the PNG in its place."""

MOST_NAMED = 40
"""Rows that measured nothing are named up to so many."""


def word_class(outcome: Outcome) -> str:
    return outcome.name.lower().replace("_", "-")


RULES = """
h2.source { font-size: 1.6rem; margin-top: 4.5rem; border-top: 2px solid var(--muted); }
section > h3 { font-size: 1.25rem; line-height: 1.3; margin: 3rem 0 .2rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h2.source + p + section > h3, h2.source + section > h3 { border-top: 0; margin-top: 1rem; }
h4 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
h4 + .scroll { margin-top: .2rem; }
section th { white-space: normal; min-width: 3.5rem; max-width: 12rem; vertical-align: bottom; }
td.here, th.here { background: var(--tint); }
td.here, th.here { padding-left: .6rem; }
td.prose, th.prose { white-space: normal; min-width: 13rem; }
details dl { grid-template-columns: max-content 1fr; }
.plot img { display: block; width: 100%; background: #fffffe; }
.plot svg { min-width: 0; }
.contents { columns: 2 22rem; column-gap: 2.5rem; list-style: none; padding: 0; max-width: none; font-size: .92rem; }
.contents li { break-inside: avoid; margin: .12rem 0; }
.contents li.of { font-weight: 600; margin-top: .7rem; }
.verdicts { list-style: none; padding: 0; max-width: 54rem; }
.verdicts li { display: grid; grid-template-columns: 8.5rem 1fr; gap: .2rem 1rem; margin: .7rem 0; }
.verdicts p { margin: 0 0 .2rem; max-width: none; }
.word { font-weight: 600; white-space: nowrap; }
.word::before { display: inline-block; width: 1.2em; }
.word.holds::before { content: "\\25cf"; }
.word.differs::before { content: "\\2260"; }
.word.cannot-hold::before { content: "\\00d7"; }
.word.void::before, .word.not-measured::before { content: "\\25cb"; }
.notice { border-left: 3px solid var(--series-5); padding-left: .8rem; }
.trouble { border-left: 3px solid var(--series-2); padding-left: .8rem; }
@media (max-width: 40rem) { .verdicts li { grid-template-columns: 1fr; } .plot svg { min-width: 34rem; } }
""" + "".join(f".word.{word_class(outcome)} {{ color: var({colour}); }}\n" for outcome, colour in COLOURS.items())


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


def show_table(content: Table) -> Markup:
    """With its title above and its note below. A column of numbers is set to the right, ours on a tint."""
    columns = [
        Column(heading, _kind(heading, [line[place] for line in content.lines]))
        for place, heading in enumerate(content.headings)
    ]
    lines = [[show_number(cell) for cell in line] for line in content.lines]
    return join(
        element("h4", content.title) if content.title else "",
        table(columns, lines, tall=len(lines) > TALL),
        element("p", content.note, class_="quiet") if content.note else "",
    )


def show_number(value: Cell) -> str:
    """Four digits, thousands set apart, powers of ten outside 0.001 to a million; None is empty, nan a dash."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isnan(value):
        return "–"
    if isinf(value):
        return "∞" if value > 0 else "-∞"
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if value == 0.0:
        return "0"
    if not 1e-3 <= size < 1e6:
        digits, exponent = f"{value:.2e}".split("e")
        return f"{digits}e{int(exponent)}"
    return f"{value:,.0f}" if size >= 1000.0 else f"{value:.4g}"


def write_picture(picture: Picture, owner: str, folder: Path) -> Markup:
    """Write `owner`-`name`.svg and .png to the folder, and return the element for the page."""
    whole = picture.name if picture.name.startswith(owner) else f"{owner}-{picture.name}"
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", whole)
    drawing = draw_svg(picture.figure, name)
    picture.figure.set_layout_engine("none")  # the places of all panels are found, which takes as long as drawing them
    bitmap = figure_to_png(picture.figure)
    for path, data in ((folder / f"{name}.svg", svg_on_paper(drawing).encode()), (folder / f"{name}.png", bitmap)):
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    if len(drawing) < HEAVY:
        shown = Markup(svg_in_page(drawing))
    else:
        letters = base64.b64encode(bitmap).decode("ascii")
        shown = Markup(f'<img src="data:image/png;base64,{letters}" alt="{name}">')
    width = picture.figure.get_figwidth()
    return element(
        "figure",
        shown,
        element("figcaption", prose(picture.caption)),
        class_="plot",
        style=f"max-width: {min(66.0, 6.4 * width):.1f}rem",
    )


def _kind(heading: str, cells: Sequence[Cell]) -> str:
    told = [cell for cell in cells if cell is not None]
    words = ["number"] if told and not any(isinstance(cell, str) and cell not in ("", "–") for cell in told) else []
    if any(isinstance(cell, str) and len(cell) > 40 for cell in told):
        words.append("prose")
    if heading.endswith("(here)"):
        words.append("here")
    return " ".join(words)


def make_section(evidence: Evidence, figures: Path) -> tuple[Markup, list[Trouble]]:
    """The section, and the parts of it that could not be made. Pictures are written to the folder `figures`."""
    experiment, rows = evidence.experiment, evidence.rows
    troubles = list(evidence.troubles)
    pieces: list[object] = []
    if rows:
        parts: list[tuple[str, Callable[[], list[Markup]]]] = [
            ("tables", lambda: [show_table(each) for each in experiment.tabulate(rows)])
        ]
        if experiment.draw is not None:
            draw = experiment.draw
            parts.insert(0, ("pictures", lambda: [write_picture(each, experiment.id, figures) for each in draw(rows)]))
        for part, make in parts:
            made = attempt(experiment.id, part, make)
            if isinstance(made, Trouble):
                troubles.append(made)
            else:
                pieces += made
    section = element(
        "section",
        element("h3", experiment.title),
        element("p", f"{experiment.source}, {experiment.item}. ", element("code", experiment.id), class_="quiet"),
        element("p", prose(experiment.story)),
        _say_size(evidence),
        _list_verdicts(evidence.verdicts),
        *(
            element(
                "p", f"The comparison {f'“{group}”' if group else 'of the rows'} is void: {reason}.", class_="notice"
            )
            for group, reason in evidence.void.items()
        ),
        *(
            element("p", f"The {each.part} could not be made. ", element("code", each.message), class_="trouble")
            for each in troubles
        ),
        *pieces,
        _name_endings(rows),
        element("p", "To run it again:", class_="quiet"),
        element("pre", f"perp lab run {experiment.id}{' --quick' if evidence.quick and rows else ''}"),
        element("p", describe_conditions(rows), class_="quiet") if rows else "",
        id=experiment.id,
    )
    return section, troubles


def _say_size(evidence: Evidence) -> Markup:
    experiment = evidence.experiment
    full = f"The full size: {experiment.size.rstrip('.')}; about {show_minutes(experiment.minutes)} on two cores."
    if not evidence.rows:
        return element("p", f"Not run. {full}", class_="notice")
    if evidence.quick:
        told = f"These are the {len(evidence.rows):,} rows of the quick run, which is much smaller. {full}"
    else:
        told = full
    if evidence.is_complete:
        return element("p", told, class_="notice" if evidence.quick else "quiet")
    missing = f"{evidence.planned - len(evidence.rows):,} of {evidence.planned:,} tasks have no row yet."
    return element("p", f"{missing} {told}", class_="notice")


def show_minutes(minutes: float) -> str:
    if minutes < 1.0:
        return f"{max(1, round(60.0 * minutes))} s"
    return f"{minutes:.2g} min"


def show_word(verdict: Verdict) -> Markup:
    return element("span", verdict.outcome.value, class_=f"word {word_class(verdict.outcome)}")


def _list_verdicts(verdicts: Sequence[Verdict]) -> Markup:
    if not verdicts:
        return Markup("")
    lines = [
        element(
            "li",
            element("div", show_word(verdict)),
            element(
                "div",
                element("p", prose(verdict.claim.says), f" ({verdict.claim.where})"),
                element("p", prose(verdict.sentence), class_="quiet"),
                element("p", prose(f"Seen before: {verdict.claim.seen}."), class_="quiet")
                if verdict.claim.seen
                else "",
            ),
        )
        for verdict in verdicts
    ]
    return element("ul", join(*lines), class_="verdicts")


def _name_endings(rows: Sequence[LabRow]) -> Markup:
    """How many rows ended how, and the message of each that was lost."""
    counts = Counter(row.status for row in rows)
    if not set(counts) - {Status.CONVERGED.name, DONE}:
        return Markup("")
    told = definitions({status.lower().replace("_", " "): f"{count:,}" for status, count in counts.most_common()})
    lost = [row for row in rows if row.status in TROUBLE]
    named = [
        (row.name, row.group, row.status.lower().replace("_", " "), row.found.message, canonical(row.task.instance))
        for row in lost[:MOST_NAMED]
    ]
    columns = ("method", "comparison", "ended", "message", "instance")
    pieces: list[object] = [told]
    if named:
        pieces.append(table([Column(name, "prose") for name in columns], named, tall=len(named) > 8))
    if len(lost) > MOST_NAMED:
        pieces.append(element("p", f"And {len(lost) - MOST_NAMED:,} more: details.csv has them all.", class_="quiet"))
    summary = "How the rows ended"
    if lost:
        summary += f": {len(lost):,} of {len(rows):,} gave no result"
    return details(summary, *pieces)
