"""The report: one page that needs nothing from elsewhere, files beside it, and mistakes that cost one part only."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import Counter
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from made_experiments import MemoryStore, made_experiment, made_rows, make_tasks, raise_always
from made_rows import row_of

from perp.errors import MissingExtra
from perp.lab.publication import report as publication_report
from perp.lab.publication.evidence import gather
from perp.lab.publication.report import make_overview, publish, write_report
from perp.lab.publication.sections import make_section

pytest.importorskip("matplotlib")

EMPTY = {"meta", "img", "br"}


class Outline(HTMLParser):
    """Checks that tags are closed in order, and keeps ids and references."""

    def __init__(self):
        super().__init__()
        self.open, self.references, self.names = [], [], []

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.references += [value for name, value in attributes if name in ("src", "href", "xlink:href")]
        self.names += [value for name, value in attributes if name == "id"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def lost_rows():
    endings = ("TIME_OUT", "CRASHED", "FAILED", "ITERATION_LIMIT")
    return [row_of(task, status, "it was <late>") for task, status in zip(make_tasks(False), endings * 3, strict=True)]


EXPERIMENTS = (
    made_experiment(),
    made_experiment("made-second", "AMGS", tabulate=raise_always),
    made_experiment("made-third", "AMGS", draw=raise_always),
    made_experiment("made-bare", "OURS", draw=None, claims=()),
    made_experiment("made-absent", "SLIDES", make_tasks=lambda quick: []),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    told = []
    folder = tmp_path_factory.mktemp("run") / "deep" / "report"
    report = publish(gather(MemoryStore(made_rows()), EXPERIMENTS), folder, told=told.append)
    assert sorted(told) == sorted(experiment.id for experiment in EXPERIMENTS)
    return report


@pytest.fixture(scope="module")
def text(made):
    return made.page.read_text(encoding="utf-8")


def read_csv(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_page_is_well_formed_and_needs_nothing_from_elsewhere(text):
    outline = Outline()
    outline.feed(text)
    assert outline.open == []
    assert all(reference.startswith(("#", "data:image/png;base64,")) for reference in outline.references)
    assert not re.search(r"@import|url\((?!#)|<script|<link|<iframe", text)
    assert "prefers-color-scheme: dark" in text


def test_names_in_the_page_are_unique_and_every_link_leads_somewhere(text):
    outline = Outline()
    outline.feed(text)
    assert [name for name, count in Counter(outline.names).items() if count > 1] == []
    links = {reference[1:] for reference in outline.references if reference.startswith("#")}
    assert {"made-race", "NOTES", "beyond", "measured"} <= links
    assert links <= set(outline.names)


def test_a_section_has_verdicts_tables_pictures_and_the_command(text):
    section = re.search(r'<section id="made-race">.*?</section>', text, re.DOTALL)[0]
    assert "A race called made-race" in section
    assert '<span class="word holds">holds</span>' in section
    assert '<span class="word differs">differs</span>' in section
    assert '<span class="word cannot-hold">cannot hold</span>' in section
    assert "paper fast 25, slow 50; here 0.5" in section
    assert "They do not." in section
    assert "<code>fast</code> needs about half of the iterations of <code>slow</code> &amp; no more." in section
    assert "Iterations &lt;all&gt;" in section
    assert section.count("<svg") == 1
    assert "A line &amp; its <code>caption</code>." in section
    assert "perp lab run made-race<" in section
    assert "revision abcdef012345" in section
    assert "the load before a row was 0.5" in section


def test_the_overview_counts_verdicts_and_lists_what_is_not_run(text):
    overview = text[: text.index('<h2 id="NOTES"')]
    assert "4 of 5 experiments have rows, at full size; 1 is not run" in overview
    assert "3 hold, 3 differ and 3 cannot hold" in overview
    assert re.search(r"made-absent</a></td>.*?not run</td>", overview, re.DOTALL)
    assert "The 6 claims that differ or cannot hold, in one list" in overview


def test_a_part_that_raises_is_named_in_its_place_and_costs_nothing_else(made, text):
    assert [str(trouble) for trouble in made.troubles] == [
        "made-second: tables: LookupError: no <such> row",
        "made-third: pictures: LookupError: no <such> row",
    ]
    assert text.count("could not be made. <code>LookupError: no &lt;such&gt; row</code>") == 2
    assert "made-second-lines.png" in {path.name for path in (made.page.parent / "figures").iterdir()}


def test_figures_are_beside_the_page_as_png_and_svg(made):
    folder = made.page.parent / "figures"
    assert (folder / "made-race-lines.png").read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(folder / "made-race-lines.svg").getroot().tag.endswith("svg")


def test_rows_csv_has_each_row_once_with_all_its_experiments(made):
    lines = read_csv(made.page.parent / "rows.csv")
    assert len(lines) == len({line["key"] for line in lines}) == 12
    first = lines[0]
    assert first["experiments"] == "made-race made-second made-third made-bare"
    assert (first["method"], first["status"], first["size"], first["iterations"]) == ("psor", "CONVERGED", "full", "10")
    recipes = {line["instance"]: json.loads(line["recipe"]) for line in read_csv(made.page.parent / "instances.csv")}
    assert {recipes[line["instance"]]["gallery"] for line in lines} == {"fluid_like"}
    assert [str(recipes[line["instance"]]["seed"]) for line in lines] == [line["seed"] for line in lines]
    presets = {line["preset"]: line for line in read_csv(made.page.parent / "presets.csv")}
    assert presets[first["preset"]] == {
        "preset": first["preset"],
        "work": "solve",
        "method": "psor",
        "options": "",
        "stop": "",
        "arguments": "",
    }
    assert len(presets) == 2
    details = {line["key"]: line for line in read_csv(made.page.parent / "details.csv")}
    assert set(details) == {line["key"] for line in lines}
    (setting,) = read_csv(made.page.parent / "settings.csv")
    assert setting["setting"] == first["setting"] == "1"
    assert setting["revision"] == "abcdef012345"


def test_verdicts_csv_has_claim_limits_and_figure(made):
    lines = read_csv(made.page.parent / "verdicts.csv")
    assert [line["claim"] for line in lines] == ["half", "same", "proof"] * 3
    assert lines[0] | {"sentence": ""} == {
        "experiment": "made-race",
        "claim": "half",
        "source": "NOTES",
        "where": "Table 9",
        "says": "`fast` needs about half of the iterations of `slow` & no more.",
        "printed": '{"fast":25,"slow":50}',
        "measure": "ratio",
        "measured": "0.5",
        "unit": "",
        "holds_least": "0.35",
        "holds_most": "0.65",
        "instead_least": "",
        "instead_most": "",
        "outcome": "holds",
        "sentence": "",
        "seen": "",
        "size": "full",
        "rows": "12",
        "tasks": "12",
        "version": "9.9",
        "revision": "abcdef012345",
    }
    assert (lines[2]["instead_least"], lines[2]["outcome"]) == ("0.4", "cannot hold")


def test_all_problems_of_one_kind_make_a_profile(text):
    beyond = re.search(r'<section id="beyond">.*?</section>', text, re.DOTALL)[0]
    assert "fluid_like: 2 methods, 6 problems" in beyond
    assert "<svg" in beyond


def section_of(rows, folder):
    (evidence,) = gather(MemoryStore(rows), [made_experiment(draw=None)])
    section, troubles = make_section(evidence, folder)
    assert troubles == []
    return section, make_overview([evidence])


def test_rows_that_were_lost_are_counted_and_named(tmp_path):
    text, _ = section_of(lost_rows(), tmp_path)
    assert "How the rows ended: 9 of 12 gave no result" in text
    assert text.count("it was &lt;late&gt;") == 9
    assert "<dt>time out</dt>\n<dd>3</dd>" in text


def test_quick_and_partial_rows_are_said_to_be_so(tmp_path):
    section, overview = section_of(made_rows(quick=True), tmp_path)
    assert "These are the 4 rows of the quick run, which is much smaller." in section
    assert "perp lab run made-race --quick" in section
    assert "at the smaller quick size" in overview
    section, overview = section_of(made_rows()[:7], tmp_path)
    assert "5 of 12 tasks have no row yet." in section
    assert "full, in part" in overview


def test_void_comparisons_are_announced(tmp_path):
    section, overview = section_of(made_rows(iterations=0.0), tmp_path)
    assert "The comparison “race” is void: 100% of 12 rows had nothing to do" in section
    assert '<span class="word void">void</span>' in section
    assert "Of 3 claims 3 are void." in overview


def test_files_of_rows_that_could_not_be_read_are_named(tmp_path):
    evidence = gather(MemoryStore(made_rows(quick=True)), [made_experiment(draw=None)])
    damaged = [tmp_path / f"{k}.parquet" for k in range(7)]
    text = publish(evidence, tmp_path, told=print, skipped=damaged).page.read_text(encoding="utf-8")
    assert "7 files of rows are damaged or foreign and were left out: 0.parquet" in text
    assert "and 2 more" in text


def test_a_folder_without_rows_has_no_report(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.setattr(publication_report, "all_experiments", lambda: [made_experiment()])
    with pytest.raises(ValueError, match="has no rows of any experiment"):
        write_report(tmp_path, tmp_path / "report", told=print)
    assert not (tmp_path / "report").exists()


def test_without_matplotlib_nothing_is_begun(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match="pip install matplotlib"):
        publish([], tmp_path / "report", told=print)
    assert not (tmp_path / "report").exists()
