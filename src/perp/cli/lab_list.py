"""`perp lab list`: what there is to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from perp.cli.errors import refusing

if TYPE_CHECKING:
    from perp.lab.experiments.experiment import Experiment
    from perp.lab.publication.effort import Effort


def list_experiments(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Only these, each with all its claims.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """List every experiment: source, figure or table, what it claims, rows at full size, and expected minutes."""
    from perp.lab.experiments.catalogue import all_experiments, find_experiment
    from perp.lab.publication.effort import find_effort

    with refusing(ValueError):
        chosen = [find_experiment(identity) for identity in ids] if ids else all_experiments()
    entries = [describe_experiment(experiment) for experiment in chosen]
    if json:
        from perp.lab.results import to_json

        typer.echo(to_json(entries))
    elif ids:
        _show_whole(entries)
    else:
        _show_lines(entries, find_effort(chosen))


def describe_experiment(experiment: Experiment) -> dict[str, Any]:
    """What an experiment says of itself, as plain data."""
    return {
        "id": experiment.id,
        "source": experiment.source,
        "item": experiment.item,
        "title": experiment.title,
        "story": experiment.story,
        "size": experiment.size,
        "rows": len(experiment.make_tasks(False)),
        "quick_rows": len(experiment.make_tasks(True)),
        "minutes": experiment.minutes,
        "claims": [
            {
                "id": claim.id,
                "where": claim.where,
                "says": claim.says,
                "printed": dict(claim.printed),
                "measure": claim.measure,
                "holds": str(claim.holds),
                "instead": None if claim.instead is None else str(claim.instead),
                "cannot": claim.cannot or None,
                "unit": claim.unit or None,
                "seen": claim.seen or None,
            }
            for claim in experiment.claims
        ],
    }


def _show_lines(entries: list[dict[str, Any]], effort: Effort) -> None:
    """A line each; then how much all of them ask for."""
    from perp.cli.cards import show_lines

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
    show_lines([head, *lines])
    claims = sum(len(entry["claims"]) for entry in entries)
    typer.echo(
        f"\n{len(entries)} experiments with {claims} claims: {effort.rows:,} rows at full size and about "
        f"{effort.minutes:.0f} minutes on two cores, shared rows run once. 'perp lab list ID' tells all of one."
    )


def _show_whole(entries: list[dict[str, Any]]) -> None:
    from perp.cli.cards import Card, show_cards

    show_cards(
        "experiment",
        [
            Card(
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
