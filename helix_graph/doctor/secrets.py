"""Secrets: what redaction would cut of a file now, because it has learnt a new kind or the file was edited."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from helix_episodes.files import read_regular, replace_file
from helix_episodes.redaction import redact, redact_text
from helix_episodes.verification import strings_in
from helix_graph.doctor.model import Trouble, trouble

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def secret_troubles(root: Path, path: Path) -> Iterator[Trouble]:
    """What redaction would cut now: it has learnt a new kind, or somebody edited the file."""
    data = data_of(path)
    kinds = Counter(cut.kind for text in _texts(data) for cut in redact(text).cuts)
    if not kinds:
        return
    problem = ", ".join(f"{count} x {kind}" for kind, count in sorted(kinds.items()))
    clean = _cleaned(data)
    yield trouble(
        "secret",
        path.relative_to(root).as_posix(),
        problem,
        "helix-graph doctor --fix cuts them; a secret that was ever shared should be replaced at its service",
        mend=(lambda: replace_file(path, before=data, after=clean)) if clean else None,
    )


def _texts(data: bytes) -> list[str]:
    """The texts of a JSON file, or all of a file that is none."""
    try:
        return list(strings_in(orjson.loads(data)))
    except orjson.JSONDecodeError:
        return [data.decode("utf-8", "replace")]


def _cleaned(data: bytes) -> bytes | None:
    """The file with every text redacted; None of a file that is no JSON."""
    try:
        return orjson.dumps(_redacted(orjson.loads(data)), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None


def _redacted(value: Any) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, dict):
        return {redact_text(key): _redacted(each) for key, each in value.items()}
    return [_redacted(each) for each in value] if isinstance(value, list) else value


def data_of(path: Path) -> bytes:
    """What stands in a file; nothing in one that cannot be read, which is told elsewhere."""
    try:
        return read_regular(path)
    except OSError:
        return b""
