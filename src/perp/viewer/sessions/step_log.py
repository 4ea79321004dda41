"""What held from which step on: a method, or how two of them hang together."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Span(NamedTuple, Generic[T]):
    """Steps first..last (1 is the first step of a world), and what held in all of them."""

    first: int
    last: int
    value: T


class StepLog(Generic[T]):
    """A value for each step; it holds until another one is noted."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, T]] = []

    def note(self, first: int, value: T) -> None:
        """From step `first` on it is this one. Later notes about that step or those after it are forgotten."""
        while self._entries and self._entries[-1][0] >= first:
            self._entries.pop()
        self._entries.append((first, value))

    def at(self, step: int) -> Span[T]:
        """What holds in this step, since when, and until the step itself."""
        first, value = next(entry for entry in reversed(self._entries) if entry[0] <= step)
        return Span(first, step, value)

    def spans(self, first: int, last: int) -> list[Span[T]]:
        """Steps first..last, cut where the value changed."""
        cut: list[Span[T]] = []
        while last >= first:
            span = self.at(last)
            cut.append(Span(max(span.first, first), last, span.value))
            last = span.first - 1
        return cut[::-1]
