"""What several files of tests need: the real logs, session logs from a script, memories of drawn episodes.

The process that hands out tests loads this page too: what a fixture alone needs is imported there.
"""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from agents_home import AgentsHome
from browser import CHROMIUM, open_browser
from episode_drawing import any_episodes, draw, folder, remember
from model_places import Places
from postgres_server import PostgresServer, TeamDatabase
from postgres_server import why_absent as postgres_is_absent
from session_script import Script

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from playwright.sync_api import Browser

    from helix_episodes.model import Episode
    from helix_graph import Memory

__all__ = ["any_episodes", "corpora", "draw", "episode_of", "folder", "remember", "script"]

# A test answers the same whether or not a model is installed here; those about embeddings unset it.
os.environ["HELIX_EMBEDDING"] = "lexical"

# Hundreds of processes are started; each would compile our modules anew where none may write what it compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# How long one example takes depends on what else the machine does; what is slow shows in the suite's own time.
# Every day a few examples and in CI the usual number (``--hypothesis-profile=thorough``), the same each time: a change
# is not refused for what it did not touch. New examples are drawn at night (``--hypothesis-profile=nightly``).
for _name, _examples in {"everyday": 10, "thorough": 100, "nightly": 1_000}.items():
    settings.register_profile(
        _name,
        max_examples=_examples,
        derandomize=_name != "nightly",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("everyday")

# Half of the suite's time was waiting for the disk: what tests write lies in memory where the machine has room there.
_IN_MEMORY = Path("/dev/shm")  # noqa: S108 - a root, in which pytest makes folders of its own
if "TMPDIR" not in os.environ and os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free > 4 << 30:
    os.environ["TMPDIR"] = tempfile.tempdir = str(_IN_MEMORY)

# Nothing of the suite reads or writes what is this user's: records of memories, settings, agents' logs. All of it is
# below HOME without these variables. Set here and not by a fixture: fixtures of every scope and all processes have it.
_HOME = tempfile.TemporaryDirectory(prefix="helix-graph-tests-")
os.environ["HOME"] = _HOME.name
for _name in [name for name in os.environ if name.startswith("XDG_")]:
    del os.environ[_name]

# Imports and collected tests stay until the end: nothing of them is looked through again for what may be thrown away.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on what tests leave behind is thrown away."""
    gc.freeze()
    gc.enable()


CORPORA = Path(__file__).resolve().parents[2] / "shared" / "corpora"


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--stores=postgresql`` runs the suites of stores alone, and keeps their memories on a server."""
    parser.addoption("--stores", choices=("sqlite", "postgresql"), default="sqlite", help="where memories are kept")


class _ExamplesAlone:
    """Takes no module for a file of tests that has no example: half of the suite's modules were searched in vain.

    A plugin of its own, for what stands in this file is asked about files below this folder alone.
    """

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        return [
            one
            for one in (yield)
            if not isinstance(one, DoctestModule) or ">>> " in file_path.read_text(encoding="utf-8")
        ]


def pytest_configure(config: pytest.Config) -> None:
    """Nothing of a server is loaded where memories are kept in SQLite, as they are every day."""
    config.pluginmanager.register(_ExamplesAlone())
    if config.getoption("--stores") == "postgresql":
        from stores_option import StoresOnPostgres

        config.pluginmanager.register(StoresOnPostgres())


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks as slow what opens pages in a browser, but for the few tests that are marked as everyday ones."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()) and item.get_closest_marker("everyday") is None:
            item.add_marker("slow")


@pytest.fixture
def corpora() -> Path:
    """The folder of real logs; the test is skipped where it is absent."""
    if not CORPORA.is_dir():
        pytest.skip(f"the real logs are not here ({CORPORA})")
    return CORPORA


@pytest.fixture
def agents_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentsHome:
    """A home without settings and with no agent on the PATH; one stands in its project."""
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    home = AgentsHome(tmp_path)
    monkeypatch.chdir(home.project)
    return home


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium; the test is skipped where it, or what drives it, is absent."""
    pytest.importorskip("playwright", reason="playwright is not installed")
    if not CHROMIUM.exists():
        pytest.skip(f"there is no Chromium in {CHROMIUM}")
    with open_browser() as running:
        yield running


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of the tests' own; the test is skipped where it, or its driver, is absent."""
    if why := postgres_is_absent():
        pytest.skip(why)
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture
def team_server(postgres: PostgresServer) -> TeamDatabase:
    """A database with the tables of a team's memory, where ann and bob are members of the project shop."""
    return postgres.team_database()


@pytest.fixture(scope="session")
def demo_memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """The memory of the example logs, compiled."""
    from demo_logs import demo_memory_in

    return demo_memory_in(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """The memory that `helix-graph demo --keep` leaves: the example logs and the generated ones, compiled."""
    from demo_logs import demo_memory_in

    folder = tmp_path_factory.mktemp("shops") / "papershop"
    folder.mkdir()
    return demo_memory_in(folder, generated=True)


@pytest.fixture(scope="session")
def page_file(shop: Memory, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of that memory."""
    return Path(shop.view(output=tmp_path_factory.mktemp("pages") / "view.html").path)


@pytest.fixture
def script() -> Callable[..., Script]:
    """Begins a session log: ``script("name").prompt("fix it").run("pytest", "1 failed", code=1)``."""
    return Script


@pytest.fixture
def episode_of(tmp_path: Path) -> Callable[[Script], Episode]:
    """The episode that is extracted from a script's log."""
    from helix_episodes.extraction.pipeline import extract
    from helix_episodes.readers import read_sessions

    def extracted(one: Script) -> Episode:
        (session,) = read_sessions(one.save(tmp_path / "logs"))
        return extract(session)

    return extracted


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    """Where weights are looked for: nowhere on this machine, until a test puts some there."""
    return Places(tmp_path, monkeypatch)
