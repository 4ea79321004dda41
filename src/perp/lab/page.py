"""Pages: pieces of HTML, and the style sheet, light and dark.

Whatever is given as text is escaped; `Markup` is text that is HTML already.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite

from perp.lab.palette import SHADES


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


def duration(seconds: float) -> str:
    """Three digits and the unit that suits them."""
    if not isfinite(seconds):
        return "–"
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def page(title: str, body: Markup, rules: str = "") -> str:
    """A whole document that needs nothing from elsewhere; `rules` are added to the style sheet."""
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style_sheet()}{rules}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )


def style_sheet() -> str:
    """The colours of the palette as CSS variables, and the rules that use them."""
    light = " ".join(f"{shade.variable}: {shade.light};" for shade in SHADES)
    dark = " ".join(f"{shade.variable}: {shade.dark};" for shade in SHADES)
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{RULES}"
    )


RULES = """
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .6rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; line-height: 1.25; margin: 3.2rem 0 .5rem; padding-top: 1.2rem;
  border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.8rem 0 .5rem; }
p, ul { max-width: 46rem; margin: .6rem 0; }
li { margin: .25rem 0; }
a { color: var(--series-1); text-underline-offset: .15em; }
.lead { font-size: 1.1rem; }
.finding { border-left: 3px solid var(--series-1); padding-left: .8rem; }
.quiet { color: var(--muted); font-size: .9rem; }
code, pre { font: .86em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre { background: var(--tint); padding: .7rem .9rem; overflow-x: auto; border-radius: 4px; margin: .6rem 0; }
.scroll { overflow-x: auto; margin: .8rem 0; }
.scroll.tall { max-height: 32rem; overflow-y: auto; border-bottom: 1px solid var(--line); }
.scroll.tall th { position: sticky; top: 0; background: var(--paper); }
details { margin: .6rem 0; }
summary { cursor: pointer; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: 600; color: var(--muted); border-bottom: 1px solid var(--muted); }
th, td { padding: .34rem .9rem .34rem 0; vertical-align: top; white-space: nowrap; }
td { border-bottom: 1px solid var(--line); }
th.number, td.number { text-align: right; }
td.prose { white-space: normal; min-width: 13rem; }
.status { white-space: nowrap; }
.status::before { content: "\\00d7"; display: inline-block; width: 1.1em; color: var(--series-2); }
.status.success::before { content: "\\25cf"; color: var(--series-3); }
.about { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; align-items: flex-start; }
.about figure { margin: .4rem 0 0; }
.about img { width: 200px; height: 200px; display: block; border: 1px solid var(--line);
  image-rendering: pixelated; }
figcaption { color: var(--muted); font-size: .85rem; margin-top: .35rem; max-width: 46rem; }
dl { display: grid; grid-template-columns: max-content max-content; gap: .1rem 1.2rem; margin: .4rem 0 0;
  font-size: .92rem; font-variant-numeric: tabular-nums; align-content: start; }
dl.wide { grid-template-columns: repeat(2, max-content max-content); column-gap: 1.2rem; }
dt { color: var(--muted); }
dd { margin: 0 1.4rem 0 0; }
.plot { margin: 1rem 0 0; overflow-x: auto; }
.plot svg { display: block; width: 100%; min-width: 40rem; height: auto; }
@media print { h2 { break-after: avoid; } .plot, table { break-inside: avoid; } }
"""
