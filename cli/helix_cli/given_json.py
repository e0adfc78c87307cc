"""What is given as JSON on the command line or in a file."""

from __future__ import annotations

from typing import Any, TextIO

import click


def json_object(file: TextIO, *, hint: str) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        click.BadParameter: It holds none.
    """
    import orjson  # noqa: PLC0415  (only these commands need it)

    try:
        found = orjson.loads(file.read())
    except (orjson.JSONDecodeError, UnicodeDecodeError) as error:
        raise click.BadParameter(f"no JSON: {error}", param_hint=hint) from None
    if not isinstance(found, dict):
        raise click.BadParameter("must be a JSON object", param_hint=hint)
    return found


class Names(click.ParamType):
    """Names: a JSON list, as in the seeds, or with commas between them."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:  # noqa: ANN401  (click's signature)
        """The names, without empty ones."""
        if isinstance(value, tuple):
            return value
        import orjson  # noqa: PLC0415  (as above)

        text = str(value).strip()
        if not text.startswith("["):
            return tuple(part.strip() for part in text.split(",") if part.strip())
        try:
            found = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            self.fail(f"no JSON: {error}", param, ctx)
        if not all(isinstance(one, str) for one in found):
            self.fail("must be a list of texts", param, ctx)
        return tuple(found)
