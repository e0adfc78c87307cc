"""What all commands of ``insight`` share: the memory they work on, ``--json``, and the log line of ``--verbose``."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from helix_cli.memory import open_insights
from helix_cli.options import json_option
from helix_cli.output import show

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[..., Any]


class TextList(click.ParamType):  # type: ignore[type-arg]  # generic in newer stubs alone
    """A list of texts as JSON, as the seeds have it: ``'["a", "b"]'``."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[str]:  # noqa: ANN401  (click's signature)
        """The texts."""
        if isinstance(value, list):
            return value
        import msgspec  # noqa: PLC0415  (most commands take no list)

        try:
            return msgspec.json.decode(value, type=list[str])
        except (msgspec.DecodeError, UnicodeEncodeError):
            self.fail(f'{value!r} is no JSON list of texts, such as \'["one", "two"]\'', param, ctx)


def insight_command(name: str, *, render: Callable[[Any], None]) -> Callable[[Work], click.Command]:
    """Makes a command of a function from insights and options to an answer, which ``render`` prints."""

    def decorate(work: Work) -> click.Command:
        @wraps(work)
        def run(*, as_json: bool, verbose: bool, **options: object) -> None:
            answer = work(open_insights(), **options)
            show(answer, as_json=as_json, render=render)
            if verbose or (click.get_current_context().obj or {}).get("verbose"):
                _log(name, options, answer)

        verbose = click.option("--verbose", is_flag=True, help="Log the call on stderr as one line of JSON.")
        return click.command(name)(json_option(verbose(run)))

    return decorate


def _log(command: str, options: dict[str, object], answer: object) -> None:
    import msgspec  # noqa: PLC0415  (only a verbose call needs it here)

    size = len(answer) if isinstance(answer, list | dict | str) else 1
    line = {
        "timestamp": datetime.now(UTC).isoformat(),
        "command": command,
        "args": options,
        "result_type": "list" if isinstance(answer, list) else type(answer).__name__,
        "result_size": size,
    }
    click.echo(msgspec.json.encode(line, enc_hook=str).decode(), err=True)
