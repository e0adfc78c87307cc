"""Options that more than one command takes."""

from __future__ import annotations

from datetime import UTC, datetime

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
    return at if at.tzinfo else at.replace(tzinfo=UTC)


since_option = click.option(
    "--since", type=moment, metavar="TIME", help="Only from this day or time on (ISO 8601; UTC when it names no zone)."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
