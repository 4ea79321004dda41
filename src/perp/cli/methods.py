"""`perp methods`: what there is to solve with."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perp.cli import cards
from perp.cli.errors import refusing
from perp.lab import results
from perp.solvers import roster
from perp.solvers.options import About, option_docs

if TYPE_CHECKING:
    from perp.solvers.method import Method


def methods(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Only these methods, each with all that it says; names from elsewhere, as nsgs, do, too."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False,
) -> None:
    """List every method: what it accepts, what it needs of A, its options with their defaults, and its reference.

    perp methods NAME also says what each option means.
    """
    chosen = find_methods(names) if names else list(roster.METHODS)
    entries = [describe_method(method) for method in chosen]
    if json:
        typer.echo(results.to_json(entries))
        return

    shown = [
        cards.Card(
            entry["name"],
            entry["family"],
            {
                "does": entry["summary"],
                "also known as": ", ".join(entry["synonyms"]) or "-",
                "accepts": ", ".join(entry["accepts"]),
                "needs of A": ", ".join(entry["needs"]),
                "requires": entry["requires"],
                "options": ", ".join(f"{name}={value}" for name, value in entry["options"].items()) or "none",
                "reference": entry["reference"],
            },
        )
        for entry in entries
    ]
    cards.show_cards("method", shown)
    if names:
        for method in chosen:
            typer.echo(f"\n{method.name}\n\n{inspect.getdoc(method)}")
            if rows := option_rows(method):
                typer.echo(f"\nOptions of {method.name}:\n")
                cards.show_lines(rows)


def find_methods(names: Iterable[str]) -> list[type[Method]]:
    """The methods of these names, each once; a name that several methods have elsewhere stands for all of them."""
    found: dict[str, type[Method]] = {}
    with refusing(ValueError):
        for name in names:
            called = roster.methods_called(name) or [roster.find_method(name)]
            found |= {method.name: method for method in called}
    return list(found.values())


def option_rows(method: type[Method]) -> list[tuple[str, str]]:
    """Name and default, and what the option means, with its choices."""
    docs = option_docs(method)
    return [(f"{each.name}={each.default}", _sentence(docs.get(each.name))) for each in fields(method)]


def _sentence(about: About | None) -> str:
    if about is None:
        return ""
    choices = f"; one of {', '.join(about.words)}" if about.words else ""
    elsewhere = f"; also known as {', '.join(about.synonyms)}" if about.synonyms else ""
    return f"{about.sentence}{choices}{elsewhere}"


def describe_method(method: type[Method]) -> dict[str, Any]:
    """What a method says of itself; an option is a field of its dataclass."""
    return {
        "name": method.name,
        "family": method.family,
        "synonyms": list(method.synonyms),
        "summary": " ".join((inspect.getdoc(method) or "").partition("\n\n")[0].split()),
        "accepts": sorted(method.accepts),
        "needs": sorted(method.needs),
        "requires": method.requires,
        "reference": method.reference,
        "options": {field.name: field.default for field in fields(method)},
        "option_docs": {
            name: {"doc": about.sentence, "choices": about.words, "synonyms": list(about.synonyms)}
            for name, about in option_docs(method).items()
        },
    }
