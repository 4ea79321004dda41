"""Blocks of Python on the pages, and what is shown below them as their output.

A fenced block ```text directly after a block ```python is what that prints; `...` stands for anything. On a page under
docs/tutorials blocks share one namespace, as in a notebook; on the others each stands by itself.

    python docs/extensions/shown_output.py docs/tutorials/*.md      # run the pages, and write what they print into them
"""

from __future__ import annotations

import io
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n(?P<below>```text\n(?P<shown>.*?)```\n))?", re.DOTALL)

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)

ROUNDING = 1e-8
"""Numbers below this are rounding errors, of which only the size is the same everywhere: none is told from another."""

COUNT_SHARE = 0.05
"""By how much a number of iterations may differ from machine to machine."""


class Run(NamedTuple):
    """One block that was run: what it printed, and what the page shows (None where it shows nothing)."""

    printed: str
    shown: str | None


def run_page(page: Path) -> Iterator[Run]:
    """Run the blocks of a page in order, in the current folder."""
    shared: dict[str, Any] | None = {} if page.parent.name == "tutorials" else None
    for found in BLOCK.finditer(page.read_text()):
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile(found["code"], page.name, "exec"), {} if shared is None else shared)
        yield Run(out.getvalue(), found["shown"])


def is_as_shown(printed: str, shown: str) -> bool:
    """Whether the words are the same and the numbers agree, to a unit in the last digit shown; spaces do not count."""
    words, told = ("".join(NUMBER.sub("#", text).split()) for text in (printed, shown))
    if not re.fullmatch(".*".join(map(re.escape, told.split("..."))), words):
        return False
    ours, theirs = NUMBER.findall(printed), NUMBER.findall(shown)
    return "..." in shown or all(map(_agree, ours, theirs))


def _agree(printed: str, shown: str) -> bool:
    got, told = float(printed), float(shown)
    if max(abs(got), abs(told)) < ROUNDING:
        return True
    if re.fullmatch(r"[-+]?\d+", shown):
        return abs(got - told) <= COUNT_SHARE * abs(told)
    mantissa, _, exponent = shown.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return abs(got - told) <= 1.001 * 10.0 ** (int(exponent or 0) - decimals)


def write_outputs(page: Path) -> None:
    """Put what the blocks print now into the page, where it shows anything."""
    page, text = page.resolve(), page.read_text()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        runs = list(run_page(page))
    made, at = [], 0
    for found, run in zip(BLOCK.finditer(text), runs, strict=True):
        if run.shown is not None and not is_as_shown(run.printed, run.shown):
            made += [text[at : found.start("shown")], run.printed]
            at = found.end("shown")
    page.write_text("".join(made) + text[at:])


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "agg")
    for name in sys.argv[1:]:
        write_outputs(Path(name))
