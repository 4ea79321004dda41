"""Lists of things with properties and options: a table on a wide terminal, indented text elsewhere."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from perp.gallery import Option

WIDTH = 100
"""Columns of plain text, where no terminal says how wide it is."""

TABLE_WIDTH = 140
"""A narrower terminal would break the words of a table apart."""


@dataclass(frozen=True)
class Card:
    """A name, a word beside it, and named properties, each of one or several lines; all cards have the same ones."""

    name: str
    remark: str
    properties: Mapping[str, str]


def show_cards(heading: str, cards: Sequence[Card]) -> None:
    if sys.stdout.isatty() and shutil.get_terminal_size().columns >= TABLE_WIDTH:
        _show_table(heading, cards)
    else:
        typer.echo("\n\n".join(_plain(card) for card in cards))


def show_lines(rows: Sequence[tuple[str, ...]]) -> None:
    """Columns of plain text: each as wide as its widest entry, the last one wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for *short, long in rows:
        head = "".join(f"{text:<{width}}  " for text, width in zip(short, widths, strict=True))
        wrapped = textwrap.wrap(
            long,
            max(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH),
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        )
        typer.echo("\n".join(wrapped) or head.rstrip())


def describe_options(options: Mapping[str, Option]) -> dict[str, Any]:
    """For JSON."""
    return {
        option.name: {"default": option.default, "choices": option.choices, "doc": option.doc}
        for option in options.values()
    }


def tell_options(options: Mapping[str, Option]) -> str:
    """A line each: name and default, what it means, and the choices."""
    settings = [f"{option.name}={option.default}" for option in options.values()]
    width = max(map(len, settings), default=0)
    lines = []
    for setting, option in zip(settings, options.values(), strict=True):
        choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
        lines.append(f"{setting:<{width}}  {option.doc}{choices}")
    return "\n".join(lines) or "none"


def _show_table(heading: str, cards: Sequence[Card]) -> None:
    table = Table(heading, *cards[0].properties, header_style="bold", show_lines=True)
    for card in cards:
        name = Text.assemble((card.name, "bold cyan"), "\n", (card.remark, "dim"))
        table.add_row(name, *(Text(value) for value in card.properties.values()))
    Console().print(table)


def _plain(card: Card) -> str:
    width = max(map(len, card.properties))
    lines = [f"{card.name}  ({card.remark})"]
    for key, value in card.properties.items():
        for label, line in zip([key, *[""] * value.count("\n")], value.split("\n"), strict=True):
            lines += textwrap.wrap(
                line,
                WIDTH,
                initial_indent=f"  {label:<{width}}  ",
                subsequent_indent=" " * (width + 6),
                break_long_words=False,
                break_on_hyphens=False,
            )
    return "\n".join(lines)
