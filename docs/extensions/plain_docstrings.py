"""Docstrings are written to be read in a terminal: `names` in single quotes, formulas indented, |x| for a norm.

reStructuredText reads all of these differently; here they become what it would need. NumPy sections stay as they are.
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from sphinx.application import Sphinx

CODE = re.compile(r"(`+)([^`]+)\1")
SPECIAL = re.compile(r"(?<!\*)\*(?!\*)|[|_\\]")
BULLET = re.compile(r"^\s*[*-] ")
ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
UNDERLINE = re.compile(r"^\s*-{3,}\s*$")


def translate(lines: list[str]) -> list[str]:
    """The same text as reStructuredText."""
    end = next((k - 1 for k, line in enumerate(lines) if k and UNDERLINE.match(line)), len(lines))
    made: list[str] = []
    margin, after_formula = 0, False
    for is_blank, group in groupby(lines[:end], key=lambda line: not line.strip()):
        paragraph = list(group)
        indent = len(paragraph[0]) - len(paragraph[0].lstrip())
        if is_blank:
            made += paragraph
        elif indent >= margin + 4:
            made += [] if after_formula else [" " * margin + "::", ""]
            made += ["    " + line for line in paragraph]
            after_formula = True
        else:
            made += [escape(line) for line in paragraph]
            last = paragraph[-1]
            margin = len(last) - len(last.lstrip()) + (2 if BULLET.match(last) else 0)
            after_formula = False
    return made + [line if UNDERLINE.match(line) else escape(line) for line in lines[end:]]


def escape(line: str) -> str:
    """Code in double quotes, and a backslash before what is markup elsewhere."""
    bullet = BULLET.match(line)
    start = bullet.end() if bullet else 0
    made, at = [line[:start]], start
    for found in CODE.finditer(line, start):
        glue = "\\ " if line[found.end() : found.end() + 1].isalnum() else ""
        made += [SPECIAL.sub(r"\\\g<0>", line[at : found.start()]), f"``{found[2]}``", glue]
        at = found.end()
    return "".join(made) + SPECIAL.sub(r"\\\g<0>", line[at:])


def on_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = translate(lines)


def on_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Names of types, which Sphinx leaves wrapped where they stand inside other types."""
    plain = [text and ALIAS.sub(r"\1", text) for text in (signature, returns)]
    return plain[0], plain[1]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", on_docstring, priority=100)  # before napoleon
    app.connect("autodoc-process-signature", on_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
