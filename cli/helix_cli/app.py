"""The command group, and the one place where errors become sentences and exit codes.

Each file under ``commands`` is imported when one of its commands is called, so that a question from a cold process pays
for its own imports only.

====  =======================================================================
code  meaning
====  =======================================================================
0     done; a question without an answer is answered too ("not met before")
1     something could not be done; one sentence on stderr says what and why
2     the command was called wrongly
130   interrupted
====  =======================================================================
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_graph import __version__

if TYPE_CHECKING:
    from helix_graph import Memory
    from helix_graph.insights.api import Insights


#: Where each command is: its module in this package, and its name there.
COMMANDS = {
    "init": "commands.lifecycle:init",
    "trust": "commands.lifecycle:trust",
    "episode": "commands.episode:episode",
    "compile": "commands.graph:compile_command",
    "seen": "commands.seen_and_similar:seen",
    "highlights": "commands.highlights:highlights",
    "issues": "commands.issues:issues",
    "path": "commands.paths_and_causes:path",
    "view": "commands.pages:view",
    "report": "commands.pages:report",
    "causes": "commands.paths_and_causes:causes",
    "effects": "commands.paths_and_causes:effects",
    "checks": "commands.checks_and_runbook:checks",
    "fragile": "commands.checks_and_runbook:fragile",
    "runbook": "commands.checks_and_runbook:runbook",
    "patterns": "commands.patterns_and_comparisons:patterns",
    "anti-patterns": "commands.patterns_and_comparisons:anti_patterns",
    "explain": "commands.paths_and_causes:explain",
    "contrast": "commands.paths_and_causes:contrast",
    "without": "commands.patterns_and_comparisons:without",
    "similar": "commands.seen_and_similar:similar",
    "comparisons": "commands.patterns_and_comparisons:comparisons",
    "claims": "commands.patterns_and_comparisons:claims",
    "repeats": "commands.patterns_and_comparisons:repeats",
    "placebo": "commands.patterns_and_comparisons:placebo",
    "node": "commands.graph:node",
    "edge": "commands.graph:edge",
    "pattern": "commands.graph:pattern",
    "insight": "commands.insight:insight",
    "topic": "commands.topic:topic",
    "search": "commands.search_and_model:search",
    "exploration": "commands.plan:exploration",
    "plan": "commands.plan:plan",
    "workspace": "commands.delegation:workspace",
    "assess": "commands.plan:assess",
    "inject": "commands.delegation:inject",
    "batch-inject": "commands.delegation:batch_inject",
    "wait": "commands.delegation:wait",
    "learn": "commands.plan:learn",
    "graph": "commands.graph:graph",
    "status": "commands.graph:status",
    "model": "commands.search_and_model:model",
    "doctor": "commands.lifecycle:doctor",
    "forget": "commands.lifecycle:forget",
    "off": "commands.lifecycle:off",
    "on": "commands.lifecycle:on",
    "mcp": "mcp_and_hook_commands:mcp",
    "hook": "mcp_and_hook_commands:hook",
    "setup": "commands.setup:setup",
    "plugin": "commands.setup:plugin",
    "demo": "commands.demo:demo",
}
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130  # what shells report for a process ended by SIGINT: 128 + 2


#: Options that are not called like the library's parameter.
_OTHER_NAMES = {
    "source": ("--from",),
    "target": ("--to",),
    "source_id": ("--source",),
    "target_id": ("--target",),
    "sessions": ("--session",),
}


class LazyGroup(click.Group):
    """A group that imports a command's file when the command is named."""

    def __init__(self, *, locations: Mapping[str, str], **settings: object) -> None:
        super().__init__(**settings)  # type: ignore[arg-type]  # passed through to click unread
        self.locations = locations

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        """The order of the help: the order in which a newcomer meets the commands."""
        return list(self.locations)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  (as above)
        """The command of that name, imported now; ``None`` when there is none."""
        location = self.locations.get(cmd_name)
        if location is None:
            return None
        file, name = location.split(":")
        command = getattr(import_module(f"helix_cli.{file}"), name)
        return command if isinstance(command, click.Command) else None


