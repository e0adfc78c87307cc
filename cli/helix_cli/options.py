"""Options and parameter types that several commands share: times, paths, lists of names, JSON objects."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import click

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


def joined_words(_: click.Context, __: click.Parameter, words: tuple[str, ...]) -> str | None:
    """The words of a text that was typed without quotation marks; None where there are none."""
    return " ".join(words) if words else None


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
        click.BadParameter: It begins like a JSON list and is none of texts.

    >>> names('["one", "two"]') == names("one, two,") == ("one", "two")
    True
    """
    if isinstance(value, str) and not value.strip().startswith("["):
        return tuple(part for part in positional_names(value) if part)
    return positional_names(value)


def positional_names(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """As `names`, for those that go with something else by their places: an empty place stays one.

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
