"""`--option name=value`: words from a command line, by name."""

from __future__ import annotations

from collections.abc import Sequence

from perp.cli.errors import CommandError


def split_assignments(words: Sequence[str]) -> dict[str, str]:
    """`["relaxation=1.2"]` as `{"relaxation": "1.2"}`."""
    pairs: dict[str, str] = {}
    for word in words:
        name, sign, value = word.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name:
            raise CommandError(f"--option {word!r}: name=value is needed")
        if name in pairs:
            raise CommandError(f"--option {name} is given twice")
        pairs[name] = value.strip()
    return pairs
