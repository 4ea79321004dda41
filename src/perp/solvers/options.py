"""Options of methods: what they mean, what they share, how they are checked and read from words.

What an option of a method means, told beside its field: a sentence, the words to choose from, the range of a number.

    relaxation: float = option(1.4, About("what each change is multiplied by", above=0.0, below=2.0))

Forms and `perp methods` read it with `option_docs`. The method itself checks its options when it is made; a test holds
the two against each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from perp.errors import suggest
from perp.linalg.free_systems import SHIFTED_SPACES, SPACES
from perp.linalg.orderings import METHODS as ORDERINGS
from perp.linalg.preconditioners import BY_NAME
from perp.problems.problem import Problem

if TYPE_CHECKING:
    from perp.solvers.method import Method


MOST_DENSE_ROWS = 20_000
"""A full matrix of so many rows takes 3.2 GB."""

T = TypeVar("T")

KEY = "perp.about"
"""Where the metadata of a field keep it."""

PRECONDITIONERS = tuple(BY_NAME)
"""Words for recipes with their default options."""

ELIMINATION_ORDERS = (*ORDERINGS, "best")

RELAXATION_NAMES = ("over_relaxation", "overrelaxation", "relaxation_factor", "SOR factor")
"""What others call a factor of over-relaxation, beside omega and w."""

SWITCH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def require_choices(options: object, **choices: Sequence[str]) -> None:
    """`require_choices(self, order=ORDERS)`: raise ValueError where an attribute is none of the words for it."""
    for name, words in choices.items():
        value = getattr(options, name)
        if value not in words:
            raise ValueError(f"{name} is {value!r}{suggest(str(value), words)}")


def space_objection(problem: Problem, name: str, space: str) -> str | None:
    """Why free rows of this problem cannot be solved for in that space, the value of the option `name`; or None."""
    if space == "dense" and problem.n > MOST_DENSE_ROWS:
        return f"{name}='dense' holds A as a full matrix, and {problem.n} rows are more than {MOST_DENSE_ROWS}"
    if space == "body" and problem.A.factored is None:
        return f"{name}='body' needs a factored A, and this one is {problem.A.form}"
    return None


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
    synonyms: tuple[str, ...] = ()
    """Names of the option in papers and other libraries."""

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


SPACE = About(
    "how free rows are solved for: with a dense or a sparse matrix, in the velocities of the bodies where A is factored"
    " (body), with the eliminated unknowns put back (augmented), or the cheapest of these (auto)",
    choices=SPACES,
)

SHIFTED_SPACE = About(
    "how the equations are solved: with a dense or a sparse matrix, in the velocities of the bodies where A is factored"
    " (body), with the eliminated unknowns put back (augmented), by groups of rows that low rank couples (blocks), or"
    " the cheapest of these (auto)",
    choices=SHIFTED_SPACES,
)

ORDERING = About(
    "in which order a sparse factor eliminates rows, so that it stays sparse; best is amd or nested_dissection,"
    " whichever is predicted to cost less",
    choices=ELIMINATION_ORDERS,
    synonyms=("permutation", "fill_reducing_ordering"),
)

PRECONDITIONER = About(
    "that of the iterative linear solver, where `linear` names one", PRECONDITIONERS, synonyms=("precond", "pc")
)

INNER_TOLERANCE = About(
    "share of its right-hand side that an iterative linear solve may leave",
    above=0.0,
    synonyms=("inner_tol", "cg_tolerance"),
)

INNER_ITERATIONS = About(
    "most iterations of an iterative linear solve", at_least=1, synonyms=("inner_max_iterations", "cg_iterations")
)

FORCING = About("share of the residual that an iterative linear solve may leave", above=0.0, below=1.0)

INNER_LIMIT = About(
    "most iterations of an iterative linear solve; None: twice the rows", at_least=1, synonyms=("inner_max_iterations",)
)

GMRES_RESTART = About("iterations after which GMRES begins anew", at_least=1, synonyms=("gmres_restart",))

SOFTENING = About(
    "share of A_ii that is added to a friction row each time that it pivoted too often, until all is settled",
    at_least=0.0,
)

PIVOT_LIMIT = About("pivots of a friction row before `regularisation` is added to it first", at_least=1)


def read_words(method: type[Method], words: Mapping[str, str]) -> dict[str, Any]:
    """`{"relaxation": "1.2"}` as `{"relaxation": 1.2}`; ValueError where a word is not of its option's kind.

    Words for options that the method does not have stay words: `make_method` refuses them by name.
    """
    hints, known = get_type_hints(method), {each.name for each in fields(method)}
    return {name: read_word(name, text, hints[name]) if name in known else text for name, text in words.items()}


def read_word(name: str, text: str, hint: Any) -> Any:
    """The value of type `hint` that `text` means.

    A number, several with commas between them, a word, yes or no, `none`, or one of a few choices. A word is what is
    nothing else.
    """
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if NoneType in kinds and text.lower() == "none":
        return None
    for kind in sorted(kinds, key=lambda kind: kind is str):
        if get_origin(kind) is Literal:
            for choice in get_args(kind):
                if str(choice) == text:
                    return choice
        elif kind is bool:
            if text.lower() in SWITCH:
                return SWITCH[text.lower()]
        elif kind in (int, float):
            try:
                return kind(text)
            except ValueError:
                continue
        elif kind == tuple[float, ...]:
            try:
                return tuple(float(part) for part in text.split(","))
            except ValueError:
                continue
        elif kind is str:
            return text
    raise ValueError(f"{name}: {text!r} is not of the kind {_say(hint)}")


def _say(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
