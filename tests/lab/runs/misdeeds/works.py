"""A work that does what its task says, also what no work should: for tests of the processes that tasks run in."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from perp.lab.runs.row import DONE, Measurement


def perform(task, folder):
    """`instance["deed"]` names a function below; every call leaves a line with its process in `<folder>/log`."""
    with (folder / "log").open("a") as log:
        log.write(f"{task.instance['deed']} {task.instance['number']} {os.getpid()}\n")
    return globals()[task.instance["deed"]](task, folder)


def work(task, folder):
    return Measurement(DONE, numbers={"number": float(task.instance["number"])})


def fail(task, folder):
    raise ValueError("this cannot be done")


def miss(task, folder):
    raise ModuleNotFoundError("No module named 'elsewhere'")


def exit_early(task, folder):
    os._exit(3)


def interrupt(task, folder):
    raise KeyboardInterrupt("not from the keyboard")


def die(task, folder):
    os.kill(os.getpid(), signal.SIGKILL)


def sleep(task, folder):
    time.sleep(600)


def allocate(task, folder):
    return Measurement(DONE, numbers={"sum": float(np.ones(2**31).sum())})


def kill_server(task, folder):
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(600)


def wait(task, folder):
    """Until `<folder>/go` is there."""
    while not Path(folder, "go").exists():
        time.sleep(0.01)
    return Measurement(DONE)
