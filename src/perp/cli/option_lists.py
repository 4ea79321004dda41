"""Options of a kind of problem or of a scene, as the lists of `perp generate` and `perp scenes` show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perp.gallery import Option


def describe_options(options: Mapping[str, Option]) -> dict[str, Any]:
    """For JSON."""
    return {
        option.name: {"default": option.default, "choices": option.choices, "doc": option.doc}
        for option in options.values()
    }


def tell_options(options: Mapping[str, Option]) -> str:
    """A line each: name and default, what it means, and the choices."""
    settings = [f"{option.name}={option.default}" for option in options.values()]
    width = max(map(len, settings), default=0)
    lines = []
    for setting, option in zip(settings, options.values(), strict=True):
        choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
        lines.append(f"{setting:<{width}}  {option.doc}{choices}")
    return "\n".join(lines) or "none"
