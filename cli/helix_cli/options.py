"""Options and types of parameters that several commands share: times, paths, lists of names, JSON, sessions, labels.

For a session or a label a shell offers the known ones after TAB (docs/how-to/install.md). Click answers the shell
(``_HELIX_GRAPH_COMPLETE=bash_source helix-graph`` prints what to install); this module lists the choices. A
shell that asks must never see an error, so where there is no memory nothing is offered.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import click
from click.shell_completion import CompletionItem

from helix_cli.terminal import clean
from helix_episodes.errors import HelixGraphError
from helix_episodes.safe_files import irregularity
from helix_episodes.workers import MOST_WORKERS


def parse_time(value: str) -> datetime:
    """A day or a time in ISO 8601; UTC when it names no zone.

    >>> parse_time("2026-11-01").isoformat()
    '2026-11-01T00:00:00+00:00'
    """
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        problem = f"{value!r} is not an ISO 8601 date or time, such as 2026-11-01 or 2026-11-01T08:30Z"
        raise click.BadParameter(problem) from None
    # Times at the ends of the calendar have no equivalent in UTC, and nothing was logged then.
    earliest, latest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return min(max(at if at.tzinfo else at.replace(tzinfo=UTC), earliest), latest)


class NonEmptyPath(click.Path):
    """A path that is not empty: an empty one comes of a variable that is not set, and must not mean this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  (click's signature)
        """The path."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class BeginningOf(click.Choice[str]):
    """One of several words, or the beginning of one of them alone: ``claude`` for ``claude-code``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ANN401  (as above)
        """The whole word."""
        begun = [word for word in self.choices if word.startswith(str(value).casefold())]
        return super().convert(begun[0] if len(begun) == 1 and value else value, param, ctx)


class OutputPath(NonEmptyPath):
    """Where an answer is to be written; with ``dir_okay=False`` into a file.

    ``-`` would be a file of that name, which nobody means. A slash at the end asks for a folder, and would be lost on
    the way to a path.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  (as above)
        """The path."""
        if value == "-":
            self.fail("- is not stdout here; name a file (./- if it is to be called so)", param, ctx)
        if not self.dir_okay and str(value).endswith(("/", os.sep)):
            self.fail(f"{value} is the name of a folder; name a file in it", param, ctx)
        return super().convert(value, param, ctx)


#: A file or a folder that is named, and a file that is written.
any_path, output_file = NonEmptyPath(path_type=Path), OutputPath(path_type=Path, dir_okay=False)


since_option = click.option(
    "--since",
    type=parse_time,
    metavar="TIME",
    help="Only from this day or time on (ISO 8601; UTC when it names no zone).",
)


def _workers(_: click.Context, __: click.Parameter, value: int | None) -> int | None:
    """What was asked for, or what the user's configuration says."""
    if value is not None:
        return value
    from helix_graph.project import read_table, user_configuration
    from helix_graph.sync_stamp import SyncSettings

    return read_table(user_configuration(), "sync", SyncSettings).workers


workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1, max=MOST_WORKERS),
    callback=_workers,
    metavar="N",
    help="Use at most N processes (default: one for each core).",
)


class RegularFile(click.File):
    """A file that ends: what else a path may lead to (a named pipe, a device) would be waited for without end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  (click's own)
        """The opened file.

        Raises:
            click.BadParameter: Something else is there.
        """
        if isinstance(value, str) and value != "-" and (problem := irregularity(value, follow=True)):
            self.fail(f"{value} cannot be read: {problem}", param, ctx)
        return super().convert(value, param, ctx)


def json_object(file: TextIO, *, hint: str) -> dict[str, Any]:
    """The JSON object in a file."""
    import orjson

    try:
        found = orjson.loads(file.read())
    except (orjson.JSONDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"no JSON: {error}", param_hint=hint) from None
    if not isinstance(found, dict):
        raise click.BadParameter("must be a JSON object", param_hint=hint)
    return found


def names(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Names: a JSON list, as in the seeds, or with commas between them; a default is taken as it is.

    Raises:
        click.BadParameter: It begins like a JSON list and is not a list of strings.

    >>> names('["one", "two"]') == names("one, two,") == ("one", "two")
    True
    """
    if isinstance(value, str) and not value.strip().startswith("["):
        return tuple(part for part in positional_names(value) if part)
    return positional_names(value)


def positional_names(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """As `names`, for names that belong to something else by their position: an empty position stays.

    >>> positional_names("one,,three")
    ('one', '', 'three')
    """
    import orjson

    if isinstance(value, tuple):
        return value
    if not value.strip().startswith("["):
        return tuple(part.strip() for part in value.split(","))
    try:
        found = orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise click.BadParameter(f"no JSON: {error}") from None
    if not all(isinstance(one, str) for one in found):
        raise click.BadParameter("must be a list of texts")
    return tuple(found)


_MOST = 50
#: What bash would take apart or replace in a word.
_SPECIAL = re.compile(r"([^\w@%+=:,./-])")


def session_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001  (click's signature)
    """``last``, and the newest sessions whose id begins so, with their tasks."""
    from helix_cli.app import open_memory

    try:
        newest = open_memory().episodes.list(max_results=_MOST)
    except HelixGraphError:
        return []
    sessions = [CompletionItem(one.session, help=clean(one.task[:60])) for one in newest]
    return [one for one in (CompletionItem("last"), *sessions) if one.value.startswith(incomplete)]


def issue_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001  (as above)
    """The ids of issues that begin so, with their titles."""
    from helix_cli.app import open_memory

    try:
        issues = open_memory().issues.list(limit=_MOST, every=True).issues
    except HelixGraphError:
        return []
    return [
        CompletionItem(one.id[:8], help=clean(one.title[:60]))
        for one in issues
        if one.id and one.id.startswith(incomplete)
    ]


def label_texts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001  (as above)
    """The commonest labels that begin so."""
    from helix_cli.app import open_memory

    begin = incomplete.replace("\\", "").strip("'\"").casefold()
    try:
        labels = open_memory().graph.labels(limit=1000).labels
    except HelixGraphError:
        return []
    texts = [one.label for one in labels]
    texts += [name for text in texts if (name := text.partition(" fails: ")[2])]  # what failed is asked for by its name
    found = [clean(one) for one in dict.fromkeys(texts) if one.casefold().startswith(begin)][:_MOST]
    bash = os.environ.get("_HELIX_GRAPH_COMPLETE", "").startswith("bash")
    # Click's script for bash reads the answer with ``read``, which takes one backslash off; the other shells quote.
    return [CompletionItem(_SPECIAL.sub(r"\\\\\1", one) if bash else one) for one in found]
