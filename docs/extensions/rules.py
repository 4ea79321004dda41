"""`{rules}`: the rules of "auto" as a table, read from where they stand."""

from __future__ import annotations

from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from perp.solvers.auto.rules import RULES, Rule, Step


def describe(step: Step) -> str:
    """The method with its options, and up to how many rows it is asked."""
    link = f"[`{step.method.name}`](#method-{step.method.name})"
    return link if step.most_rows is None else f"{link} (to {step.most_rows} rows)"


def as_row(rule: Rule) -> str:
    chain = ", ".join(describe(step) for step in rule.chain)
    return f"| {rule.name} | {rule.why} | {chain} | {rule.measured} |"


class Rules(SphinxDirective):
    """The first rule that applies decides, so their order matters and is kept."""

    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        head = "| rule | because | methods, in this order | measured on |\n|---|---|---|---|\n"
        return self.parse_text_to_nodes(head + "\n".join(map(as_row, RULES)) + "\n")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("rules", Rules)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
