"""`perp lab run`: the tasks of experiments, each in its own process, their rows in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perp.cli.errors import CommandError, refusing
from perp.cli.group import INTERRUPTED
from perp.errors import MissingExtra, suggest

if TYPE_CHECKING:
    from perp.lab.runs.driver import Outcome

FOLDER = "perp-lab"
"""Where rows go unless --out names another place."""

EVERYTHING = "all"

SHOWN = 3
"""Names of damaged files."""


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

    Exit codes: 0 every task has a row, 2 bad usage, 130 interrupted (rows are kept).
    """
    from perp.cli.progress import following_tasks
    from perp.lab.experiments.catalogue import find_experiment
    from perp.lab.runs.cluster import ClusterError
    from perp.lab.runs.driver import run_tasks
    from perp.lab.runs.isolation import CannotStart
    from perp.lab.runs.lock import FolderInUse

    if workers is not None and cluster is not None:
        raise CommandError("--workers and --cluster: the workers of a cluster are those that it has")
    experiments = [find_experiment(identity) for identity in chosen_ids(ids)]
    tasks = [task for experiment in experiments for task in experiment.make_tasks(quick)]
    refused = (MissingExtra, ClusterError, FolderInUse, CannotStart, OSError)
    try:
        with refusing(*refused), following_tasks() as reporter:
            outcome = run_tasks(
                tasks, out, workers=workers, resume=resume, retry=retry, cluster=cluster, reporter=reporter
            )
    except KeyboardInterrupt:
        typer.echo(f"perp: interrupted; the rows in {out} are kept, and the same command goes on from here", err=True)
        raise typer.Exit(INTERRUPTED) from None
    name_skipped(outcome.skipped)
    typer.echo(summary(outcome, out))


def name_skipped(files: Sequence[Path]) -> None:
    """Say which files among the rows were damaged or foreign."""
    if files:
        names = ", ".join(path.name for path in files[:SHOWN]) + (", ..." if files[SHOWN:] else "")
        typer.echo(f"perp: {len(files):,} damaged or foreign files were left out: {names}", err=True)


def chosen_ids(words: list[str]) -> list[str]:
    """Ids in the order of the catalogue: named one by one, by their source, or all."""
    from perp.lab.experiments.catalogue import FILES

    sources = {identity.partition("-")[0] for identity in FILES}
    chosen: set[str] = set()
    for word in words:
        if word == EVERYTHING:
            chosen |= set(FILES)
        elif word in sources:
            chosen |= {identity for identity in FILES if identity.startswith(f"{word}-")}
        elif word in FILES:
            chosen.add(word)
        else:
            raise CommandError(f"experiment {word!r} is unknown{suggest(word, [*FILES, *sources, EVERYTHING])}")
    return [identity for identity in FILES if identity in chosen]


def summary(outcome: Outcome, out: Path) -> str:
    troubles = ", ".join(f"{count} {status}" for status, count in outcome.troubles.items())
    failed = f"{outcome.failed:,} failed" + (f" ({troubles})" if troubles else "")
    where = "" if out == Path(FOLDER) else f" --from {out}"
    told = f"{outcome.run:,} rows run, {outcome.taken:,} taken from before, {failed}; they are in {out}"
    return f"{told}\nnext: perp lab report{where}"
