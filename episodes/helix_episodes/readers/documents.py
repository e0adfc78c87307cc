"""Logs that are one JSON document instead of a record a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.jsonl import read_document
from helix_episodes.readers.located import Node, locate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from helix_episodes.readers.dialogue import Dialogue


def read_located(path: Path) -> Node:
    """The document, each of whose values knows its line.

    Raises:
        LogNotReadable: the file cannot be opened or read, is larger than a document is, or is no complete JSON.
    """
    try:
        text = read_document(path).decode("utf-8-sig", "replace")
    except OSError as error:
        raise LogNotReadable(path=path, problem=error.strerror or str(error)) from error
    try:
        return locate(text)
    except ValueError as error:
        raise LogNotReadable(path=path, problem=f"it is no complete JSON ({error})") from error


def place_steps(dialogue: Dialogue, node: Node, *, since: int) -> None:
    """Gives the steps from ``since`` on, which were read out of ``node``, the lines on which their words stand."""
    texts = list(_texts(node))
    for position, step in enumerate(dialogue.steps[since:], since):
        said = (step.text or _quotable(step.arguments)).strip().partition("\n")[0]
        line = next((one.line for one in texts if said and said in one.value), step.source.line)
        dialogue.change(position, source=msgspec.structs.replace(step.source, line=line))


def _quotable(arguments: Mapping[str, Any]) -> str:
    """What evidence of a call quotes: the text that it wrote, else the first that it was given."""
    given = [arguments.get("new"), *arguments.values()]
    return next((value for value in given if isinstance(value, str) and value), "")


def _texts(node: Node) -> Iterator[Node]:
    """The texts in a value, in their order, without recursion: a document may be deep."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one.value, str):
            yield one
        elif isinstance(one.value, dict):
            waiting.extend(reversed(one.value.values()))
        elif isinstance(one.value, list):
            waiting.extend(reversed(one.value))
