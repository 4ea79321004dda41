"""`{roster}`: what the methods of a page say of themselves; `{synonyms}`: their names elsewhere, all in one table.

Both are read from the one list of methods.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from perp.solvers.method import Method
from perp.solvers.roster import BY_NAME, METHODS


def describe(method: type[Method]) -> str:
    """A section in Markdown: a table of facts, then the class with its docstring."""
    options = [f"`{field.name}={field.default!r}`" for field in fields(method)]
    facts = {
        "also known as": ", ".join(method.synonyms) or "–",
        "accepts": " ".join(f"`{kind}`" for kind in sorted(method.accepts)),
        "needs of A": " ".join(f"`{ability}`" for ability in sorted(method.needs)),
        "A must be": method.requires,
        "options": " ".join(options) or "none",
        "reference": method.reference,
    }
    rows = "\n".join(f"| {name} | {fact} |" for name, fact in facts.items())
    return (
        f"(method-{method.name})=\n### `{method.name}`\n\n"
        f":::{{table}}\n:class: facts\n\n| | |\n|---|---|\n{rows}\n:::\n\n"
        f"```{{eval-rst}}\n.. autoclass:: perp.{method.__name__}\n```\n"
    )


class Roster(SphinxDirective):
    """`{roster} pgs psor`: a section for each of these methods, in this order."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        names = self.arguments[0].split()
        unknown = [name for name in names if name not in BY_NAME]
        if unknown:
            raise self.error(f"{unknown} are no methods")
        text = "\n".join(describe(BY_NAME[name]) for name in names)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def list_synonyms() -> str:
    """A table of all synonyms, in the order of the alphabet, with links to the methods."""
    methods: dict[str, list[str]] = {}
    for method in METHODS:
        for word in method.synonyms:
            methods.setdefault(word, []).append(f"[`{method.name}`](#method-{method.name})")
    rows = (f"| {word} | {', '.join(methods[word])} |" for word in sorted(methods, key=str.casefold))
    return "| elsewhere | here |\n|---|---|\n" + "\n".join(rows) + "\n"


class Synonyms(SphinxDirective):
    """The table of `list_synonyms`."""

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        return self.parse_text_to_nodes(list_synonyms())


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("roster", Roster)
    app.add_directive("synonyms", Synonyms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
