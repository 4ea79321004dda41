"""What other libraries and papers call the arguments that perp has, and which argument a caller may have meant.

An argument has the same name wherever perp takes it (problems, worlds, `solve`, `simulate`, the command line), so its
synonyms stand here once. A method has its own synonyms on its class, an option of methods in its `About`. A synonym is
never accepted: it leads to an error that names the right word.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar

from perp.errors import either, find_meant, suggest

T = TypeVar("T", bound=Callable[..., Any])

FEW = 6
"""So many arguments are listed behind the place that another one belongs to."""


@dataclass(frozen=True)
class Argument:
    """Where an argument belongs, and its names elsewhere."""

    home: str
    """Stands behind a verb: `'friction' is an argument of perp.ContactProblem`."""
    synonyms: tuple[str, ...] = ()


_PROBLEMS = "an argument of perp.LCP, perp.BoxLCP and perp.ContactProblem"
_BOUNDS = "an argument of perp.BoxLCP and perp.ContactProblem"
_CONTACTS = "an argument of perp.ContactProblem"
_SOLVE = "an argument of perp.solve and perp.simulate"
_ONE_SOLVE = "an argument of perp.solve"
_SIMULATE = "an argument of perp.simulate"
_WORLDS = "an argument of the world"

ARGUMENTS: dict[str, Argument] = {
    # problems: y = A x + b, lower <= x <= upper
    "A": Argument(_PROBLEMS, ("M", "W", "G", "Delassus", "Delassus matrix", "matrix")),
    "b": Argument(_PROBLEMS, ("q",)),
    "lower": Argument(_BOUNDS, ("lb", "lo", "l", "low", "lower_bound", "x_min")),
    "upper": Argument(_BOUNDS, ("ub", "hi", "u", "high", "upper_bound", "x_max")),
    "friction": Argument(
        _CONTACTS, ("mu", "mus", "friction_coefficient", "coefficient_of_friction", "lateral_friction", "cof")
    ),
    "model": Argument(
        f"{_CONTACTS} and of worlds", ("cone", "friction_model", "friction_law", "friction_type", "friction_cone")
    ),
    "dimension": Argument(_CONTACTS, ("dim", "condim")),
    "extra_rows": Argument(_CONTACTS, ("n_extra", "bilateral_rows")),
    "J": Argument("an argument of perp.FactoredOperator and perp.ContactRows", ("jacobian", "jac")),
    "mass": Argument("an argument of perp.FactoredOperator and perp.assemble_step", ("M", "mass_matrix", "inertia")),
    # solving
    "method": Argument(_SOLVE, ("solver", "solver_type", "algorithm", "algo")),
    "tol": Argument(_SOLVE, ("tolerance", "eps", "epsilon", "atol", "abs_tol", "abs_tolerance", "absolute_tolerance")),
    "max_iterations": Argument(
        _SOLVE,
        (
            *("maxiter", "max_iter", "maxit", "max_iters", "iter_max", "max_num_iterations", "max_sweeps"),
            *("niter", "n_iter", "num_iterations", "num_solver_iterations", "iterations", "iters", "sweeps"),
        ),
    ),
    "max_seconds": Argument(_SOLVE, ("time_limit", "timeout", "max_time", "maxtime", "max_cpu_time")),
    "x0": Argument(
        _ONE_SOLVE,
        ("z0", "lambda0", "initial_guess", "guess", "init", "x_init", "warm_start", "warmstart", "initvals"),
    ),
    "check_every": Argument(_ONE_SOLVE, ("check_termination", "check_interval", "error_evaluation_frequency")),
    "callback": Argument("an argument of perp.solve and perp.simulate", ("monitor", "observer", "on_iteration")),
    "stop": Argument(_ONE_SOLVE, ("stopping", "stopping_criterion", "termination")),
    # simulation
    "dt": Argument(_SIMULATE, ("timestep", "time_step", "step_size", "h", "delta_t")),
    "time_step": Argument("an argument of perp.assemble_step", ("dt", "timestep", "h", "delta_t")),
    "steps": Argument(_SIMULATE, ("n_steps", "num_steps", "nsteps")),
    "islands": Argument(_SIMULATE, ("use_islands", "split_islands")),
    "workers": Argument(
        "an argument of perp.simulate and perp.solve_islands", ("threads", "n_threads", "num_threads", "n_jobs")
    ),
    "warm_start": Argument(
        "an argument of perp.simulate and of worlds", ("warmstart", "warm_starting", "enable_warm_start")
    ),
    # worlds
    "error_reduction": Argument(
        _WORLDS,
        ("erp", "error_reduction_parameter", "contact_erp", "baumgarte", "baumgarte_factor", "stabilisation"),
    ),
    "compliance": Argument(_WORLDS, ("cfm", "constraint_force_mixing", "softness")),
    "contact_compliance": Argument(f"{_WORLDS} and of perp.ContactProblem", ("contact_cfm",)),
    "restitution": Argument(_WORLDS, ("bounce", "bounciness", "coefficient_of_restitution", "cor")),
    "slop": Argument(
        _WORLDS,
        ("linear_slop", "contact_slop", "allowed_penetration", "error_allowance", "contact_surface_layer"),
    ),
    "margin": Argument(_WORLDS, ("contact_margin", "contact_offset", "collision_margin")),
    "gravity": Argument(_WORLDS, ("g",)),
    "spacing": Argument(_WORLDS, ("dx", "cell_size", "grid_spacing", "h")),
    "density": Argument(_WORLDS, ("rho",)),
    "mujoco_model": Argument(_WORLDS, ("mj_model", "mjm")),
}


@dataclass(frozen=True)
class Lead:
    """What leads from an unknown word home."""

    here: tuple[str, ...]
    """Arguments at this place that the word is a synonym of."""
    elsewhere: str
    """Where perp has the word or its synonym, as a clause; empty where it has neither, or where `here` is not."""


def lead_home(
    word: str,
    known: Collection[str],
    options: Mapping[str, Argument] | None = None,
    own: Mapping[str, Argument] | None = None,
) -> Lead:
    """`known` are the arguments at this place, and `own` those of them that mean something else than in `ARGUMENTS`.

    `options` are further ones that perp has elsewhere.
    """
    others, own = options or {}, own or {}
    meanings = {**ARGUMENTS, **own}
    here = find_meant(word, {name: meanings[name].synonyms for name in known if name in meanings})
    if here:
        return Lead(tuple(here), "")
    away = {name: entry for name, entry in others.items() if name not in known}
    away |= {name: entry for name, entry in ARGUMENTS.items() if name not in known or name in own}
    places = [away[word].home] if word in away else []
    meant = find_meant(word, {name: entry.synonyms for name, entry in away.items()})
    if meant:
        places.append(f"known here as {' or '.join(f'{name!r} ({away[name].home})' for name in meant)}")
    return Lead((), f"{word!r} is {', and '.join(places)}" if places else "")


def suggest_argument(
    word: str,
    known: Iterable[str],
    options: Mapping[str, Argument] | None = None,
    own: Mapping[str, Argument] | None = None,
) -> str:
    """What to add to the refusal of an argument: its name here, where else in perp it belongs, or the nearest name."""
    names = sorted(known)
    lead = lead_home(word, names, options, own)
    if lead.here:
        return f"; {word!r} is known here as {either(lead.here)}"
    if lead.elsewhere:
        listed = f" (known: {', '.join(names)})" if 0 < len(names) <= FEW else ""
        return f"; {lead.elsewhere}{listed}"
    return suggest(word, names)


def explains_arguments(options: Callable[[], Mapping[str, Argument]] = dict) -> Callable[[T], T]:
    """For a function or class: an unknown keyword raises a TypeError that says which argument was meant.

    `options()` are further arguments that perp has. Costs nothing where the arguments are right.
    """

    def decorate(thing: T) -> T:
        named: Any = thing
        if isinstance(thing, type):
            named.__init__ = _explaining(named.__init__, thing.__name__, options)
            return thing
        explaining: T = _explaining(thing, named.__name__, options)
        return explaining

    return decorate


def _explaining(function: Any, title: str, options: Callable[[], Mapping[str, Argument]]) -> Any:
    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except TypeError:
            known = [name for name in inspect.signature(function).parameters if name != "self"]
            unknown = next((name for name in named if name not in known), None)
            if unknown is None:
                raise
            hint = suggest_argument(unknown, known, options())
            raise TypeError(f"{title} has no argument {unknown!r}{hint}") from None

    return call
