"""Surroundings that are alike in every run: folders, environment, and processes that run one command each.

A command runs in a fork of this process, through the installed command's own entry point, with its streams in files.
That is as separate as a process of its own, and costs a tenth of one since everything is imported before.
"""

from __future__ import annotations

import ctypes
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import helix_cli
import helix_episodes
import helix_graph
from helix_cli.entry import main

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CORPORA = Path("/work/shared/corpora")
#: One log of the demo, by which its folder is found wherever the package keeps it.
DEMO_LOG = "0ef1ab76-e92e-5790-96ac-85800bb4743f.jsonl"
#: The command as the installed script runs it.
COMMAND = [sys.executable, "-c", "from helix_cli.entry import main; main()"]
#: Seconds after which a command is ended.
PATIENCE = 180
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux: processes that a hook leaves behind become children of this one
_COMMIT = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in {"NAME": "golden", "EMAIL": "g@example.org", "DATE": "2026-01-01T00:00:00Z"}.items()
}


class Answer(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """All of it as one text."""
        out, err = (stream.decode("utf-8", "backslashreplace") for stream in (self.out, self.err))
        return f"exit code {self.code}\n--- stdout\n{out}\n--- stderr\n{err}\n"


class Project(NamedTuple):
    """A project with a memory, and the home of its user."""

    folder: Path
    home: Path

    @property
    def memory(self) -> Path:
        """The folder of its memory."""
        return self.folder / ".helix"


def environment(root: Path) -> dict[str, str]:
    """The environment of a run in ``root``; nothing of the caller's own is in it."""
    programs = root / "bin"
    programs.mkdir(exist_ok=True)
    for name, target in (("git", shutil.which("git")), ("helix-graph", str(Path(sys.prefix, "bin", "helix-graph")))):
        if target and not (programs / name).is_symlink():
            (programs / name).symlink_to(target)
    return {
        "PATH": str(programs),
        "HOME": str(root / "home"),
        "TMPDIR": str(root / "tmp"),
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
        "TERM": "dumb",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "HELIX_EMBEDDING": "lexical",
        "HELIX_HOOK_SECONDS": "60",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GOLDEN_ROOT": str(root),
    }


def enter() -> Path:
    """The folder of this run. The first call begins this process anew in the environment that every run has."""
    root = os.environ.get("GOLDEN_ROOT")
    if root is None:
        _begin_anew()
    return Path(root)


def _begin_anew() -> NoReturn:
    made = Path(tempfile.gettempdir()) / f"golden-{os.getpid():08d}"
    for name in ("home", "tmp"):
        (made / name).mkdir(parents=True)
    os.execve(sys.executable, [sys.executable, *sys.argv], environment(made))  # noqa: S606  (this script once more)


def import_everything() -> None:
    """Imports every module of the packages, so that no command has to."""
    for package in (helix_episodes, helix_graph, helix_cli):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                with suppress(ImportError):  # of what is not installed
                    import_module(found.name)


def adopt_orphans() -> None:
    """From now on processes that a command leaves behind are waited for by ``wait_for_all``."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def wait_for_all() -> None:
    """Waits until no process is left that a command has begun."""
    with suppress(ChildProcessError):
        while True:
            os.wait()


def run(
    arguments: Sequence[str], project: Project, *, stdin: bytes = b"", more: Mapping[str, str] | None = None
) -> Answer:
    """Runs one command in a fork of this process."""
    streams = project.home.parent / "streams"
    streams.mkdir(exist_ok=True)
    (streams / "in").write_bytes(stdin)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _become(arguments, project, streams, more or {})
    _, status = os.waitpid(child, 0)
    wait_for_all()
    return Answer(os.waitstatus_to_exitcode(status), (streams / "out").read_bytes(), (streams / "err").read_bytes())


def _become(arguments: Sequence[str], project: Project, streams: Path, more: Mapping[str, str]) -> None:
    """The child's part: it ends the process."""
    code = 99
    try:
        for number, (name, flags) in enumerate((("in", os.O_RDONLY), ("out", _WRITE), ("err", _WRITE))):
            os.dup2(os.open(streams / name, flags, 0o600), number)
        os.environ.update({"HOME": str(project.home), **more})
        os.chdir(project.folder)
        signal.alarm(PATIENCE)
        sys.argv = [str(Path(os.environ["PATH"]) / "helix-graph"), *arguments]
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:  # noqa: BLE001  (a traceback is an answer as well, and is compared)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def spawn(
    arguments: Sequence[str], project: Project, *, stdin: bytes = b"", more: Mapping[str, str] | None = None
) -> Answer:
    """Runs one command as a process of its own, from a cold start."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        cwd=project.folder,
        timeout=PATIENCE,
        env={**os.environ, "HOME": str(project.home), **(more or {})},
    )
    wait_for_all()
    return Answer(done.returncode, done.stdout, done.stderr)


def new_project(root: Path, name: str, memory: Path | None = None, *, git: bool = False) -> Project:
    """An empty project, or one with a copy of a memory; with ``git`` it is a repository with one commit."""
    top = root / name
    project = Project(top / "shop", top / "home")
    for folder in project:
        folder.mkdir(parents=True)
    if memory is not None:
        shutil.copytree(memory, project.memory)
        accept(project)
    if git:
        (project.folder / "README.md").write_text("A shop\n")
        (project.folder / ".gitignore").write_text(".helix/\n")
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
            subprocess.run(["git", *words], cwd=project.folder, check=True, env={**os.environ, **_COMMIT})  # noqa: S607
    else:
        (project.folder / ".git").mkdir()
    return project


def accept(project: Project) -> None:
    """Accepts the project's memory, which is a copy; older versions know no such command and ask for none."""
    spawn(["trust", "--yes"], project)


def demo_logs(root: Path) -> Path:
    """A copy of the example logs that come with the package."""
    copy = root / "logs"
    if not copy.is_dir():
        (found,) = Path(helix_cli.__path__[0]).rglob(DEMO_LOG)
        shutil.copytree(found.parent, copy)
    return copy
