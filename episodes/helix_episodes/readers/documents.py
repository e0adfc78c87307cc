"""Logs that are one JSON document instead of a record a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.errors import LogNotReadable
from helix_episodes.readers.jsonl import open_log
from helix_episodes.readers.located import Node, locate

if TYPE_CHECKING:
    from pathlib import Path


def read_document(path: Path) -> Node:
    """The document, each of whose values knows its line.

    Raises:
        LogNotReadable: the file cannot be opened or read, or is no complete JSON.
    """
    try:
        with open_log(path) as log:
            text = log.read().decode("utf-8-sig", "replace")
    except OSError as error:
        raise LogNotReadable(path=path, problem=error.strerror or str(error)) from error
    try:
        return locate(text)
    except ValueError as error:
        raise LogNotReadable(path=path, problem=f"it is no complete JSON ({error})") from error
