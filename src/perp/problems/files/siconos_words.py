"""The words of a text file one after the other, read in pieces, with the line of any word that is at fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import numpy as np

from perp.errors import FileFormatError
from perp.problems.files.guard import FileGuard
from perp.problems.inputs import Vector

CHARACTERS_AT_ONCE = 2**20

LONGEST_WORD = 400
"""The longest double written out in full has 327 characters; a file without blanks is none of ours."""

LEAST_CHARACTERS = 2
"""Of a number and the blank after it: a file cannot hold more numbers than its size allows."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_NO_NUMBER = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_PLAIN = frozenset("0123456789+-.eE")


@contextmanager
def open_words(guard: FileGuard) -> Iterator[Words]:
    """The words of a file; in Latin-1 every byte is a character, so that a strange one is refused with its line."""
    with guard.path.open(encoding="latin-1") as stream:
        yield Words(stream, guard)


class Words:
    """A cursor that only moves forward; `taken` counts the words behind it."""

    def __init__(self, stream: IO[str], guard: FileGuard) -> None:
        self.guard = guard
        self.taken: int = 0
        self._stream = stream
        self._size = guard.path.stat().st_size
        self._text, self._cut, self._lines_before = "", "", 0
        self._words: list[str] = []
        self._next = 0

    def peek(self) -> str | None:
        """The next word, which stays where it is; None at the end of the file."""
        while self._next == len(self._words):
            if not self._read_piece():
                return None
        return self._words[self._next]

    def word(self, meaning: str) -> str:
        """The next word, which `meaning` describes for the message of a file that ends here."""
        word = self.peek()
        if word is None:
            raise self.fault(f"the file ends where {meaning} must stand")
        self._next += 1
        self.taken += 1
        return word

    def integer(self, meaning: str, *, least: int = 0) -> int:
        word = self.word(meaning)
        if not _WHOLE.fullmatch(word):
            raise self.fault(f"{meaning} must stand here, found {word[:40]!r}", back=1)
        value = int(word)
        if value < least:
            raise self.fault(f"{meaning} is {value}; a whole number >= {least} must stand here", back=1)
        return value

    def integers(self, count: int, meaning: str) -> list[int]:
        self.require_room(count, meaning)
        return [self.integer(f"an entry of {meaning}") for _ in range(count)]

    def numbers(self, count: int, meaning: str, *, infinite: bool = False) -> Vector:
        """So many numbers; `inf` and `-inf` only where the caller says so, `nan` never."""
        self.require_room(count, meaning)
        self.guard.spend(meaning, 8 * count)
        values = np.empty(count)
        filled = 0
        while filled < count:
            if self.peek() is None:
                raise self.fault(f"the file ends after {filled:,} of {count:,} entries of {meaning}")
            words = self._words[self._next : self._next + count - filled]
            values[filled : filled + len(words)] = self._parse(words, meaning, infinite)
            self._next += len(words)
            self.taken += len(words)
            filled += len(words)
        return values

    def number(self, meaning: str) -> float:
        return float(self.numbers(1, meaning)[0])

    def expect(self, *words: str) -> None:
        """These very words must follow."""
        for expected in words:
            found = self.word(repr(expected))
            if found != expected:
                raise self.fault(f"{expected!r} must stand here, found {found[:40]!r}", back=1)

    def count_numbers(self, most: int) -> int:
        """How many numbers follow before the first word that is none, or the end; counts up to `most` + 1."""
        count = 0
        while count <= most and (word := self.peek()) is not None and _NUMBER.fullmatch(word):
            self.word("a number")
            count += 1
        return count

    def require_room(self, count: int, meaning: str, characters: int = LEAST_CHARACTERS) -> None:
        """Refuse more entries than the file has characters for, before anything is allocated for them."""
        if count * characters > self._size + 1:  # the last word may lack its blank
            raise self.fault(
                f"{count:,} entries of {meaning} are declared, which a file of {self._size:,} bytes cannot hold"
            )

    def place(self, back: int = 0) -> str:
        """`line 7`: where the next word stands, or the one that was taken last (`back` = 1)."""
        if back <= 0:
            self.peek()
        wanted = self._next - back
        for number, match in enumerate(re.finditer(r"\S+", self._text)):
            if number == wanted:
                return f"line {self._lines_before + self._text.count(chr(10), 0, match.start()) + 1}"
        return f"line {self._lines_before + self._text.rstrip().count(chr(10)) + 1}"

    def fault(self, why: str, back: int = 0) -> FileFormatError:
        return self.guard.fault(self.place(back), why)

    def _parse(self, words: list[str], meaning: str, infinite: bool) -> Vector:
        """All at once where they are plain; one by one where a character is strange or a value not finite."""
        if set().union(*words) <= _PLAIN:
            try:
                values = np.array([float(word) for word in words])
            except ValueError:
                values = np.full(1, np.nan)
            if np.isfinite(values).all():
                return values
        return np.array([self._parse_one(word, k, meaning, infinite) for k, word in enumerate(words)])

    def _parse_one(self, word: str, offset: int, meaning: str, infinite: bool) -> float:
        is_number = _NUMBER.fullmatch(word) or _NO_NUMBER.fullmatch(word)
        value = float(word) if is_number else np.nan
        if np.isnan(value) or (np.isinf(value) and not infinite):
            self._next, self.taken = self._next + offset, self.taken + offset  # so far it made sense
            raise self.fault(
                f"an entry of {meaning} " + (f"is {value}" if is_number else f"must stand here, found {word[:40]!r}")
            )
        return value

    def _read_piece(self) -> bool:
        """Go on to the next piece of text, cut where a blank is; False at the end of the file."""
        piece = self._stream.read(CHARACTERS_AT_ONCE)
        if not piece and not self._cut:
            return False
        self._lines_before += self._text.count("\n")
        text = self._cut + piece
        end = _last_blank(text) if piece else len(text)
        self._text, self._cut = text[:end], text[end:]
        self._words, self._next = self._text.split(), 0
        if len(self._cut) > LONGEST_WORD:
            raise self.guard.fault(
                f"line {self._lines_before + self._text.count(chr(10)) + 1}",
                f"a word of more than {LONGEST_WORD} characters is no number",
            )
        return True


def _last_blank(text: str) -> int:
    """Where the word that the end of a piece may have cut begins."""
    end = len(text)
    while end > 0 and len(text) - end <= LONGEST_WORD and not text[end - 1].isspace():
        end -= 1
    return end
