"""`--contact-compliance VALUE --compliance-units UNITS`: the same words wherever contacts are solved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from perp.cli.errors import CommandError, refusing
from perp.errors import InvalidProblem, MissingAbility, suggest

if TYPE_CHECKING:
    from perp.problems.problem import Problem

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


def read_compliance(value: float | None, units: str | None) -> tuple[float, str] | None:
    """The number and its units; None where nothing was said."""
    from perp.linalg.contact_compliance import UNITS
    from perp.problems.inputs import require_number

    if value is None:
        if units is not None:
            raise CommandError(f"--compliance-units {units}: the number is missing: add --contact-compliance VALUE")
        return None
    with refusing(ValueError):
        require_number(value, "--contact-compliance")
    if units is not None and units not in UNITS:
        raise CommandError(f"--compliance-units {units!r} is unknown{suggest(units, UNITS)}")
    return float(value), "by_inertia" if units is None else units


def with_compliance(problem: Problem, compliance: tuple[float, str]) -> Problem:
    """The problem of a file with this compliance in the place of what its contacts have."""
    from perp.linalg.contact_compliance import contact_compliance
    from perp.problems.friction import ContactProblem

    if not isinstance(problem, ContactProblem):
        raise CommandError(f"--contact-compliance: the file holds no contacts, but a {problem.kind} problem")
    with refusing(InvalidProblem, MissingAbility):
        return problem.with_compliance(contact_compliance(problem, *compliance))
