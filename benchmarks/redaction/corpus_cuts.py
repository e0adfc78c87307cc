"""What redaction cuts in real logs, each different cut once with what is around it, and how long that takes.

Home folders are left out. The values are shown: the corpora are public, and whether a cut was right cannot be judged
from its place alone. The last line of each folder has the number of cuts, of characters and the processor time.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from helix_episodes.redaction import HOME, redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CORPORA = Path(__file__).resolve().parents[3] / "shared" / "corpora"
FOLDERS = (CORPORA / "claude-code", CORPORA / "agent-sessions")
ENDINGS = {".jsonl", ".json", ".md", ".traj", ".txt", ".yaml"}
AROUND, SHOWN = 60, 90


def list_cuts(folder: Path) -> None:
    counts, spent, characters = Counter[tuple[str, str]](), 0.0, 0
    for path in sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file()):
        for number, text in texts_of(path):
            began = time.process_time()
            cuts = redact(text).cuts
            characters += len(text)
            spent += time.process_time() - began
            for cut in cuts:
                if cut.kind != HOME:
                    end = cut.start + cut.length
                    value = text[cut.start : end]
                    counts[cut.kind, value] += 1
                    if counts[cut.kind, value] == 1:
                        before, after = text[max(0, cut.start - AROUND) : cut.start], text[end : end + AROUND]
                        print(
                            f"{path.relative_to(folder)}:{number} {cut.kind} {before!r} >>{value[:SHOWN]!r}<< {after!r}"
                        )
    print(
        f"{folder.name}: {sum(counts.values())} cuts, {len(counts)} different; "
        f"{spent:.1f} s of processor time for {characters / 1e6:.1f} million characters"
    )


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every text in a log with its line; of one JSON document, line 1; of anything else, its lines."""
    data = path.read_bytes()
    lines = data.split(b"\n") if path.suffix != ".json" else [data]
    for number, line in enumerate(lines, 1):
        try:
            yield from ((number, text) for text in strings(orjson.loads(line)))
        except orjson.JSONDecodeError:
            yield number, line.decode("utf-8", "replace")


def strings(value: Any) -> Iterable[str]:  # noqa: ANN401  (JSON)
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)
