"""What the lab's page adds to the style sheet."""

from __future__ import annotations

from perp.lab.claims.verdict import Outcome

COLOURS = {
    Outcome.HOLDS: "--series-3",
    Outcome.DIFFERS: "--series-2",
    Outcome.CANNOT_HOLD: "--series-4",
    Outcome.VOID: "--muted",
    Outcome.NOT_MEASURED: "--muted",
}


def word_class(outcome: Outcome) -> str:
    return outcome.name.lower().replace("_", "-")


RULES = """
h2.source { font-size: 1.6rem; margin-top: 4.5rem; border-top: 2px solid var(--muted); }
section > h3 { font-size: 1.25rem; line-height: 1.3; margin: 3rem 0 .2rem; padding-top: 1rem;
  border-top: 1px solid var(--line); }
h2.source + p + section > h3, h2.source + section > h3 { border-top: 0; margin-top: 1rem; }
h4 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
h4 + .scroll { margin-top: .2rem; }
section th { white-space: normal; min-width: 3.5rem; max-width: 12rem; vertical-align: bottom; }
td.here, th.here { background: var(--tint); }
td.here, th.here { padding-left: .6rem; }
td.prose, th.prose { white-space: normal; min-width: 13rem; }
details dl { grid-template-columns: max-content 1fr; }
.plot img { display: block; width: 100%; background: #fffffe; }
.plot svg { min-width: 0; }
.contents { columns: 2 22rem; column-gap: 2.5rem; list-style: none; padding: 0; max-width: none; font-size: .92rem; }
.contents li { break-inside: avoid; margin: .12rem 0; }
.contents li.of { font-weight: 600; margin-top: .7rem; }
.verdicts { list-style: none; padding: 0; max-width: 54rem; }
.verdicts li { display: grid; grid-template-columns: 8.5rem 1fr; gap: .2rem 1rem; margin: .7rem 0; }
.verdicts p { margin: 0 0 .2rem; max-width: none; }
.word { font-weight: 600; white-space: nowrap; }
.word::before { display: inline-block; width: 1.2em; }
.word.holds::before { content: "\\25cf"; }
.word.differs::before { content: "\\2260"; }
.word.cannot-hold::before { content: "\\00d7"; }
.word.void::before, .word.not-measured::before { content: "\\25cb"; }
.notice { border-left: 3px solid var(--series-5); padding-left: .8rem; }
.trouble { border-left: 3px solid var(--series-2); padding-left: .8rem; }
@media (max-width: 40rem) { .verdicts li { grid-template-columns: 1fr; } .plot svg { min-width: 34rem; } }
""" + "".join(f".word.{word_class(outcome)} {{ color: var({colour}); }}\n" for outcome, colour in COLOURS.items())
