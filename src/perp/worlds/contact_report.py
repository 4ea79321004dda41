"""What one step of bodies that touch did."""

from __future__ import annotations

from dataclasses import dataclass

from perp.worlds.contacts import Contacts
from perp.worlds.report import StepReport


@dataclass(frozen=True, eq=False, repr=False)
class ContactReport(StepReport):
    """One step of a world of bodies."""

    contacts: Contacts
    """As they were at the beginning of the step."""

    @property
    def things(self) -> str:
        return f"{len(self.contacts):,} contacts, "

    def measures(self) -> dict[str, float]:
        return {"contacts": float(len(self.contacts)), "penetration": self.contacts.penetration}
