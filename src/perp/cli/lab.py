"""`perp lab`: list the experiments of the papers, run them, write the report of a run, compare two runs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from perp.cli import cards, options, progress
from perp.cli.errors import INTERRUPTED, CommandError, refusing
from perp.errors import MissingExtra, suggest
from perp.lab import results
from perp.lab.experiments import catalogue
from perp.lab.publication import comparison as comparisons
from perp.lab.publication import report as reports
from perp.lab.runs import cluster as clusters
from perp.lab.runs import driver, isolation, limits, plan

if TYPE_CHECKING:
    from perp.lab.experiments.catalogue import Effort
    from perp.lab.publication.comparison import Comparison
    from perp.lab.runs.driver import Outcome

FOLDER = "perp-lab"
"""Where rows go unless --out names another place."""

EVERYTHING = "all"

INCOMPLETE = 1
"""The exit code of a report of which some part could not be made."""

MOST_SKIPPED = 3
"""Damaged files are named up to so many."""

MOST_CHANGES = 40
"""Rows whose status changed are named up to so many; --json has all."""

WIDTH = 160
"""Columns, where no terminal says how many there are."""

lab: typer.Typer = typer.Typer(pretty_exceptions_enable=False)


@lab.callback(invoke_without_command=True)
def describe(context: typer.Context) -> None:
    """Run the experiments of the papers again, and see which of their claims hold.

    perp lab list says what there is, perp lab run measures, perp lab report makes a page of it.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@lab.command("list")
def list_experiments(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Only these, each with all its claims.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """List every experiment: source, figure or table, what it claims, rows at full size, and expected minutes."""
    with refusing(ValueError):
        chosen = [catalogue.find_experiment(identity) for identity in ids] if ids else catalogue.all_experiments()
    entries = [experiment.facts() for experiment in chosen]
    if json:
        typer.echo(results.to_json(entries))
    elif ids:
        _show_whole(entries)
    else:
        _show_lines(entries, catalogue.find_effort(chosen))


@lab.command()
def run(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...|all",
            help="Experiments, as 'perp lab list' names them; the name of a source (notes) is all of its experiments.",
            show_default=False,
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Small problems: seconds for each experiment.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Tasks at a time; default one a processor.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run on this Dask scheduler (tcp://host:port); --out must be a folder that its workers share.",
            show_default=False,
        ),
    ] = None,
    assign: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another option for all methods that have it; may be repeated.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep also rows that other code of this version of perp has measured.")
    ] = False,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run again what failed, crashed, ran out of time or out of memory.")
    ] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of the rows.")] = Path(FOLDER),
) -> None:
    """Measure what experiments ask for; each task is a process of its own with limits of time and memory.

    A task that fails, crashes or takes too long is a row that says so, and no reason for the run to end. Rows that are
    in DIR already are not measured again, if the same code made them: a run that was ended goes on where it was. Tasks
    whose time matters run last, one at a time.

    --set changes what an experiment measures: its rows have other names, so that 'perp lab report' leaves them out, and
    'perp lab compare DIR1 DIR2' holds them against the rows of the experiment as it stands. Give them a --out of their
    own.

    Exit codes: 0 every task has a row, 2 bad usage, 130 interrupted (rows are kept).
    """
    if workers is not None and cluster is not None:
        raise CommandError("--workers and --cluster: the workers of a cluster are those that it has")
    experiments = [catalogue.find_experiment(identity) for identity in chosen_ids(ids)]
    tasks = [task for experiment in experiments for task in experiment.make_tasks(quick)]
    with refusing(ValueError, TypeError):
        tasks = plan.with_options(tasks, options.split_assignments(assign or [], "--set"))
    refused = (MissingExtra, clusters.ClusterError, limits.FolderInUse, isolation.CannotStart, OSError)
    try:
        with refusing(*refused), progress.following_tasks() as reporter:
            outcome = driver.run_tasks(
                tasks, out, workers=workers, resume=resume, retry=retry, cluster=cluster, reporter=reporter
            )
    except KeyboardInterrupt:
        typer.echo(f"perp: interrupted; the rows in {out} are kept, and the same command goes on from here", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _name_skipped(outcome.skipped)
    typer.echo(_summary(outcome, out))


@lab.command()
def report(
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder to write to; by default 'report' in the run's folder.", show_default=False
        ),
    ] = None,
    run: Annotated[Path, typer.Option("--from", metavar="DIR", help="The folder of the run.")] = Path(FOLDER),
) -> None:
    """Write the report of a run: one self-contained HTML page, figures as PNG and SVG, rows and verdicts as CSV.

    Experiments that have rows of the full size are shown with those, others with the rows of the quick run, and say so.

    Exit codes: 0 done, 1 written but some part could not be made (it is named), 2 bad usage or no rows.
    """
    if not run.is_dir():
        raise CommandError(f"{run}: there is no such folder; 'perp lab run' makes one")
    console = Console(stderr=True)
    with refusing(MissingExtra, OSError, ValueError), console.status("reading rows") as line:
        made = reports.write_report(
            run, out or run / "report", told=lambda identity: line.update(f"drawing {identity}")
        )
    typer.echo(f"wrote {made.page}, and beside it figures and the CSV files of rows and verdicts")
    _name_skipped(made.skipped)
    if made.troubles:
        for trouble in made.troubles:
            typer.echo(f"perp: {trouble}", err=True)
        raise typer.Exit(INCOMPLETE)


