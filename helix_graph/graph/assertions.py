"""Assertions: what people add by hand, one file each in ``causality/assertions``; the second truth beside the episodes.

====================  =================================================================================================
``kind``              what it says
====================  =================================================================================================
``node``              there is such a node; with an ``episode``, that this episode mentions it
``edge``              one node leads to another, with a weight from 0 to 1
``pattern``           in this situation do that; perhaps with a success rate from 0 to 1
``outcome``           an episode really came out so (a correction, as the next three)
``revision``          the same, shown by a later session; derived: compile writes and removes these
``decision``          a decision of an episode was another one, or none
``link``              two parts of an episode belong together, or don't
====================  =================================================================================================

Nodes are named by type and label and never by id: ids follow from labels, and labels from a grammar that changes. An
assertion is known by its content and its time, so that a repeated call counts again; a node of an episode by content
and episode, so that it does not. Its file is called by that identity; a copy under another name is the same assertion,
and counts no second time. Deleting the file and compiling takes its share out of the graph.

>>> node = NodeAssertion(type="decision", label="Route", episode="episode-126", asserted_at="2026-01-01T17:05Z")
>>> name_of(node) == name_of(msgspec.structs.replace(node, asserted_at="2026-01-02T17:05Z"))
True
"""

from __future__ import annotations

import base64
import hashlib
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import msgspec

from helix_episodes.corrections import (
    Correction,
    Dated,
    DecisionCorrection,
    LinkCorrection,
    OutcomeCorrection,
    OutcomeRevision,
)
from helix_episodes.files import read_regular, write_atomically
from helix_episodes.model import EdgeType  # noqa: TC001  (a field of a value)
from helix_graph.errors import InvalidAssertion
from helix_graph.graph.model import NodeType, moment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FOLDER = "assertions"
SUFFIX = ".json"
_NANOSECONDS = 1_000_000_000

_Text: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
_Share: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]


class NodeName(msgspec.Struct, frozen=True, kw_only=True):
    """A node as people name it."""

    type: NodeType
    label: _Text


class NodeAssertion(Dated, frozen=True, kw_only=True, tag="node"):
    """There is such a node; ``episode`` is the one that mentions it, if any."""

    type: NodeType
    label: _Text
    episode: str | None = None


class EdgeAssertion(Dated, frozen=True, kw_only=True, tag="edge"):
    """One node leads to another. ``weight`` is how sure one is, from 0 to 1."""

    source: NodeName
    target: NodeName
    type: EdgeType
    weight: _Share = 0.5


class PatternAssertion(Dated, frozen=True, kw_only=True, tag="pattern"):
    """In the situation ``trigger`` do ``action``. ``success_rate`` is None when nobody has measured it."""

    name: _Text
    trigger: _Text
    action: _Text
    description: str = ""
    success_rate: _Share | None = None


Assertion: TypeAlias = NodeAssertion | EdgeAssertion | PatternAssertion | Correction
#: The kinds that change what an episode says, rather than adding to the graph beside it.
CORRECTIONS = (OutcomeCorrection, OutcomeRevision, DecisionCorrection, LinkCorrection)
_One = TypeVar("_One", bound=Dated)


def now() -> str:
    """The time of a person's act, to the nanosecond, so that two acts in a row are never one.

    >>> now().endswith("Z")
    True
    """
    seconds, fraction = divmod(time.time_ns(), _NANOSECONDS)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{fraction:09}Z"


def name_of(assertion: Dated) -> str:
    """The identity of an assertion: a hash of its content and its time, or of its content and its episode."""
    known_by = assertion
    if isinstance(assertion, NodeAssertion) and assertion.episode is not None:
        known_by = msgspec.structs.replace(assertion, asserted_at="")
    digest = hashlib.blake2b(msgspec.json.encode(known_by), digest_size=10).digest()
    return "a" + base64.b32encode(digest).decode().lower()


