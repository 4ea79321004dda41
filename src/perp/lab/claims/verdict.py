"""The verdict of a run on a claim: holds, differs, cannot hold; or that nothing was measured that could tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from math import isfinite, nan

from perp.lab.claims.claim import Claim


class Outcome(Enum):
    """What a verdict can be; its value is how a report says it."""

    HOLDS = "holds"
    DIFFERS = "differs"
    CANNOT_HOLD = "cannot hold"
    VOID = "void"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Verdict:
    """A claim, the figure that was measured for it, and what follows."""

    claim: Claim
    outcome: Outcome
    measured: float
    sentence: str


def judge(claim: Claim, measured: Mapping[str, float], *, void: Collection[str] = (), quick: bool = False) -> Verdict:
    """Judge a claim by the figures of an experiment.

    `void` has the groups whose comparison compares nothing (`perp.lab.analysis.guard`).
    A claim that cannot hold is judged by what the derivation gives in its place: only a figure within those limits is
    evidence for the derivation, any other DIFFERS from both.
    """
    value = float(measured.get(claim.measure, nan))
    printed = _told(claim.printed)
    here = f"here {value:.4g}{claim.unit and ' ' + claim.unit}" if isfinite(value) else "nothing measured here"
    both = f"{printed}; {here}" if printed else here
    if claim.group in void or (not claim.group and void):
        return Verdict(
            claim, Outcome.VOID, value, f"{both}: the comparison is void, too little was asked of the methods."
        )
    if not isfinite(value):
        return Verdict(claim, Outcome.NOT_MEASURED, value, f"{both}.")
    if quick and claim.full_size_only:
        return Verdict(claim, Outcome.NOT_MEASURED, value, f"{both} at quick size, which is too small to judge it.")
    if claim.instead is not None:
        if value in claim.instead:
            return Verdict(claim, Outcome.CANNOT_HOLD, value, f"{both}, as derived ({claim.instead}): {claim.cannot}")
        told = f"{both}, not as derived ({claim.instead}; the claim itself means {claim.holds})."
        return Verdict(claim, Outcome.DIFFERS, value, f"{told} {claim.why}".strip())
    if value in claim.holds:
        return Verdict(claim, Outcome.HOLDS, value, f"{both}; the claim means {claim.holds}.")
    return Verdict(claim, Outcome.DIFFERS, value, f"{both}; the claim means {claim.holds}. {claim.why}".strip())


def _told(printed: Mapping[str, float]) -> str:
    return "paper " + ", ".join(f"{name} {value:g}" for name, value in printed.items()) if printed else ""
