"""`--NAME VALUE` for options that a scene has and the command does not: taken out of the line before it is read.

    perp simulate dam_break --cells 128 --dim=3

means what `--size cells=128 --size dim=3` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from perp.cli.assignments import split_assignments
from perp.cli.errors import CommandError
from perp.errors import suggest

if TYPE_CHECKING:
    from perp.scenes import SceneKind

GIVEN, WORDS = "perp.scene_options", "perp.words"
"""Where the context of a command keeps what was taken out of its line, and the line."""


class SceneCommand(TyperCommand):
    """A command whose line may have options that its scene has, and whose help tells them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[WORDS] = tuple(args)
        takes_value = {
            word: not getattr(parameter, "is_flag", False)
            for parameter in self.get_params(ctx)
            for word in (*parameter.opts, *parameter.secondary_opts)
            if word.startswith("-")
        }
        own, ctx.meta[GIVEN] = take_unknown(args, takes_value, ctx.command_path)
        return super().parse_args(ctx, own)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        super().format_help(ctx, formatter)
        from perp.cli.option_lists import tell_options
        from perp.scenes import kinds

        known = kinds()
        for name in (word for word in ctx.meta.get(WORDS, ()) if word in known):
            typer.echo(f"Options of {name}, each as --NAME VALUE:\n\n{tell_options(known[name].options)}\n")


def take_unknown(words: list[str], takes_value: Mapping[str, bool], command: str) -> tuple[list[str], dict[str, str]]:
    """The words that `command` knows, and `{"cells": "128"}` of those that it does not; `--` ends the options."""
    own: list[str] = []
    given: dict[str, str] = {}
    place = 0
    while place < len(words):
        word = words[place]
        flag, sign, value = word.partition("=")
        place += 1
        if word == "--":
            return [*own, *words[place - 1 :]], given
        if flag in takes_value or not word.startswith("--"):
            own.append(word)
            if takes_value.get(word) and place < len(words):
                own.append(words[place])
                place += 1
            continue
        if not sign:
            if place == len(words) or words[place].startswith("--"):
                raise CommandError(f"{flag} needs a value: {flag} VALUE (see '{command} --help')")
            value = words[place]
            place += 1
        name = flag.removeprefix("--").replace("-", "_")
        if name in given:
            raise CommandError(f"{flag} is given twice")
        given[name] = value.strip()
    return own, given


def merge_options(kind: SceneKind, sizes: list[str], ctx: Any) -> dict[str, str]:
    """The words for options of this scene, from `--size NAME=VALUE` and from `--NAME VALUE`."""
    pairs = split_assignments(sizes)
    given: dict[str, str] = ctx.meta.get(GIVEN, {})
    for name, value in given.items():
        flag = _flag(name)
        if name not in kind.options:
            others = [word for parameter in ctx.command.params for word in parameter.opts if word.startswith("--")]
            hint = suggest(flag, [*map(_flag, kind.options), *others])
            raise CommandError(f"{flag}: neither '{ctx.command_path}' nor {kind.name} has such an option{hint}")
        if name in pairs:
            both = f"{flag} {value} and as --size {name}={pairs[name]}"
            raise CommandError(f"{name} is given twice, as {both}: give one of them")
    return pairs | given


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