@lab.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="DIR1", help="The folder of a run.", show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="DIR2", help="The folder of another.", show_default=False)],
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """Compare two runs: verdicts with their figures, how rows ended, and ratios of time and iterations.

    Rows are the same where problem, method, options and stop preset are, also across versions of perp; a row with other
    options (run --set) stands for the one with its label. Ratios are DIR2 over DIR1, medians over the rows that both
    runs solved. What changed is marked with an asterisk.

    Exit codes: 0 compared, whatever has changed; 2 bad usage, or a folder without rows.
    """
    for folder in (first, second):
        if not folder.is_dir():
            raise CommandError(f"{folder}: there is no such folder")
    with refusing(MissingExtra, OSError, ValueError):
        comparison = comparisons.compare_folders(first, second)
    if json:
        typer.echo(results.to_json(comparison.as_plain()))
        return
    _show_comparison(comparison)


def chosen_ids(words: list[str]) -> list[str]:
    """Ids in the order of the catalogue: named one by one, by their source, or all."""
    sources = {identity.partition("-")[0] for identity in catalogue.FILES}
    chosen: set[str] = set()
    for word in words:
        if word == EVERYTHING:
            chosen |= set(catalogue.FILES)
        elif word in sources:
            chosen |= {identity for identity in catalogue.FILES if identity.startswith(f"{word}-")}
        elif word in catalogue.FILES:
            chosen.add(word)
        else:
            raise CommandError(
                f"experiment {word!r} is unknown{suggest(word, [*catalogue.FILES, *sources, EVERYTHING])}"
            )
    return [identity for identity in catalogue.FILES if identity in chosen]


def _show_lines(entries: list[dict[str, Any]], effort: Effort) -> None:
    """One line per experiment; then how much all of them ask for."""
    head = ("id", "rows", "minutes", "claims", "source, what it shows, and its first claim")
    lines = [
        (
            entry["id"],
            f"{entry['rows']:>5,}",
            f"{entry['minutes']:>7.1f}",
            f"{len(entry['claims']):>6}",
            f"{entry['source']}, {entry['item']}. {entry['title']}."
            + (f" {entry['claims'][0]['says']}" if entry["claims"] else ""),
        )
        for entry in entries
    ]
    cards.show_lines([head, *lines])
    claims = sum(len(entry["claims"]) for entry in entries)
    typer.echo(
        f"\n{len(entries)} experiments with {claims} claims: {effort.rows:,} rows at full size and about "
        f"{effort.minutes:.0f} minutes on two cores, shared rows run once. 'perp lab list ID' tells all of one."
    )


def _show_whole(entries: list[dict[str, Any]]) -> None:
    cards.show_cards(
        "experiment",
        [
            cards.Card(
                entry["id"],
                f"{entry['source']}, {entry['item']}",
                {
                    "shows": entry["title"],
                    "story": entry["story"],
                    "size": f"{entry['size']} ({entry['rows']:,} rows, about {entry['minutes']:g} min on two cores)",
                    "quick": f"{entry['quick_rows']:,} rows",
                    "claims": "\n".join(map(_say_claim, entry["claims"])) or "none",
                },
            )
            for entry in entries
        ],
    )


