"""Pieces of HTML. Whatever is given as text is escaped; `Markup` is text that is HTML already."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from perp.lab.style import style_sheet


class Markup(str):
    """A string that is HTML already and passes unchanged."""


def text(value: object) -> Markup:
    """The value, escaped unless it is markup."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def prose(docstring: str) -> Markup:
    """A sentence of a docstring: what stands between backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", text(docstring)))


def join(*pieces: object) -> Markup:
    return Markup("\n".join(text(piece) for piece in pieces))


def element(tag: str, *content: object, **attributes: str) -> Markup:
    """`<tag class="..">content</tag>`; write `class_` for class."""
    words = "".join(f' {name.rstrip("_")}="{escape(value)}"' for name, value in attributes.items())
    return Markup(f"<{tag}{words}>{''.join(text(piece) for piece in content)}</{tag}>")


@dataclass(frozen=True)
class Column:
    """The heading of a column, and how its cells are set: left, `number` (right) or `prose` (may wrap)."""

    heading: str
    kind: str = ""


def table(columns: Sequence[Column], rows: Sequence[Sequence[object]], *, tall: bool = False) -> Markup:
    """A `tall` table scrolls by itself, under headings that stay in sight."""
    head = join(*(element("th", column.heading, class_=column.kind) for column in columns))
    body = [
        element("tr", *(element("td", cell, class_=column.kind) for column, cell in zip(columns, row, strict=True)))
        for row in rows
    ]
    whole = element("table", element("thead", element("tr", head)), element("tbody", join(*body)))
    return element("div", whole, class_="scroll tall" if tall else "scroll")


def definitions(facts: Mapping[str, object], *, wide: bool = False) -> Markup:
    pairs = (join(element("dt", name), element("dd", value)) for name, value in facts.items())
    return element("dl", join(*pairs), class_="wide" if wide else "")


def details(summary: object, *content: object) -> Markup:
    """What a reader may open: the summary is what stands there before."""
    return element("details", element("summary", summary), join(*content))


def page(title: str, body: Markup, rules: str = "") -> str:
    """A whole document that needs nothing from elsewhere; `rules` are added to the style sheet."""
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style_sheet()}{rules}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )
