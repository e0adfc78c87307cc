"""What a run said, kept in a file of hashes with the texts in archives beside it, and how two runs are compared."""

from __future__ import annotations

import difflib
import json
import re
import zipfile
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: Longer lines are broken before they are compared for reading, and cut when they are printed.
_LONG, _PRINTED = 400, 240
_BREAK = re.compile(r"(?<=[,>;}])")
#: Two texts with more lines than this are not aligned: only their first differing lines are shown.
_ALIGNED = 20_000


class Difference(NamedTuple):
    """Something that is not as it was recorded; a text is None where nothing has the name."""

    name: str
    before: str | None
    after: str | None


class Record:
    """A record at a path; the archives are in the folder of its name that ends with ``.d``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folder = path.with_suffix(".d")
        self.sessions = self.folder / "sessions.tar.gz"

    def write(self, said: Mapping[str, Mapping[str, str]], about: Mapping[str, str]) -> None:
        """Replaces the record, or in it those units that are said."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for unit, texts in said.items():
            with zipfile.ZipFile(self._archive(unit), "w", zipfile.ZIP_DEFLATED, compresslevel=3) as archive:
                for name, text in texts.items():
                    archive.writestr(name.replace("/", "\u2215"), text)
        hashes = {unit: {name: _hash(text) for name, text in texts.items()} for unit, texts in said.items()}
        units = self._units() if self.path.exists() else {}
        content = {**about, "units": dict(sorted({**units, **hashes}.items()))}
        self.path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def differences(self, said: Mapping[str, Mapping[str, str]]) -> Iterator[Difference]:
        """What is not as recorded, in the order of the run."""
        units = self._units()
        for unit, texts in said.items():
            known = units.get(unit, {})
            changed = [name for name in {**texts, **known} if known.get(name) != _hash_or_none(texts.get(name))]
            if not changed:
                continue
            with zipfile.ZipFile(self._archive(unit)) as archive:
                for name in changed:
                    before = archive.read(name.replace("/", "\u2215")).decode() if name in known else None
                    yield Difference(f"{unit}/{name}", before, texts.get(name))

    def _units(self) -> dict[str, dict[str, str]]:
        units: dict[str, dict[str, str]] = json.loads(self.path.read_text(encoding="utf-8"))["units"]
        return units

    def _archive(self, unit: str) -> Path:
        return self.folder / f"{unit.replace('/', '-')}.zip"


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _hash_or_none(text: str | None) -> str | None:
    return None if text is None else _hash(text)


def readable(text: str | None) -> list[str]:
    """The lines of a text, long ones broken where JSON or HTML can be."""
    if text is None:
        return []
    lines: list[str] = []
    for line in text.splitlines():
        lines += _BREAK.split(line) if len(line) > _LONG else [line]
    return lines


def told(difference: Difference, most: int) -> Iterator[str]:
    """The differing lines, at most so many."""
    if difference.before is None or difference.after is None:
        missing = difference.before is not None
        yield "  - is no longer there" if missing else "  + was not there before"
        if most <= _FEW:
            return
    before, after = readable(difference.before), readable(difference.after)
    if max(len(before), len(after)) > _ALIGNED:
        lines = [
            f"{sign}{line}"
            for pair in zip(before, after, strict=False)
            if pair[0] != pair[1]
            for sign, line in zip("-+", pair, strict=True)
        ]
    else:
        compared = difflib.unified_diff(before, after, lineterm="", n=0)
        lines = [line for line in compared if not line.startswith(("---", "+++", "@@"))]
    for line in lines[:most]:
        yield f"  {line[:_PRINTED]}{'…' if len(line) > _PRINTED else ''}"
    if len(lines) > most:
        yield f"  ({len(lines) - most} more lines)"


#: Lines that are printed of a difference unless more are asked for.
_FEW = 6
