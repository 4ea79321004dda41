"""Every kind of the gallery, every option drawn from its documented range."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.campaign_matrices import Draw
from benchmarks.campaign_sample import Sample, draw_size
from perp import gallery
from perp.gallery.options import Option

SHARES = (("active", "degenerate"), ("free", "fixed", "one_sided"))
"""Options that must not add up to more than 1."""


TRIES = 100


def _powers(usual: tuple[float, float], whole: tuple[float, float] | None = None) -> Callable[[Draw], float]:
    """Evenly spread in the logarithm: over the usual range, and three times in ten over the whole documented one."""

    def draw(rng: Draw) -> float:
        least, most = whole if whole is not None and rng.random() < 0.3 else usual
        return float(10.0 ** rng.uniform(np.log10(least), np.log10(most)))

    return draw


def _friction(rng: Draw) -> float:
    return float(rng.choice([0.0, 0.5, 1e6, 10.0 ** rng.uniform(-3.0, 1.0)], p=[0.15, 0.2, 0.05, 0.6]))


NUMBERS: dict[str, Callable[[Draw], Any]] = {
    "friction": _friction,
    "margin": _powers((0.1, 100.0), (1e-3, 1e6)),
    "excess": lambda rng: float(rng.choice([-1e-6, 1e-6, 0.0, rng.uniform(-0.3, 0.3)])),
    "slope": lambda rng: None if rng.random() < 0.7 else float(rng.uniform(0.0, 1.5)),
    "dt": _powers((1e-4, 0.1), (1e-9, 1e3)),
    "mass_ratio": _powers((1e-3, 1e3), (1e-8, 1e8)),
    "finger_mass": _powers((1e-1, 1e2), (1e-3, 1e6)),
    "compliance": lambda rng: float(rng.choice([0.0, 10.0 ** rng.uniform(-12.0, 2.0)])),
    "condition": lambda rng: None if rng.random() < 0.3 else float(10.0 ** rng.uniform(0.0, 16.0)),
    "skew": _powers((1e-2, 1e2), (1e-6, 1e6)),
    "strength": _powers((1e-2, 1e2), (1e-6, 1e6)),
    "spin": lambda rng: float(rng.choice([0.0, rng.uniform(-10.0, 10.0), rng.uniform(-1e3, 1e3)], p=[0.4, 0.5, 0.1])),
    "slip": lambda rng: float(rng.choice([0.0, rng.uniform(-5.0, 5.0), rng.uniform(-1e6, 1e6)], p=[0.1, 0.8, 0.1])),
    "speed": lambda rng: float(rng.choice([0.0, rng.uniform(0.0, 5.0), rng.uniform(0.0, 1e6)], p=[0.2, 0.7, 0.1])),
    "a": _powers((0.1, 100.0), (1e-9, 1e9)),
    "bodies": lambda rng: None if rng.random() < 0.5 else int(rng.integers(2, 12)),
    "braces": lambda rng: int(rng.integers(0, 7)),
    "rank": lambda rng: int(rng.integers(0, 30)),
}
"""Where an even spread over the range would miss what matters."""

RATIO_FROM_ONE = _powers((1.0, 1e3), (1.0, 1e8))


def draw_gallery(kind: gallery.Kind, rng: Draw, most: int) -> Sample:
    """Options are drawn again where the kind refuses them (a block that would topple), or makes too many rows."""
    for _ in range(TRIES):
        n, seed, options = _draw_arguments(kind, rng, most)
        try:
            example = gallery.make(kind.name, n=n, seed=seed, **options)
        except ValueError:
            continue
        if example.problem.n <= most:
            told = ", ".join(f"{name}={_tell(value)}" for name, value in {"n": n, "seed": seed, **options}.items())
            return Sample.of(example, told)
    raise LookupError(f"{kind.name}: no options in {TRIES} draws make a problem of at most {most} rows")


def _draw_arguments(kind: gallery.Kind, rng: Draw, most: int) -> tuple[int | None, int, dict[str, Any]]:
    options = {name: _draw_option(kind, option, rng) for name, option in kind.options.items()}
    for group in SHARES:
        _share_out(options, group)
    n = None
    if kind.size is not None:
        n = int(np.clip(draw_size(rng, most), kind.size.at_least, kind.size.at_most))
    if "rank" in options:
        n = max(n or 0, 2)
        options["rank"] = min(options["rank"], n - 1)
    return n, int(rng.integers(2**31)) if kind.seeded else 0, options


def _draw_option(kind: gallery.Kind, option: Option, rng: Draw) -> Any:
    if option.choices:
        return option.choices[int(rng.integers(len(option.choices)))]
    if option.type is int and option.at_most - option.at_least <= 10:
        return int(rng.integers(int(option.at_least), int(option.at_most) + 1))
    if option.name == "mass_ratio" and option.at_least == 1.0:
        return RATIO_FROM_ONE(rng)
    if option.name in NUMBERS:
        drawn = NUMBERS[option.name](rng)
        return None if drawn is None else option.type(np.clip(drawn, option.at_least, option.at_most))
    if not np.isfinite([option.at_least, option.at_most]).all():
        raise LookupError(f"{kind.name}: how to draw {option.name} is not told in NUMBERS")
    inside = rng.uniform(option.at_least, option.at_most)
    return float(rng.choice([option.at_least, option.at_most, inside], p=[0.1, 0.1, 0.8]))


def _share_out(options: dict[str, Any], group: tuple[str, ...]) -> None:
    there = [name for name in group if name in options]
    total = sum(options[name] for name in there)
    if total > 1.0:
        for name in there:
            options[name] /= total


def _tell(value: Any) -> str:
    return f"{value:.17g}" if isinstance(value, float) else repr(value)
