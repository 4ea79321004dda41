"""What a recording says of how it was made; files are strangers, and nothing in them is believed unseen."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, NamedTuple

from perp.gallery.options import SEED
from perp.linalg.contact_compliance import require_units
from perp.problems.inputs import require_number
from perp.recording import Description
from perp.scenes import kinds
from perp.solvers.options.words import read_words
from perp.solvers.roster import BY_NAME
from perp.viewer.sessions.answers import Message
from perp.viewer.sessions.forms import read_scene_options
from perp.viewer.sessions.method_choice import MethodChoice, choose_method
from perp.viewer.sessions.recipe import Recipe
from perp.viewer.sessions.refusals import Refusal
from perp.worlds.contact_world import LAWS

RUN = ("model", "warm_start", "islands", "tol", "max_iterations", "method_options")
"""What `perp simulate --record` writes under options["run"]; contact_compliance and compliance_units came later."""


class Known(NamedTuple):
    """What makes the run again."""

    recipe: Recipe
    method: MethodChoice
    version: str
    """Of the perp that it was made with."""


def tell_lane(about: Description) -> Message:
    """A `Lane` of `messages.ts`, as far as it is known."""
    run = _run(about)
    return {
        "method": about.method,
        "options": _words(about),
        "tol": _number(run.get("tol")),
        "max_iterations": _number(run.get("max_iterations")),
    }


def read_recipe(about: Description) -> Known | None:
    """What makes this run again; None where the description does not tell it, or tells what this perp has not."""
    run, known = _run(about), kinds()
    if about.scene not in known or any(name not in run for name in RUN):
        return None
    if run.get("max_seconds") is not None:  # no run of seconds repeats
        return None
    if run["model"] not in (None, *LAWS) or run["warm_start"] not in (None, True, False) or not 0.0 < about.dt < inf:
        return None
    try:
        compliance = _compliance(run.get("contact_compliance"), run.get("compliance_units"))
        options = read_scene_options(about.scene, {name: v for name, v in about.options.items() if name != "run"})
        SEED.check(about.seed)
        method = choose_method(
            about.method, _method_options(about), run["tol"], run["max_iterations"], islands=run["islands"] is True
        )
    except (ValueError, TypeError, Refusal):
        return None
    model = None if run["model"] == options.get("model") else run["model"]
    warm_start = None if run["warm_start"] is True else run["warm_start"]
    recipe = Recipe(about.scene, options, about.seed, model, warm_start, about.dt, compliance)
    return Known(recipe, method, str(about.versions.get("perp", "of another version")))


def _method_options(about: Description) -> dict[str, Any]:
    """What the words of the command line meant; they stay words where the method is none."""
    words = _words(about)
    return read_words(BY_NAME[about.method], words) if about.method in BY_NAME else words


def _words(about: Description) -> dict[str, str]:
    """Options of the method as the command line had them: `{"relaxation": "1.2"}`."""
    return {str(name): str(word) for name, word in _mapping(_run(about).get("method_options")).items()}


def _compliance(value: Any, units: Any) -> tuple[float, str] | None:
    """What the contacts of the world were given; None: nothing, as in recordings of the time before."""
    if value is None or value == 0.0:
        return None
    require_number(value, "contact_compliance")
    require_units(units)
    return float(value), units


def _run(about: Description) -> Mapping[str, Any]:
    return _mapping(about.options.get("run"))


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and abs(value) < inf else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
