"""Modules that wait: what executes them, in which order, and how often."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from perp import lazy


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes modules of a package whose modules wait; each appends its name to `lazily_log.ran`."""
    folder = tmp_path / "lazily"
    folder.mkdir()
    (tmp_path / "lazily_log.py").write_text("ran = []\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    lazy.load_later("lazily")

    def write(name, text=""):
        path = folder / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"import lazily_log\nlazily_log.ran.append({name!r})\n{text}")
        importlib.invalidate_caches()

    (folder / "__init__.py").write_text("")
    yield write
    for name in [name for name in sys.modules if name.split(".")[0] in ("lazily", "lazily_log")]:
        del sys.modules[name]


def ran():
    return importlib.import_module("lazily_log").ran


def test_an_import_does_not_execute_a_module_and_its_first_name_does_once(package):
    package("one", "value = 1")
    module = importlib.import_module("lazily.one")
    assert ran() == []
    assert (module.value, module.value, ran()) == (1, 1, ["one"])
    assert type(module) is type(sys)


def test_asking_where_a_module_lies_does_not_execute_it(package):
    package("one")
    module = importlib.import_module("lazily.one")
    assert module.__name__ == "lazily.one"
    assert module.__file__.endswith("one.py")
    assert ran() == []


def test_a_package_is_executed_before_the_modules_in_it(package):
    package("inner/__init__", "from lazily.inner.other import value")
    package("inner/other", "value = 2")
    package("inner/one", "value = 1")
    module = importlib.import_module("lazily.inner.one")
    assert module.value == 1
    assert ran() == ["inner/__init__", "inner/other", "inner/one"]


def test_modules_may_import_each_other(package):
    package("one", "from lazily import two\ndef ask(): return two.value")
    package("two", "from lazily import one\nvalue = 2\ndef ask(): return one.ask()")
    assert importlib.import_module("lazily.two").ask() == 2
    assert importlib.import_module("lazily.one").ask() == 2


def test_a_name_that_is_missing_is_an_attribute_error(package):
    package("one")
    with pytest.raises(AttributeError, match=r"module 'lazily.one' has no attribute 'nothing'"):
        importlib.import_module("lazily.one").nothing  # noqa: B018


def test_what_is_set_from_outside_stays_set(package):
    package("one", "value = 1")
    module = importlib.import_module("lazily.one")
    module.value = 3
    assert (module.value, ran()) == (3, ["one"])


def test_a_module_that_fails_fails_each_time(package):
    package("one", "raise RuntimeError('broken')")
    module = importlib.import_module("lazily.one")
    for _ in range(2):
        with pytest.raises(RuntimeError, match="broken"):
            module.value  # noqa: B018
    assert ran() == ["one", "one"]


def test_what_a_module_misses_while_it_is_executed_is_told(package):
    package("one", "import sys\nsys.no_such_thing")
    module = importlib.import_module("lazily.one")
    for _ in range(2):
        with pytest.raises(ImportError, match=r"lazily.one cannot be executed: .*no_such_thing"):
            module.value  # noqa: B018


def test_a_reloaded_module_is_executed_again(package):
    package("one", "value = []")
    module = importlib.import_module("lazily.one")
    before = module.value
    assert importlib.reload(module).value is not before
    assert ran() == ["one", "one"]


def test_a_module_does_not_hide_what_its_package_calls_by_the_same_name(package):
    package("inner/__init__", "from lazily.inner.prove import prove")
    package("inner/prove", "def prove(): return 1")
    package("inner/other", "value = 2")
    importlib.import_module("lazily.inner.prove")
    importlib.import_module("lazily.inner.other")
    inner = importlib.import_module("lazily.inner")
    assert (inner.prove(), inner.other.value) == (1, 2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_does_not_wait_for_what_another_thread_of_its_parent_loads():
    code = """
import os, sys, threading, types
from perp import lazy, problems
begun, go_on = threading.Event(), threading.Event()
def hold():
    with lazy._LOCK:
        begun.set()
        go_on.wait(0.5)
threading.Thread(target=hold).start()
begun.wait()
child = os.fork()
if child == 0:
    from perp.problems.lcp import LCP
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr


def test_many_threads_see_one_whole_module(package):
    package("one", "import time\ntime.sleep(0.05)\nvalue = 1")
    module = importlib.import_module("lazily.one")
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: module.value, range(8))) == [1] * 8
    assert ran() == ["one"]


def test_importing_perp_loads_neither_numpy_nor_numba():
    code = "import sys, perp; print(sorted({'numpy', 'scipy', 'numba', 'rich', 'typer'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_solving_a_small_problem_loads_no_plotting_and_no_optional_package():
    code = (
        "import sys, perp; perp.solve(perp.LCP([[2.0]], [-1.0])); "
        "print(sorted({'matplotlib', 'h5py', 'mujoco', 'duckdb', 'rich', 'scipy.optimize'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
