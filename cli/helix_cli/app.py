"""The command group, and the one place where errors become sentences and exit codes.

Each file under ``commands`` is imported when one of its commands is called, so that a question from a cold process pays
for its own imports only.

====  =======================================================================
code  meaning
====  =======================================================================
0     done; a question without an answer is answered too ("not seen before")
1     something could not be done; one sentence on stderr says what and why
2     the command was called wrongly
130   interrupted
====  =======================================================================
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from helix_cli.command_group import LazyGroup
from helix_episodes.errors import HelixGraphError, InvalidArgument
from helix_graph import __version__
from helix_graph.errors import NEXT_STEP

if TYPE_CHECKING:
    from helix_graph import Memory
    from helix_graph.insights.api import Insights
    from helix_graph.sharing.model import TeamPulled


#: Where each command is: its module in this package, and its name there. The help lists these sections ...
EVERYDAY = {
    "Every day": {
        "sync": "commands.sync:sync",
        "seen": "commands.seen_and_similar:seen",
        "search": "commands.search_and_model:search",
        "sessions": "app:sessions",
        "labels": "commands.paths_and_causes:labels",
        "path": "commands.paths_and_causes:path",
        "causes": "commands.paths_and_causes:causes",
        "effects": "commands.paths_and_causes:effects",
    },
    "What to do differently": {
        "highlights": "commands.highlights:highlights",
        "issues": "commands.issues:issues",
        "rules": "commands.rules:rules",
        "advise": "commands.rules:advise",
        "runbook": "commands.checks_and_runbook:runbook",
        "patterns": "commands.patterns_and_comparisons:patterns",
        "anti-patterns": "commands.patterns_and_comparisons:anti_patterns",
        "report": "commands.pages:report",
        "view": "commands.pages:view",
    },
    "Notes": {
        "insight": "commands.insight:insight",
        "topic": "commands.topic:topic",
    },
    "Set up and look after": {
        "setup": "commands.setup:setup",
        "doctor": "commands.lifecycle:doctor",
        "forget": "commands.lifecycle:forget",
        "pause": "commands.lifecycle:pause",
        "resume": "commands.lifecycle:resume",
        "status": "commands.graph:status",
        "demo": "commands.demo:demo",
    },
}
#: ... and with ``help --all`` these too.
RARE = {
    "The steps of sync, and sessions in detail": {
        "init": "commands.lifecycle:init",
        "episode": "commands.episode:episode",
        "compile": "commands.graph:compile_command",
        "explain": "commands.explain_and_contrast:explain",
        "contrast": "commands.explain_and_contrast:contrast",
        "trust": "commands.lifecycle:trust",
    },
    "Checks, files and the value of the memory": {
        "checks": "commands.checks_and_runbook:checks",
        "fragile": "commands.checks_and_runbook:fragile",
        "worth": "commands.worth:worth",
    },
    "Comparisons of sessions": {
        "comparisons": "commands.patterns_and_comparisons:comparisons",
        "claims": "commands.patterns_and_comparisons:claims",
        "without": "commands.patterns_and_comparisons:without",
        "repeats": "commands.patterns_and_comparisons:repeats",
        "placebo": "commands.patterns_and_comparisons:placebo",
        "similar": "commands.seen_and_similar:similar",
    },
    "Additions by hand, and the graph for other programs": {
        "node": "commands.graph:node",
        "edge": "commands.graph:edge",
        "pattern": "commands.graph:pattern",
        "graph": "commands.graph:graph",
    },
    "A team's and a company's sessions": {
        "share": "commands.team_and_company:share",
        "team": "commands.team_and_company:team",
        "pack": "commands.team_and_company:pack",
        "fold": "commands.team_and_company:fold",
    },
    "Plans and agents": {
        "exploration": "commands.plan:exploration",
        "plan": "commands.plan:plan",
        "workspace": "commands.delegation:workspace",
        "assess": "commands.plan:assess",
        "inject": "commands.delegation:inject",
        "batch-inject": "commands.delegation:batch_inject",
        "wait": "commands.delegation:wait",
        "learn": "commands.plan:learn",
    },
    "For agents and installation": {
        "mcp": "mcp_and_hook_commands:mcp",
        "hook": "mcp_and_hook_commands:hook",
        "plugin": "commands.setup:plugin",
        "model": "commands.search_and_model:model",
        "help": "command_group:help_command",
    },
}
ALIASES = {"off": "pause", "on": "resume"}
#: What people type in the place of a command, and the command that they mean.
_MEANT = {
    **dict.fromkeys(("note", "remember", "remind", "learned"), 'insight store "TEXT"'),
    "recall": 'insight recall "TEXT"',
    **dict.fromkeys(("show", "session"), "sessions show last"),
    "compare": "sessions compare last",
    **dict.fromkeys(("list", "ls", "log", "logs", "history"), "sessions list"),
    **dict.fromkeys(("errors", "failures", "problems"), "issues"),
    **dict.fromkeys(("fix", "fixes", "error"), 'seen "ERROR LINE"'),
    **dict.fromkeys(("find", "ask", "query", "grep"), 'search "WORDS"'),
    **dict.fromkeys(("update", "refresh", "read", "import"), "sync"),
    **dict.fromkeys(("extract", "ingest", "process", "parse"), "episode extract PATH"),
    **dict.fromkeys(("install", "connect"), "setup"),
    **dict.fromkeys(("uninstall", "remove"), "setup --remove"),
    **dict.fromkeys(("delete", "rm"), "forget ID"),
    "version": "--version",
    **dict.fromkeys(("stats", "info"), "status"),
    **dict.fromkeys(("web", "open", "html", "serve"), "view"),
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
    "max_results": ("--limit",),
}


cli = LazyGroup(
    sections=EVERYDAY,
    rare=RARE,
    aliases=ALIASES,
    meant=_MEANT,
    name="helix-graph",
    help=(
        "A causal memory for coding agents, built from the logs they already write: what led to what, what works, "
        "what keeps failing."
    ),
    beginning="commands.highlights:show_beginning",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
click.version_option(__version__, prog_name="helix-graph", message="%(prog)s %(version)s")(cli)


def open_memory() -> Memory:
    """The memory of the project that the current folder belongs to."""
    from helix_graph.memory import Memory

    memory = Memory.open()
    if memory.adopted:
        from helix_graph.trust import adopted_sentence

        _warn(adopted_sentence(memory.root))
    return memory


def open_with_team() -> Memory:
    """As `open_memory`, with what the team's server has by now; what the command stores is pushed there at its end.

    Where there is no memory yet, it begins from the server. What is to be known of the server is said on stderr.
    """
    from helix_graph.errors import NoMemory

    pulled: TeamPulled | None
    try:
        memory = open_memory()
        pulled = memory.follow_team()
    except NoMemory:
        from helix_cli.output import progress
        from helix_graph.memory import Memory

        with progress("Reading the team's memory") as advance:
            begun = Memory.from_team(progress=advance)
        if begun is None:
            raise
        memory, pulled = begun
    for sentence in pulled.sentences if pulled else ():
        _warn(sentence)
    context = click.get_current_context(silent=True)
    if context and pulled is not None:
        context.call_on_close(lambda: _push(memory))
    return memory


def _push(memory: Memory) -> None:
    pushed = memory.push_to_team()
    for sentence in pushed.sentences if pushed else ():
        _warn(sentence)


def has_sessions(memory: Memory) -> bool:
    """Whether there is any session to answer from."""
    return any(memory.root.glob("episodes/episode-*.json"))


def open_for_question() -> Memory:
    """As `open_with_team`, for a question: says on stderr that there are new logs, or no sessions, or reads logs first.

    The table ``[sync]`` of the user's configuration chooses: with ``auto_sync = true`` new logs are read first, for at
    most ``seconds`` (default 5).
    """
    from helix_graph.project import read_table, user_configuration
    from helix_graph.sync_stamp import SyncSettings, read_stamp

    memory = open_with_team()
    settings = read_table(user_configuration(), "sync", SyncSettings)
    if memory.silenced or not settings.auto_sync:
        waiting = len(memory.unread_logs())
        if waiting:
            logs = "1 log of this project is" if waiting == 1 else f"{waiting} logs of this project are"
            _warn(f"{logs} newer than the memory. Next: {NEXT_STEP}")
        elif not has_sessions(memory):
            looked = read_stamp(memory.root) is not None
            found = "; no log of this project was found. Next: helix-graph episode sources shows where sync looked"
            _warn(f"the memory has no sessions yet{found if looked else f'. Next: {NEXT_STEP}'}")
        return memory
    done = memory.sync_within(settings.seconds)
    if done.left:
        _warn(f"{done.read} new logs read in {settings.seconds:g} seconds, {done.left} left. Next: {NEXT_STEP}")
    elif done.read:
        _warn(f"{done.read} new {'log' if done.read == 1 else 'logs'} read.")
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
        return open_with_team().insights
    except NoMemory:
        if not os.environ.get(ENVIRONMENT):
            raise
        from helix_graph.memory import Memory

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
    # Every error begins in one way; click's own begin with a word of its.
    said = re.sub(r"^Error: ", "helix-graph: ", shown.getvalue(), count=1, flags=re.MULTILINE)
    click.echo(clean_lines(said + _example(problem)), err=True, nl=False)


#: What a missing argument may be.
_EXAMPLES = {
    "EPISODE": "last",
    "LABEL": '"tests fail"',
    "TEXT": '"ModuleNotFoundError: No module named"',
    "QUERY": '"slow tests"',
    "[FROM TO]": '"cart.py" "tests fail"',
}


def _example(problem: click.ClickException) -> str:
    """A line with the command as it may have been meant, where an argument is missing or is really an option."""
    if not isinstance(problem, click.UsageError) or problem.ctx is None:
        return ""
    command, path = problem.ctx.command, problem.ctx.command_path
    if problem.message.startswith("Got unexpected extra argument"):
        options = {name for one in command.params if isinstance(one, click.Option) for name in one.opts}
        meant = [
            f"--{word}" for word in problem.message.partition("(")[2].rstrip(")").split() if f"--{word}" in options
        ]
        return f"Did you mean: {path} {' '.join(meant)}\n" if meant else ""
    arguments = [one.make_metavar(problem.ctx) for one in command.params if isinstance(one, click.Argument)]
    if isinstance(problem, click.NoSuchOption) and arguments and not problem.option_name.startswith("--"):
        return f"What begins with a dash and is no option goes after --: {path} -- {' '.join(arguments)}\n"
    missing = isinstance(problem, click.MissingParameter) or problem.message.startswith("Give two texts")
    examples = [_EXAMPLES[one] for one in arguments if one in _EXAMPLES] if missing else []
    return f"For example: {path} {' '.join(examples)}\n" if examples else ""


def _as_typed(problem: HelixGraphError, arguments: Sequence[str]) -> str:
    """The sentence of an error, with parameters named as the options that were typed for them.

    >>> from helix_episodes.errors import InvalidArgument
    >>> _as_typed(InvalidArgument("success_rate", "is empty"), ["pattern", "add", "--success-rate", " "])
    '--success-rate is empty'
    >>> _as_typed(InvalidArgument(None, "leave semantic_only out"), ["search", "x", "--semantic-only"])
    'leave --semantic-only out'
    """
    sentence, name = str(problem).replace("set force to", "--force to"), getattr(problem, "parameter", None)
    for option in arguments:
        if option.startswith("--") and "-" in option[2:]:
            sentence = re.sub(rf"\b{re.escape(option[2:].replace('-', '_'))}\b", option, sentence)
    if not isinstance(name, str) or not sentence.startswith(name):
        return sentence
    typed = {argument.partition("=")[0] for argument in arguments}
    options = ("--" + name.replace("_", "-"), *_OTHER_NAMES.get(name, ()))
    return next((option + sentence.removeprefix(name) for option in options if option in typed), sentence)


def _of_the_system(problem: OSError | UnicodeError) -> str:
    """What the system refused, where no command could say more: a full disk behind stdout, a folder that is gone."""
    if isinstance(problem, UnicodeError):
        return "an argument or a file's name is not text in any encoding that this system knows"
    if isinstance(problem, FileNotFoundError) and not problem.filename and is_current_folder_gone():
        return "the current folder is gone; change to one that is there"
    where = f"{problem.filename}: " if problem.filename else ""
    return f"{where}{problem.strerror or problem}"


def is_current_folder_gone() -> bool:
    """Whether somebody deleted the folder in which this process was started."""
    try:
        os.getcwd()  # noqa: PTH109  (for its error)
    except FileNotFoundError:
        return True
    return False


#: The questions about one session under one name; each is a command that other groups have too.
sessions = LazyGroup(
    sections={
        "Commands": {
            "list": "commands.episode:list_episodes",
            "show": "commands.episode:show_episode",
            "explain": "commands.explain_and_contrast:explain",
            "compare": "commands.explain_and_contrast:contrast",
            "outcome": "commands.episode:outcome",
            "correct": "commands.episode:correct",
        }
    },
    ids=r"last(~\d+)?|(?=[0-9a-f-]*\d)[0-9a-f-]{3,36}|.*-session-.*",
    name="sessions",
    help=(
        "List, show, explain and compare sessions.\n\nA session is named by its id, by the beginning of its id, or as "
        "`last`, `last~1` (the one before) and so on."
    ),
)
