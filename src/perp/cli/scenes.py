"""`perp scenes`: the worlds that can be simulated by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from perp import scenes as scene_catalogue
from perp.cli import cards
from perp.cli.cards import describe_options, tell_options
from perp.cli.errors import CommandError
from perp.errors import suggest
from perp.lab import results

if TYPE_CHECKING:
    from perp.scenes import SceneKind


def scenes(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A scene to show in full.", show_default=False)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON, in full.")] = False,
) -> None:
    """List every scene: its name, where it comes from, and what it is.

    perp scenes NAME shows one with its options, and how it is run by default; perp simulate NAME runs it, with
    --OPTION VALUE for each that shall be another.
    """
    by_name = scene_catalogue.kinds()
    if name is not None and name not in by_name:
        raise CommandError(f"scene {name!r} is unknown{suggest(name, by_name)}")
    known = list(by_name.values()) if name is None else [by_name[name]]
    if json:
        typer.echo(results.to_json([describe_scene(kind) for kind in known]))
        return
    if name is None:
        cards.show_lines([(kind.name, kind.source, kind.description) for kind in known])
        typer.echo("\nperp scenes NAME shows one with its options; perp simulate NAME --OPTION VALUE ... runs it.")
        return

    cards.show_cards("scene", [cards.Card(kind.name, kind.source, card_properties(kind)) for kind in known])


def describe_scene(kind: SceneKind) -> dict[str, Any]:
    return kind.facts() | {"options": describe_options(kind.options)}


def card_properties(kind: SceneKind) -> dict[str, str]:
    limit = "" if kind.iterations is None else f", at most {kind.iterations} iterations a step"
    seed = "; --seed changes it" if kind.seeded else ""
    return {
        "is": kind.description + seed,
        "runs with": f"{kind.method}{limit}, dt = {kind.dt:.6g} s",
        "options": tell_options(kind.options),
    }