def encode_assertion(assertion: Assertion) -> bytes:
    """The bytes of an assertion's file."""
    return msgspec.json.format(msgspec.json.encode(assertion), indent=2) + b"\n"


def decode_assertion(data: bytes, *, path: Path) -> Assertion:
    """An assertion from the bytes of its file.

    Raises:
        InvalidAssertion: They are none; the message names the field.
    """
    try:
        assertion: Assertion = msgspec.json.decode(data, type=Assertion)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidAssertion(path=path, problem=str(error)) from error
    if not moment(assertion.asserted_at):
        raise InvalidAssertion(path=path, problem=f"asserted_at is {assertion.asserted_at!r}, which is no time")
    return assertion


def oldest_first(assertions: Iterable[tuple[str, _One]]) -> list[tuple[str, _One]]:
    """Assertions with their names in the order they were made; equal times are ordered by name."""
    return sorted(assertions, key=lambda each: (moment(each[1].asserted_at), each[1].asserted_at, each[0]))


class AssertionStore:
    """The assertions of one memory, as files in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, name: str) -> Path:
        """The file of an assertion."""
        return self.folder / f"{name}{SUFFIX}"

    def add(self, assertion: Assertion) -> str:
        """Keeps an assertion and returns its name; the same one again changes nothing.

        Raises:
            WriteFailed: The disk is full or the folder read-only.
        """
        path = self.path_of(name_of(assertion))
        if not path.exists():
            write_atomically(path, encode_assertion(assertion))
        return path.stem

    def files(self) -> list[Path]:
        """The files, by name."""
        return sorted(self.folder.glob(f"*{SUFFIX}")) if self.folder.is_dir() else []

    def scan(self) -> Iterator[tuple[Path, Assertion | InvalidAssertion]]:
        """Every file with its assertion, or with the error that says what is wrong with it."""
        for path in self.files():
            try:
                yield path, read_assertion(path)
            except FileNotFoundError:  # removed since the folder was listed
                continue
            except InvalidAssertion as error:
                yield path, error

    def corrections(self) -> dict[str, list[Correction]]:
        """The corrections of each episode, the oldest first."""
        return corrections_by_episode(self.scan())

    def patterns(self) -> list[tuple[str, PatternAssertion]]:
        """The patterns, the oldest first."""
        return patterns_among(self.scan())


def distinct(found: Iterable[tuple[str, _One]]) -> list[tuple[str, _One]]:
    """Each assertion once, under its identity, of what stands in files of these names; sorted by identity.

    Of copies that differ in their time (nodes of an episode) the one in the file of the right name holds.
    """
    named = ((name_of(one), name, one) for name, one in found)
    kept: dict[str, _One] = {}
    for identity, _, one in sorted(named, key=lambda each: (each[1] != each[0], each[1])):
        kept.setdefault(identity, one)
    return sorted(kept.items(), key=lambda each: each[0])


def corrections_by_episode(found: Iterable[tuple[Path, object]]) -> dict[str, list[Correction]]:
    """The corrections among what a scan found, by episode, the oldest first."""
    by_episode: dict[str, list[Correction]] = {}
    told = distinct((path.stem, one) for path, one in found if isinstance(one, CORRECTIONS))
    for _, one in oldest_first(told):
        by_episode.setdefault(one.episode, []).append(one)
    return by_episode


def patterns_among(found: Iterable[tuple[Path, object]]) -> list[tuple[str, PatternAssertion]]:
    """The patterns among what a scan found, the oldest first."""
    return oldest_first(distinct((path.stem, one) for path, one in found if isinstance(one, PatternAssertion)))


def read_assertion(path: Path) -> Assertion:
    """The assertion in a file.

    Raises:
        FileNotFoundError: It is not there.
        InvalidAssertion: It cannot be read, or holds none.
    """
    try:
        return decode_assertion(read_regular(path), path=path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InvalidAssertion(path=path, problem=error.strerror or str(error)) from error
