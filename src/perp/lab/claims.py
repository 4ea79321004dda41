"""A claim: what a paper says, with the numbers that it prints, and the limits within which a measured figure agrees.

The verdict of a run on a claim: holds, differs, cannot hold; or that nothing was measured that could tell.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from importlib.resources import files
from math import inf, isfinite, nan
from typing import Any


@dataclass(frozen=True)
class Limits:
    """From `least` to `most`, both included."""

    least: float = -inf
    most: float = inf

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most

    def __str__(self) -> str:
        if self.least == self.most:
            return f"exactly {self.least:g}"
        if self.least == -inf:
            return f"at most {self.most:g}"
        if self.most == inf:
            return f"at least {self.least:g}"
        return f"{self.least:g} to {self.most:g}"


@dataclass(frozen=True)
class Claim:
    """`measure` names the figure, among those that the experiment measures, on which the claim is judged."""

    id: str
    where: str
    """Section, table or figure of the paper."""
    says: str
    """The claim, in our words."""
    measure: str
    holds: Limits
    """Limits that follow from the claim's words; fixed before anything was measured, but for what `seen` tells."""
    printed: Mapping[str, float] = field(default_factory=dict)
    """The numbers that the paper prints for it, by name."""
    unit: str = ""
    group: str = ""
    """The comparison that it rests on (`Task.group`): where that is void, so is the claim. Empty: all of them."""
    cannot: str = ""
    """Why the claim cannot hold, by derivation; then `instead` has the limits that the derivation gives."""
    instead: Limits | None = None
    why: str = ""
    """What explains a difference; shown where there is one."""
    seen: str = ""
    """What was known of our own figures when the limits were written, or changed since; empty where nothing was."""
    full_size_only: bool = False
    """The quick run is too small to judge it."""

    def __post_init__(self) -> None:
        if bool(self.cannot) != (self.instead is not None):
            raise ValueError(f"claim {self.id!r}: 'cannot' and 'instead' go together")
        for limits in (self.holds, self.instead or self.holds):
            if limits.least == -inf and limits.most == inf:
                raise ValueError(f"claim {self.id!r} holds whatever is measured: give 'least' or 'most'")
            if not limits.least <= limits.most:
                raise ValueError(f"claim {self.id!r} never holds: its limits are {limits}")


def read_claims(package: str, name: str) -> tuple[Claim, ...]:
    """The claims of `name`.toml in a package: an array of tables `claim`, whose entries are the fields of `Claim`."""
    return parse_claims(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def parse_claims(text: str) -> tuple[Claim, ...]:
    """ValueError (TOMLDecodeError is one) where the text is not what it should be."""
    document = tomllib.loads(text)
    if set(document) != {"claim"}:
        raise ValueError(f"a file of claims has [[claim]] and nothing else, not {sorted(document)}")
    claims = tuple(_claim(entry) for entry in document["claim"])
    names = [claim.id for claim in claims]
    if len(set(names)) < len(names):
        raise ValueError(f"two claims have the same id among {names}")
    return claims


def _claim(entry: Mapping[str, Any]) -> Claim:
    known = {each.name for each in fields(Claim)}
    if unknown := sorted(set(entry) - known):
        raise ValueError(f"claim {entry.get('id')!r} has {unknown}, and a claim knows only {sorted(known)}")
    values = dict(entry)
    for name in ("holds", "instead"):
        if name in values:
            values[name] = Limits(**values[name])
    return Claim(**values)


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

    `void` has the groups whose comparison compares nothing (`perp.lab.analysis.profiles`).
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
