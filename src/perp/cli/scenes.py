"""`perp scenes`: the worlds that can be simulated by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from perp.scenes import SceneKind


def scenes(json: Annotated[bool, typer.Option("--json", help="Print machine-readable JSON.")] = False) -> None:
    """List every scene: where it comes from, what it shows, its options, and how it is run by default.

    perp simulate SCENE runs one; --size NAME=VALUE gives it another option.
    """
    from perp.scenes import kinds

    known = list(kinds().values())
    if json:
        from perp.lab.results import to_json

        typer.echo(to_json([describe_scene(kind) for kind in known]))
        return
    from perp.cli.cards import Card, show_cards

    show_cards("scene", [Card(kind.name, kind.source, card_properties(kind)) for kind in known])


def describe_scene(kind: SceneKind) -> dict[str, Any]:
    return {
        "name": kind.name,
        "group": kind.group,
        "source": kind.source,
        "description": kind.description,
        "dt": kind.dt,
        "method": kind.method,
        "max_iterations": kind.iterations,
        "seeded": kind.seeded,
        "options": {
            option.name: {"default": option.default, "choices": option.choices, "doc": option.doc}
            for option in kind.options.values()
        },
    }


def card_properties(kind: SceneKind) -> dict[str, str]:
    settings = [f"{option.name}={option.default}" for option in kind.options.values()]
    width = max(map(len, settings), default=0)
    lines = []
    for setting, option in zip(settings, kind.options.values(), strict=True):
        choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
        lines.append(f"{setting:<{width}}  {option.doc}{choices}")
    limit = "" if kind.iterations is None else f", at most {kind.iterations} iterations a step"
    seed = "; --seed changes it" if kind.seeded else ""
    return {
        "is": kind.description + seed,
        "runs with": f"{kind.method}{limit}, dt = {kind.dt:.6g} s",
        "sizes": "\n".join(lines) or "none",
    }
