"""Pictures of the viewer's page: `python -m benchmarks.viewer_pictures DIR`. Two of them are in the documentation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.browsing import Visit, missing, open_browser, serve

PIXELS = (1440, 900)

REST = 1_500
"""After the last change the page draws once more, sharply [ms]."""


@dataclass(frozen=True)
class Picture:
    """A scene, after so many steps, in a page that somebody has used."""

    name: str
    words: tuple[str, ...]
    steps: int
    dark: bool = False
    use: Callable[[Visit], None] = lambda visit: None


def compare(visit: Visit) -> None:
    """Two methods on the same state, with the curves of both in sight."""
    visit.page.keyboard.press("c")
    visit.page.wait_for_selector("[data-testid=pane-1]")
    for part in ("method-0", "selected"):
        visit.page.click(f"details[data-part={part}] > summary")
    for _ in range(12):
        visit.click("step")
        visit.page.wait_for_timeout(REST / 3)


def inspect(visit: Visit) -> None:
    """The contact that is worst off."""
    visit.page.keyboard.press(".")


def by_pressure(visit: Visit) -> None:
    visit.page.select_option("[data-action=liquid]", "pressure")


PICTURES = (
    Picture("viewer_tower", ("tower", "--logs", "80"), 90, use=compare),
    Picture("viewer_dam", ("dam_break", "--cells", "96"), 90, dark=True, use=by_pressure),
    Picture("viewer_stack", ("stack", "--wide", "3", "--high", "4", "--method", "pgs"), 20, use=inspect),
    Picture("viewer_gears", ("gears_medium",), 30, dark=True),
    Picture("viewer_pool", ("pool1",), 150),
)


def take(browser: Any, picture: Picture, folder: Path) -> Path:
    with serve(*picture.words) as address:
        visit = Visit(browser, PIXELS, picture.dark)
        visit.go(address)
        visit.wait_for("page.connected === 'true' && Number(page.step) === 0", 120)
        visit.click("play-pause")
        visit.wait_for(f"Number(page.step) >= {picture.steps}", 300)
        visit.click("play-pause")
        visit.wait_for("page.playing === 'false'")
        picture.use(visit)
        visit.page.wait_for_timeout(REST)
        target = folder / f"{picture.name}.png"
        visit.page.screenshot(path=target)
        visit.close()
    if visit.complaints:
        raise RuntimeError(f"{picture.name}: {visit.complaints}")
    return target


def main(words: list[str]) -> None:
    reason = missing()
    if reason is not None or len(words) != 1:
        raise SystemExit(reason or __doc__)
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    with open_browser() as browser:
        for picture in PICTURES:
            print(take(browser, picture, folder))


if __name__ == "__main__":
    main(sys.argv[1:])