cli = LazyGroup(
    locations=COMMANDS,
    name="helix-graph",
    help=(
        "A causal memory for coding agents, built from the logs they already write: what led to what, what works, "
        "what keeps failing."
    ),
    epilog="First time here? `helix-graph demo` shows everything on example logs.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
click.version_option(__version__, prog_name="helix-graph", message="%(prog)s %(version)s")(cli)


def open_memory() -> Memory:
    """The memory of the project that the current folder belongs to.

    Raises:
        NoMemory: The project has no memory; the sentence says how to begin one.
        UntrustedMemory: It is not this user's; the sentence says how to accept it.
    """
    from helix_graph import Memory

    memory = Memory.open()
    if memory.adopted:
        from helix_graph.trust import adopted_sentence

        _warn(adopted_sentence(memory.root))
    return memory


def open_insights() -> Insights:
    """The insights of this project, or those in the file that ``HELIX_DB_PATH`` names: then no memory is needed.

    The variable says where the database is; episodes and graph are those of the project all the same, if there is one.

    Raises:
        NoMemory: The project has no memory, and the variable is not set.
    """
    from helix_graph.errors import NoMemory
    from helix_graph.helix_db import ENVIRONMENT

    # Else BLAS starts its threads when numpy is loaded, a fifth of a question's time; one vector has no work for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        return open_memory().insights
    except NoMemory:
        if not os.environ.get(ENVIRONMENT):
            raise
        from helix_graph import Memory

        return Memory(Path.cwd()).insights


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; what went wrong has been said on stderr.

    When the reader of a pipe (``| head``) has had enough, click ends the process quietly.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a console that lacks a character shows its escape
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(args=list(arguments), prog_name="helix-graph", standalone_mode=False)
    except click.ClickException as problem:
        _show(problem)
        return problem.exit_code
    except click.Abort:
        return EXIT_INTERRUPTED
    except HelixGraphError as problem:
        _warn(_as_typed(problem, arguments))
        return EXIT_USAGE if isinstance(problem, InvalidArgument) else EXIT_FAILED
    except (OSError, UnicodeError) as problem:
        _warn(_of_the_system(problem))
        return EXIT_FAILED
    return code if isinstance(code, int) else 0


def _warn(sentence: str) -> None:
    from helix_cli.output import warn

    warn(sentence)


def _show(problem: click.ClickException) -> None:
    """What click says of it, which may quote what was typed."""
    from helix_cli.terminal import clean_lines

    shown = io.StringIO()
    problem.show(file=shown)
    click.echo(clean_lines(shown.getvalue()), err=True, nl=False)


def _as_typed(problem: HelixGraphError, arguments: Sequence[str]) -> str:
    """The sentence of an error, with the argument at its beginning named as the option that was typed for it.

    >>> from helix_episodes.errors import InvalidArgument
    >>> _as_typed(InvalidArgument("success_rate", "is empty"), ["pattern", "add", "--success-rate", " "])
    '--success-rate is empty'
    """
    sentence, name = str(problem), getattr(problem, "parameter", None)
    if not isinstance(name, str) or not sentence.startswith(name):
        return sentence
    typed = {argument.partition("=")[0] for argument in arguments}
    options = ("--" + name.replace("_", "-"), *_OTHER_NAMES.get(name, ()))
    return next((option + sentence.removeprefix(name) for option in options if option in typed), sentence)


def _of_the_system(problem: OSError | UnicodeError) -> str:
    """What the system refused, where no command could say more: a full disk behind stdout, a folder that is gone."""
    if isinstance(problem, UnicodeError):
        return "an argument or a file's name is no text in any encoding this system knows"
    where = f"{problem.filename}: " if problem.filename else ""
    return f"{where}{problem.strerror or problem}"
