"""The viewer in figures: frames a second and bytes a frame, the size of the page, and what its extra installs."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from rich.table import Table

from benchmarks.browsing import PAGE, Visit, missing, open_browser, serve
from benchmarks.tables import add_row, make_table
from perp.scenes import make
from perp.simulation import simulate

HEIGHT = 5
"""Boxes on top of one another in `boxes`."""

BODIES = (200, 2_000)
STEPS = 400
"""Of the recording."""

SETTLED = 40
"""Steps before the clock starts: shaders are compiled, and the page knows how many pixels it can afford."""

SWEEPS = 20
LOOKING = 10.0
"""How long the page is watched at most [s]."""

PIXELS = (1280, 720)


def measure_viewer(options: Any) -> Iterator[Table | str]:
    yield measure_page()
    yield measure_extra()
    reason = missing()
    if reason is not None:
        yield f"no frame rates: {reason}"
        return
    yield measure_frames()


def measure_page() -> Table:
    """What the browser is sent once."""
    table = make_table("the page", ("file", "bytes", "compressed"))
    for path in sorted(PAGE.glob("*")):
        data = path.read_bytes()
        add_row(table, (path.name, len(data), len(gzip.compress(data, 9))))
    return table


def measure_extra() -> Table:
    """What `perp[viewer]` brings beside perp, in files on disk."""
    table = make_table("the extra 'viewer', installed", ("package", "version", "kB"))
    total = 0.0
    for name in sorted(_brought("perp", "viewer") - _brought("perp", "")):
        found = distribution(name)
        size = sum(_size(Path(str(file.locate()))) for file in found.files or ()) / 1e3
        total += size
        add_row(table, (name, found.version, size))
    add_row(table, ("together", "", total))
    return table


def _brought(package: str, extra: str) -> set[str]:
    """Every package that this one needs, with this extra or without any."""
    found: set[str] = set()
    waiting = [(package, extra)]
    while waiting:
        name, wanted = waiting.pop()
        try:
            needs = requires(name) or []
        except PackageNotFoundError:
            continue
        for text in needs:
            need = Requirement(text)
            if need.marker is not None and not need.marker.evaluate({"extra": wanted}):
                continue
            key = need.name.lower().replace("_", "-")
            if key not in found and key != package:
                found.add(key)
                waiting += [(key, inner) for inner in (need.extras or {""})]
    return {name for name in found if _is_installed(name)}


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def measure_frames() -> Table:
    """Frames that a page draws in a second, in software, of a recording and of a simulation beside it."""
    headings = ("bodies", "contacts", "kB a frame", "replay, frames/s", "live, frames/s", "pixels drawn", "step, ms")
    title = f"boxes in stacks of {HEIGHT}, {PIXELS[0]} x {PIXELS[1]} pixels, software rendering"
    table = make_table(title, headings)
    with open_browser() as browser, TemporaryDirectory() as folder:
        for bodies in BODIES:
            stacks = bodies // HEIGHT
            recording = Path(folder) / f"{bodies}.hdf5"
            contacts, milliseconds = _record(recording, stacks)
            replay = _watch(browser, "--replay", str(recording))
            words = ("--method", "block_gauss_seidel", "--max-iterations", str(SWEEPS))
            live = _watch(browser, "boxes", "--stacks", str(stacks), "--start", "standing", *words)
            seen = (replay.rate, live.rate, live.pixels)
            add_row(table, (bodies, contacts, live.size / 1e3, *seen, milliseconds))
    return table


def _record(path: Path, stacks: int) -> tuple[int, float]:
    """Write a recording; contacts in its last step, and the median time of a step [ms]."""
    made = make("boxes", stacks=stacks, height=HEIGHT, start="standing")
    seconds: list[float] = []
    result = simulate(
        made,
        STEPS,
        method="block_gauss_seidel",
        max_iterations=SWEEPS,
        record=path,
        callback=lambda report, _: seconds.append(report.seconds.total),
    )
    frame: Any = result.frame
    return len(frame.contacts.gap), 1e3 * median(seconds)


class Watched(NamedTuple):
    """What a page did while it played as fast as it could."""

    rate: float
    """Frames drawn in a second."""
    size: float
    """Bytes of a frame on the wire."""
    pixels: str
    """That the page chose to draw, width x height: fewer than it has where drawing takes long."""


def _watch(browser: Any, *words: str) -> Watched:
    with serve(*words) as address:
        visit = Visit(browser, PIXELS)
        received: list[int] = []
        visit.page.on(
            "websocket", lambda socket: socket.on("framereceived", lambda data: received.append(_length(data)))
        )
        visit.go(address)
        visit.wait_for("page.connected === 'true' && Number(page.frames) > 0", 120)
        visit.page.select_option("[data-action=speed]", "max")
        visit.click("play-pause")
        visit.wait_for(f"Number(page.step) >= {SETTLED}", 120)
        first, begun = int(visit.told("frames")), perf_counter()
        while perf_counter() - begun < LOOKING and visit.step < STEPS - SETTLED:
            visit.page.wait_for_timeout(100)
        rate = (int(visit.told("frames")) - first) / (perf_counter() - begun)
        drawn = visit.page.evaluate("() => { const c = document.querySelector('canvas'); return [c.width, c.height]; }")
        visit.close()
    binary = [length for length in received if length > 0]
    return Watched(rate, median(binary) if binary else float("nan"), " x ".join(map(str, drawn)))


def _length(data: Any) -> int:
    """Of a binary message; 0 for texts."""
    payload = getattr(data, "payload", data)
    return len(payload) if isinstance(payload, bytes) else 0
