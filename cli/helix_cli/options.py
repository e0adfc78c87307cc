"""Options that more than one command takes."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

import click


def moment(value: str) -> datetime:
    """A day or a time in ISO 8601; UTC when it names no zone.

    Raises:
        click.BadParameter: It is neither.

    >>> moment("2026-11-01").isoformat()
    '2026-11-01T00:00:00+00:00'
    """
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        problem = f"{value!r} is no ISO 8601 day or time, such as 2026-11-01 or 2026-11-01T08:30Z"
        raise click.BadParameter(problem) from None
    # Times at the ends of the calendar have no equivalent in UTC, and nothing was logged then.
    earliest, latest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return min(max(at if at.tzinfo else at.replace(tzinfo=UTC), earliest), latest)


class GivenPath(click.Path):
    """A path that was given: an empty one comes of a variable that is not set, and must not mean this folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:  # noqa: ANN401  (click's signature)
        """The path."""
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class OutputPath(GivenPath):
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


since_option = click.option(
    "--since", type=moment, metavar="TIME", help="Only from this day or time on (ISO 8601; UTC when it names no zone)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
