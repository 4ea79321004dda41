"""A claim: what a paper says, with the numbers that it prints, and the limits within which a measured figure agrees."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib.resources import files
from math import inf
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