def _say_claim(claim: dict[str, Any]) -> str:
    printed = ", ".join(f"{name} {value:g}" for name, value in claim["printed"].items())
    told = f"{claim['id']} ({claim['where']}): {claim['says']}"
    if printed:
        told += f" Paper: {printed}."
    told += f" Holds: {claim['measure']} {claim['holds']}."
    return told + (f" Cannot hold: {claim['cannot']} Instead: {claim['instead']}." if claim["cannot"] else "")


def _name_skipped(files: Sequence[Path]) -> None:
    """Say which files among the rows were damaged or foreign."""
    if files:
        names = ", ".join(path.name for path in files[:MOST_SKIPPED]) + (", ..." if files[MOST_SKIPPED:] else "")
        typer.echo(f"perp: {len(files):,} damaged or foreign files were left out: {names}", err=True)


def _summary(outcome: Outcome, out: Path) -> str:
    troubles = ", ".join(f"{count} {status}" for status, count in outcome.troubles.items())
    failed = f"{outcome.failed:,} failed" + (f" ({troubles})" if troubles else "")
    where = "" if out == Path(FOLDER) else f" --from {out}"
    told = f"{outcome.run:,} rows run, {outcome.taken:,} taken from before, {failed}; they are in {out}"
    return f"{told}\nnext: perp lab report{where}"


def _show_comparison(comparison: Comparison) -> None:
    console = Console(width=shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH)
    for table in (_claims(comparison), _methods(comparison), _statuses(comparison), _experiments(comparison)):
        if table.row_count:
            console.print(table)
    changed = sum(claim.changed for claim in comparison.claims)
    typer.echo(
        f"{changed} of {len(comparison.claims)} verdicts and the status of {len(comparison.statuses)} of "
        f"{sum(each.both for each in comparison.experiments):,} common rows changed."
    )


def _claims(comparison: Comparison) -> Table:
    table = _table("Claims", "", "experiment", "claim", "measured 1", "measured 2", "verdict 1", "verdict 2")
    for claim in comparison.claims:
        outcomes = (outcome or "not run" for outcome in claim.outcomes)
        table.add_row(
            "*" if claim.changed else "",
            claim.experiment,
            claim.claim,
            *map(_number, claim.measured),
            *outcomes,
            style="bold" if claim.changed else None,
        )
    return table


def _methods(comparison: Comparison) -> Table:
    table = _table(
        "Rows that both have",
        *("experiment", "method", "options", "rows", "both solved", "time ratio", "iteration ratio"),
    )
    for each in comparison.methods:
        ratios = map(_number, (each.seconds_ratio, each.iterations_ratio))
        table.add_row(each.experiment, each.method, each.changed, f"{each.rows:,}", f"{each.solved:,}", *ratios)
    return table


def _statuses(comparison: Comparison) -> Table:
    table = _table("Rows that ended otherwise", "experiment", "method", "comparison", "status 1", "status 2", "key")
    for change in comparison.statuses[:MOST_CHANGES]:
        table.add_row(change.experiment, change.method, change.group, *change.statuses, change.key)
    if len(comparison.statuses) > MOST_CHANGES:
        table.add_row(f"and {len(comparison.statuses) - MOST_CHANGES:,} more")
    return table


def _experiments(comparison: Comparison) -> Table:
    table = _table("Experiments", "experiment", "size 1", "size 2", "rows in both", "only in 1", "only in 2")
    for each in comparison.experiments:
        sizes = (size or "not run" for size in each.sizes)
        table.add_row(each.experiment, *sizes, f"{each.both:,}", *(f"{count:,}" for count in each.only))
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", header_style="bold", box=box.SIMPLE_HEAD)
    for heading in headings:
        is_number = heading.startswith(("measured", "rows", "both", "only")) or heading.endswith("ratio")
        table.add_column(heading, justify="right" if is_number else "left")
    return table


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4g}"
