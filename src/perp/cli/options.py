"""Options that several commands share: how they are declared, and how their words are read.

Options of a scene may stand in the line under their own names (`SceneCommand`):

    perp simulate dam_break --cells 128 --dim=3

means what `--size cells=128 --size dim=3` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from perp import scenes, vocabulary
from perp.cli import cards
from perp.cli.errors import CommandError, refusing
from perp.errors import InvalidProblem, MissingAbility, either, suggest
from perp.linalg import contact_compliance
from perp.linalg import contact_compliance as compliances
from perp.problems import inputs
from perp.solvers import roster

if TYPE_CHECKING:
    from perp.problems.problem import Problem
    from perp.scenes import SceneKind

MethodName = Annotated[
    str | None, typer.Option("--method", "-m", help="A method; default the scene's own, 'perp methods' lists all.")
]
MethodOptions = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the method; may be repeated.")
]
SceneSizes = Annotated[
    list[str] | None, typer.Option(metavar="NAME=VALUE", help="An option of the scene; --NAME VALUE does the same.")
]
Seed = Annotated[int | None, typer.Option(help="Seed of the scene's random numbers; default 0.")]
FrictionLaw = Annotated[str | None, typer.Option(help="The law of friction: box, cone or convex.")]
Tolerance = Annotated[
    float | None, typer.Option(help="Residual at which the solve of a step has succeeded; default 1e-8.")
]
IterationLimit = Annotated[
    int | None,
    typer.Option(help="Limit for each step; default the scene's for its own method, else that of the method."),
]
StepLength = Annotated[float | None, typer.Option(help="Length of a step in seconds; default the scene's own.")]
ContactCompliance = Annotated[
    float | None,
    typer.Option(
        metavar="VALUE",
        help="Let contacts give way by C x, as 1e-4 does a little; 0 is the rigid law.",
        show_default=False,
    ),
]
ComplianceUnits = Annotated[
    str | None,
    typer.Option(
        metavar="UNITS",
        help="Of that number: by_inertia (a share of A_ii, the default), by_load (of speed over impulse), "
        "si for (m/s)/(N s).",
        show_default=False,
    ),
]

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

        known = scenes.kinds()
        for name in (word for word in ctx.meta.get(WORDS, ()) if word in known):
            typer.echo(f"Options of {name}, each as --NAME VALUE:\n\n{cards.tell_options(known[name].options)}\n")


def merge_options(kind: SceneKind, sizes: list[str], ctx: Any) -> dict[str, str]:
    """The words for options of this scene, from `--size NAME=VALUE` and from `--NAME VALUE`."""
    pairs = split_assignments(sizes)
    given: dict[str, str] = ctx.meta.get(GIVEN, {})
    for name, value in given.items():
        flag = _flag(name)
        if name not in kind.options:
            others = [word for parameter in ctx.command.params for word in parameter.opts if word.startswith("--")]
            flags = [*map(_flag, kind.options), *others]
            hint = suggest_flag(flag, flags) or suggest(flag, flags)
            raise CommandError(f"{flag}: neither '{ctx.command_path}' nor {kind.name} has such an option{hint}")
        if name in pairs:
            both = f"{flag} {value} and as --size {name}={pairs[name]}"
            raise CommandError(f"{name} is given twice, as {both}: give one of them")
    return pairs | given


def split_assignments(words: Sequence[str], flag: str = "--option") -> dict[str, str]:
    """`["relaxation=1.2"]` as `{"relaxation": "1.2"}`."""
    pairs: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name:
            raise CommandError(f"{flag} {word!r}: name=value is needed")
        if name in pairs:
            raise CommandError(f"{flag} {name} is given twice")
        pairs[name] = value.strip()
    return pairs


def read_compliance(value: float | None, units: str | None) -> tuple[float, str] | None:
    """The number and its units; None where nothing was said."""
    if value is None:
        if units is not None:
            raise CommandError(f"--compliance-units {units}: the number is missing: add --contact-compliance VALUE")
        return None
    with refusing(ValueError):
        inputs.require_number(value, "--contact-compliance")
    if units is not None and units not in contact_compliance.UNITS:
        raise CommandError(f"--compliance-units {units!r} is unknown{suggest(units, contact_compliance.UNITS)}")
    return float(value), "by_inertia" if units is None else units


def with_compliance(problem: Problem, compliance: tuple[float, str]) -> Problem:
    """The problem of a file with this compliance in the place of what its contacts have."""
    contacts = problem.frictional
    if contacts is None:
        raise CommandError(f"--contact-compliance: the file holds no contacts, but a {problem.kind} problem")
    with refusing(InvalidProblem, MissingAbility):
        return contacts.with_compliance(compliances.contact_compliance(contacts, *compliance))


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
        name = _name(flag)
        if name in given:
            raise CommandError(f"{flag} is given twice")
        given[name] = value.strip()
    return own, given


def suggest_flag(flag: str, known: Sequence[str]) -> str:
    """What to add to the refusal of an option of a command: the one that was meant, or where it belongs."""
    names = {_name(each): each for each in known}
    options = roster.options_of()
    lead = vocabulary.lead_home(_name(flag), names, options)
    if lead.here:
        return f"; {flag!r} is known here as {either(names[name] for name in lead.here)}"
    if not lead.elsewhere:
        return ""
    carriers = [each for each in known if each in ("--option", "--method-option")]
    is_option = any(entry.home in lead.elsewhere for entry in options.values())
    way = f": {carriers[0]} NAME=VALUE" if carriers and is_option else ""
    return f"; {lead.elsewhere}{way}"


def _name(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
