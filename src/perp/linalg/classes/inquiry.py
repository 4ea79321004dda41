"""Asking the questions in turn: each once, within the time, with its own seconds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, NamedTuple

from perp.linalg.classes.subject import Subject
from perp.linalg.classes.verdict import Verdict, Witness


class OutOfTime(Exception):
    """The share of the time that this question had is over."""


class Finding(NamedTuple):
    """An answer without a name."""

    answer: bool | None
    why: str
    witness: Witness | None = None


Rule = Callable[["Inquiry"], Finding]


class Inquiry:
    """What is known of one matrix so far. Rules ask one another through `ask`, so that nothing is found twice.

    Each takes at most half of the time that is left when it begins.
    """

    def __init__(self, subject: Subject, rules: Mapping[str, Rule], max_seconds: float) -> None:
        self.subject = subject
        self._rules = rules
        self._end = perf_counter() + max_seconds
        self._limit = self._end
        self._nested = 0.0
        self.verdicts: dict[str, Verdict] = {}
        self.memory: dict[str, Any] = {}
        """What a rule leaves behind for another one."""

    def ask(self, name: str) -> Verdict:
        """The verdict on one class."""
        if name in self.verdicts:
            return self.verdicts[name]
        begin, outer_nested, outer_limit = perf_counter(), self._nested, self._limit
        self._nested = 0.0
        self._limit = begin + 0.5 * max(self._end - begin, 0.0)
        try:
            finding = self._find(name)
        finally:
            self._limit = outer_limit
        spent = perf_counter() - begin
        verdict = Verdict(name, *finding, seconds=spent - self._nested)
        self._nested = outer_nested + spent
        self.verdicts[name] = verdict
        return verdict

    def _find(self, name: str) -> Finding:
        if not self.subject.known:
            return Finding(None, "only products with A are known, not its entries")
        if self.subject.n == 0:
            return Finding(True, "there is nothing in an empty matrix that could contradict it")
        try:
            return self._rules[name](self)
        except OutOfTime:
            return Finding(None, f"the time limit was reached (n = {self.subject.n}; raise max_seconds)")

    @property
    def seconds_left(self) -> float:
        """Of the present question."""
        return self._limit - perf_counter()

    def check(self) -> None:
        """Raise when the time of the present question is over."""
        if self.seconds_left < 0.0:
            raise OutOfTime
