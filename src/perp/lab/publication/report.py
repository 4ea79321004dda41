"""The report of a run: one page, its figures as files, and its rows and verdicts as CSV.

The page begins with what it is, every verdict counted, the contents, and what differs; then comes a section for each
experiment (`sections`), what the papers do not show (`beyond`), and how it was measured.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from perp.extras import matplotlib
from perp.lab.claims import Outcome
from perp.lab.experiments.catalogue import all_experiments, find_effort
from perp.lab.page import Column, Markup, details, element, join, page, prose, table
from perp.lab.publication.beyond import make_beyond
from perp.lab.publication.evidence import Evidence, Trouble, attempt, gather
from perp.lab.publication.sections import RULES, make_section, show_minutes, show_settings, show_word, word_class
from perp.lab.publication.spreadsheets import write_spreadsheets
from perp.lab.runs.store import RowStore
from perp.problems.files.guard import replacing

TITLE = "The lab: what five documents claim, and what perp measures"

SOURCES = {
    "NOTES": "Erleben 2013, Numerical Methods for Linear Complementarity Problems in Physics-based Animation",
    "PGS-SM": "Silcowitz, Niebe & Erleben 2010, Projected Gauss–Seidel Subspace Minimization Method for Interactive "
    "Rigid Body Dynamics",
    "AMGS": "Miyamoto & Yamashita 2019, Accelerated Modulus-Based Gauss–Seidel for rigid bodies",
    "SLIDES": "Erleben, LCP: a short introduction to definitions and numerical methods",
    "THESIS": "Ho 2022, Preconditioned Conjugate Gradient for Pivoting-based Complementarity Solvers",
    "OURS": "What the documents leave to others, tried here",
}

MEANINGS = {
    Outcome.HOLDS: "the figure measured here is within limits that follow from the claim's words",
    Outcome.DIFFERS: "it is not; the reason, where it is known, stands beside it",
    Outcome.CANNOT_HOLD: "a derivation shows that the claim is not true of the method as written, and the measured "
    "figure is the one that was derived",
    Outcome.VOID: "more than a fifth of the rows that it rests on had nothing to do",
    Outcome.NOT_MEASURED: "the rows at hand do not tell",
}

TOLD = {
    Outcome.HOLDS: ("holds", "hold"),
    Outcome.DIFFERS: ("differs", "differ"),
    Outcome.CANNOT_HOLD: ("cannot hold", "cannot hold"),
    Outcome.VOID: ("is void", "are void"),
    Outcome.NOT_MEASURED: ("was not measured", "were not measured"),
}
"""Of one claim, and of several."""

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
    matplotlib.require()
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
    matplotlib.require()
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


def by_source(evidence: Iterable[Evidence]) -> dict[str, list[Evidence]]:
    """In the order of `SOURCES`; others come last."""
    found: dict[str, list[Evidence]] = {source: [] for source in SOURCES}
    for each in evidence:
        found.setdefault(each.experiment.source, []).append(each)
    return {source: members for source, members in found.items() if members}


def make_overview(evidence: Sequence[Evidence]) -> Markup:
    return join(
        element("h1", TITLE),
        element("p", _say_result(evidence), class_="lead"),
        element(
            "p",
            "Each section below runs one table, figure or assignment of a document again with perp. A claim is judged "
            "on one measured figure, by limits that follow from the claim's own words. Most were written down before "
            "anything was measured; where something had been seen, or was settled afterwards, the verdict says what. "
            "Times depend on the machine: only their ratios are worth comparing with printed ones.",
        ),
        element("ul", join(*(element("li", _word(outcome), f": {told}.") for outcome, told in MEANINGS.items()))),
        element("h2", "Verdicts"),
        _count_verdicts(evidence),
        _list_differences(evidence),
        element("h2", "Contents"),
        _list_contents(evidence),
    )


def introduce_source(source: str, members: Sequence[Evidence]) -> Markup:
    effort = attempt(source, "effort", lambda: find_effort(each.experiment for each in members))
    told = f"{SOURCES[source]}. " if source in SOURCES else ""
    if not isinstance(effort, Trouble):
        told += f"At full size these take about {show_minutes(effort.minutes)} and make {effort.rows:,} rows."
    return join(element("h2", source, id=source, class_="source"), element("p", told, class_="quiet"))


def _say_result(evidence: Sequence[Evidence]) -> str:
    counts = sum((each.counts for each in evidence), Counter[Outcome]())
    run = [each for each in evidence if each.rows]
    quick = sum(each.quick for each in run)
    phrases = [f"{count} {TOLD[outcome][count != 1]}" for outcome in Outcome if (count := counts[outcome])]
    told = " and ".join([", ".join(phrases[:-1]), phrases[-1]] if len(phrases) > 1 else phrases) or "none is judged"
    left = len(evidence) - len(run)
    missing = f"; {left} {'is' if left == 1 else 'are'} not run" if left else ""
    size = "at full size"
    if quick:
        size = "at the smaller quick size" if quick == len(run) else f"{quick} of them at the smaller quick size"
    return f"{len(run)} of {len(evidence)} experiments have rows, {size}{missing}. Of {counts.total()} claims {told}."


def _word(outcome: Outcome) -> Markup:
    return element("span", outcome.value, class_=f"word {word_class(outcome)}")


def _link(each: Evidence, *text: object) -> Markup:
    return element("a", *text, href=f"#{each.id}")


def _count_verdicts(evidence: Sequence[Evidence]) -> Markup:
    columns = (
        Column("experiment"),
        Column("what is shown", "prose"),
        Column("size"),
        *(Column(outcome.value, "number") for outcome in Outcome),
    )
    lines = []
    for each in evidence:
        size = each.size or "not run"
        if each.rows and not each.is_complete:
            size += ", in part"
        counts = [str(each.counts[outcome] or "") for outcome in Outcome]
        lines.append((_link(each, each.id), each.experiment.title, size, *counts))
    return table(columns, lines)


def _list_differences(evidence: Sequence[Evidence]) -> Markup:
    """Every claim that does not hold, in one place."""
    pairs = [
        (each, verdict)
        for each in evidence
        for verdict in each.verdicts
        if verdict.outcome in (Outcome.DIFFERS, Outcome.CANNOT_HOLD)
    ]
    lines = [
        element(
            "li",
            element("div", element("p", show_word(verdict)), element("p", _link(each, each.id), class_="quiet")),
            element(
                "div", element("p", prose(verdict.claim.says)), element("p", prose(verdict.sentence), class_="quiet")
            ),
        )
        for each, verdict in pairs
    ]
    if not lines:
        return Markup("")
    summary = f"The {len(lines)} claims that differ or cannot hold, in one list"
    return details(summary, element("ul", join(*lines), class_="verdicts"))


def _list_contents(evidence: Sequence[Evidence]) -> Markup:
    lines = []
    for source, members in by_source(evidence).items():
        lines.append(element("li", element("a", source, href=f"#{source}"), class_="of"))
        lines += [element("li", _link(each, each.experiment.item), f" {each.experiment.title}") for each in members]
    lines.append(element("li", element("a", "Beyond the documents", href="#beyond"), class_="of"))
    lines.append(element("li", element("a", "How it was measured", href="#measured"), class_="of"))
    return element("ul", join(*lines), class_="contents")


def _say_skipped(skipped: Sequence[Path]) -> str:
    names = ", ".join(path.name for path in skipped[:MOST_NAMED])
    more = f" and {len(skipped) - MOST_NAMED:,} more" if len(skipped) > MOST_NAMED else ""
    return f"{len(skipped):,} files of rows are damaged or foreign and were left out: {names}{more}."
