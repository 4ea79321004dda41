"""TeX becomes MathML while the pages are built, so that a browser needs neither a script nor a network to show it."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

LOG = logging.getLogger(__name__)

UNKNOWN = re.compile(r"<m[ion]>(\\[A-Za-z]+|&amp;|&)</m[ion]>")
"""What the converter leaves where it does not know a command, or a & outside of a table."""

BARS = re.compile(r'<mo stretchy="false">(&#x0007C;|&#x02016;)</mo>')
NAMES = re.compile(r"<mo>([a-z]{2,})</mo>")
"""Around bars, and between the name of a function and its bracket, the converter leaves the space of a sum."""

RELATIONS = {"&#x027C2;": "\N{PERPENDICULAR}", "&#x029F5;": "\N{REVERSE SOLIDUS OPERATOR}"}
"""Signs that the converter takes for letters: they want space around them."""


def to_mathml(tex: str, display: str) -> str:
    """`display` is "inline" or "block"."""
    known = tex.replace("{aligned}", "{split}")
    markup: str = convert(known, display=display)
    unknown = UNKNOWN.search(markup)
    if unknown:
        raise ValueError(f"{unknown[1]} is not understood")
    markup = BARS.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', markup)
    markup = NAMES.sub(r'<mo lspace="0.17em" rspace="0">\1</mo>', markup)
    for letter, sign in RELATIONS.items():
        markup = markup.replace(f"<mi>{letter}</mi>", f"<mo>{sign}</mo>")
    return markup


def visit_inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(_convert(node, "inline"))
    raise nodes.SkipNode


def visit_block(writer: Any, node: nodes.math_block) -> None:
    identity = f' id="{node["ids"][0]}"' if node["ids"] else ""
    writer.body.append(f'<div class="formula"{identity}>{_convert(node, "block")}')
    if node["number"]:
        writer.body.append(f'<span class="eqno">({get_node_equation_number(writer, node)})</span>')
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def _convert(node: nodes.Element, display: str) -> str:
    tex = node.astext()
    try:
        return to_mathml(tex, display)
    except Exception as reason:  # noqa: BLE001 (the converter has many ways to fail; each must stop the build)
        LOG.warning("formula %r: %s", tex, reason, location=node)
        return nodes.literal(tex, tex).astext()


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
