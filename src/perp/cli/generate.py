"""`perp generate`: write a problem of the gallery to a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from perp import gallery
from perp.cli import cards
from perp.cli.cards import describe_options, tell_options
from perp.cli.errors import CommandError, refusing
from perp.cli.options import split_assignments
from perp.errors import FileFormatError, MissingExtra, suggest
from perp.lab import results
from perp.problems import files

if TYPE_CHECKING:
    from perp.gallery import Kind


def generate(
    kind: Annotated[
        str | None,
        typer.Argument(metavar="KIND", help="The kind of problem, for example fluid_like.", show_default=False),
    ] = None,
    n: Annotated[int | None, typer.Option(help="Rows wanted; the kind may round them.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="The file to write: .npz, .mtx or .hdf5.", show_default=False)
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the kind; may be repeated.", show_default=False),
    ] = None,
    list_: Annotated[bool, typer.Option("--list", help="List the kinds with their options.")] = False,
    json: Annotated[bool, typer.Option("--json", help="With --list: machine-readable JSON.")] = False,
) -> None:
    """Make a problem of the gallery and write it to a file, with its known solution where there is one.

    perp generate --list shows the kinds.
    """
    if list_:
        show_kinds(json)
        return
    if kind is None:
        raise CommandError("which kind of problem? (perp generate --list shows them)")
    if out is None:
        raise CommandError("--out FILE is needed: where to write the problem")

    known = gallery.kinds()
    if kind not in known:
        raise CommandError(f"kind {kind!r} is unknown{suggest(kind, known)}")
    words = split_assignments(option or [])
    with refusing(ValueError, TypeError):
        parsers = known[kind].options
        options = {name: parsers[name].parse(text) if name in parsers else text for name, text in words.items()}
        example = gallery.make(kind, n=n, seed=seed, **options)
    with refusing(FileFormatError, MissingExtra, OSError):
        files.save(example.problem, out, x=example.x)
    typer.echo(f"wrote {out}: {repr(example.problem).strip('<>')}")
    stored = "its solution is stored in the file" if example.x is not None else "no solution is stored"
    typer.echo(f"expected: {example.expected.replace('_', ' ')}; {stored}")
    if example.note:
        typer.echo(example.note)


def show_kinds(as_json: bool) -> None:
    if as_json:
        typer.echo(results.to_json([describe_kind(kind) for kind in gallery.kinds().values()]))
        return

    cards.show_cards(
        "kind", [cards.Card(kind.name, f"n = {kind.n}", card_properties(kind)) for kind in gallery.kinds().values()]
    )


def describe_kind(kind: Kind) -> dict[str, object]:
    return {
        "name": kind.name,
        "description": kind.description,
        "n": kind.n,
        "options": describe_options(kind.options),
    }


def card_properties(kind: Kind) -> dict[str, str]:
    return {"is": kind.description, "options": tell_options(kind.options)}
