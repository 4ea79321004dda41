"""The section of one experiment: what was run, what the paper says of it, and what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from perp.lab.claims.verdict import Verdict
from perp.lab.page import Column, Markup, definitions, details, element, join, prose, table
from perp.lab.publication.attempts import Trouble, attempt
from perp.lab.publication.conditions import describe_conditions
from perp.lab.publication.evidence import Evidence
from perp.lab.publication.exhibits import show_table, write_picture
from perp.lab.publication.look import word_class
from perp.lab.runs.row import CRASHED, DONE, FAILED, OUT_OF_MEMORY, TIME_OUT, LabRow
from perp.lab.runs.task import canonical
from perp.solvers.results.status import Status

LOST = (FAILED, CRASHED, TIME_OUT, OUT_OF_MEMORY)
"""Endings of which each row is named."""

MOST_NAMED = 40


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
    lost = [row for row in rows if row.status in LOST]
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
