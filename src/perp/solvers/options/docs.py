"""What an option of a method means, told beside its field: a sentence, the words to choose from, the range of a number.

    relaxation: float = option(1.4, About("what each change is multiplied by", above=0.0, below=2.0))

Forms and `perp methods` read it with `option_docs`. The method itself checks its options when it is made; a test holds
the two against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from perp.solvers.method import Method

T = TypeVar("T")

KEY = "perp.about"
"""Where the metadata of a field keep it."""


@dataclass(frozen=True)
class About:
    """What an option means. `text` is no sentence of its own: it stands behind the name, as in a list."""

    text: str
    choices: tuple[str, ...] | Callable[[], tuple[str, ...]] = ()
    """Empty where any value of the type will do; a function where the words are not known yet when a method is read,
    as the names of other methods."""
    at_least: float = -math.inf
    at_most: float = math.inf
    above: float = -math.inf
    """Numbers must be larger than this; `at_least` includes its end."""
    below: float = math.inf

    @property
    def words(self) -> tuple[str, ...]:
        """The choices."""
        return self.choices() if callable(self.choices) else self.choices

    @property
    def range(self) -> str:
        """`above 0, at most 2`; empty where every number will do."""
        ends = {"at least": self.at_least, "above": self.above, "at most": self.at_most, "below": self.below}
        return ", ".join(f"{words} {end:g}" for words, end in ends.items() if math.isfinite(end))

    @property
    def sentence(self) -> str:
        """The text with the range, where there is one."""
        return f"{self.text} ({self.range})" if self.range else self.text


def option(default: T, about: About) -> T:
    """A field with that default, and what it means."""
    made: Any = field(default=default, metadata=metadata(about))
    return made  # type: ignore[no-any-return]


def metadata(about: About) -> Mapping[str, About]:
    """For a `dataclasses.field` that has more to say than its default."""
    return {KEY: about}


def option_docs(method: type[Method]) -> dict[str, About]:
    """What each option of a method means, by name, in the order of the fields; those that do not tell are left out."""
    return {each.name: each.metadata[KEY] for each in fields(method) if KEY in each.metadata}
