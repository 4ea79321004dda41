"""What a generator hands over, and the one list of generators: `@catalogued` beside a generator puts it into the list;
`make` and the command line read it.

A generator's signature is its documentation. The default n and the options come from its parameters, what they mean and
where they may lie from `Annotated[type, About(...)]`, the description from the first line of its docstring.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, ParamSpec

from perp.errors import suggest
from perp.gallery.options import SEED, Option, read_options
from perp.problems.inputs import Vector
from perp.problems.problem import Problem

Expected = Literal["solvable", "infeasible", "unsolvable", "several", "infinitely_many"]
"""What must come out.

`solvable` has a solution (nothing is said of others), `several` has finitely many but more than one, `infinitely_many`
a continuum. `infeasible` has no x >= 0 with y >= 0; `unsolvable` has such x, but none that is complementary.
"""

P = ParamSpec("P")
_CATALOGUE: dict[str, Kind] = {}


@dataclass(frozen=True, eq=False)
class Example:
    """A problem, its known solution `x` (or None), and the recipe (name, seed, options) that makes it again.

    `solutions` lists every solution where there are finitely many and they are known in closed form; for a continuum it
    lists the corners. `options` holds every option of the generator, given or not. Where the problem is a continuous
    one on a grid and the solution of that one is known, `continuous` has it at the points of the grid: x tends to it as
    the grid is refined.
    """

    problem: Problem
    x: Vector | None = None
    expected: Expected = "solvable"
    solutions: tuple[Vector, ...] = ()
    note: str = ""
    name: str = ""
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    continuous: Vector | None = None

    @property
    def is_solvable(self) -> bool:
        """Whether some x solves the problem."""
        return self.expected not in ("infeasible", "unsolvable")

    def __repr__(self) -> str:
        return f"<Example {self.name!r}, seed {self.seed}, {self.expected}: {self.problem!r}>"


@dataclass(frozen=True)
class Kind:
    """A generator in the catalogue. `size` says what becomes of n; None where n cannot be chosen."""

    name: str
    group: str
    description: str
    n: int
    size: Option | None
    options: Mapping[str, Option]
    seeded: bool
    build: Callable[..., Example]


def catalogued(n: int | None = None) -> Callable[[Callable[P, Example]], Callable[P, Example]]:
    """Register a generator under its own name; `n` is the number of rows where the generator has no such parameter.

    The registered function checks its arguments and signs the example with name, seed and options.
    """

    def register(build: Callable[P, Example]) -> Callable[P, Example]:
        signature = inspect.signature(build)
        options = read_options(build, "problem")
        size = options.pop("n", None)
        checks = [
            *options.values(),
            *([size] if size else []),
            *([SEED] if "seed" in signature.parameters else []),
        ]
        name = build.__name__

        @functools.wraps(build)
        def sign(*args: P.args, **kwargs: P.kwargs) -> Example:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            for option in checks:
                option.check(bound.arguments[option.name])
            example = build(*bound.args, **bound.kwargs)
            chosen = {key: bound.arguments[key] for key in options}
            return replace(example, name=name, seed=bound.arguments.get("seed", 0), options=chosen)

        description = inspect.getdoc(build) or ""
        rows = n if size is None else size.default
        assert rows is not None, f"{name} needs a parameter n or a number of rows"
        _CATALOGUE[name] = Kind(
            name=name,
            group=build.__module__.rpartition(".")[2],
            description=description.partition("\n")[0].rstrip("."),
            n=rows,
            size=size,
            options=options,
            seeded="seed" in signature.parameters,
            build=sign,
        )
        return sign

    return register


def kinds() -> dict[str, Kind]:
    """Every kind of problem that `make` can make, by name."""
    return dict(_CATALOGUE)


def make(kind: str, *, n: int | None = None, seed: int = 0, **options: Any) -> Example:
    """Make an example by the name of its generator; the same arguments give the same numbers.

    `n` is the number of rows wanted (None: the default of the kind); kinds that live on a grid or on contacts round it,
    as their `size` says. Kinds without random numbers ignore `seed`.
    """
    if kind not in _CATALOGUE:
        raise ValueError(f"kind {kind!r} is unknown{suggest(str(kind), _CATALOGUE)}")
    entry = _CATALOGUE[kind]
    for name in options:
        if name not in entry.options:
            known = suggest(name, entry.options) if entry.options else "; it has none"
            raise TypeError(f"{kind} has no option {name!r}{known}")
    SEED.check(seed)
    if entry.size is None and n not in (None, entry.n):
        raise ValueError(f"n is {n}; {kind} always has n = {entry.n}")
    if entry.size is not None and n is not None:
        options["n"] = n
    if entry.seeded:
        options["seed"] = seed
    return entry.build(**options)
