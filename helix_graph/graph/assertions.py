"""Assertions: nodes, edges, patterns, corrections and words on issues that people add by hand, one JSON file each.

Of the same form are outcomes that later sessions revise (`revise`), so that whatever reads episodes applies them.

Their files are truth, like episodes. A file's name follows from its content, so two machines give the same assertion
the same name. Values are validated and secrets removed before anything is written.

Every assertion of a pattern's name is one use of it; the same name in any case is the same pattern. Its trigger,
action and description are those of the first assertion, its rate is the mean of the asserted rates in exact integers.
A pattern without any rate says 1.0, the original's default, and is not ``measured``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, get_args

import msgspec

from helix_episodes.corrections import (
    Correction,
    Dated,
    DecisionCorrection,
    LinkCorrection,
    OutcomeCorrection,
    OutcomeRevision,
)
from helix_episodes.errors import InvalidArgument
from helix_episodes.model import EdgeType, sortable_time
from helix_episodes.msgspec_types import ready
from helix_episodes.safe_files import read_own, remove_file, write_atomically
from helix_episodes.store import without_value
from helix_graph.errors import NO_TEXT, InvalidAssertion, NodeNotFound
from helix_graph.graph.adjacency import Adjacency
from helix_graph.graph.model import NodeType, node_id, short_hash
from helix_graph.trust import shared_episodes, tracked_by_git
from helix_graph.validation import as_choice, as_fraction, as_line, as_text

if TYPE_CHECKING:
    import sqlite3


FOLDER = "assertions"
ASSERTION_SUFFIX = ".json"
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


class IssueAssertion(Dated, frozen=True, kw_only=True, tag="issue"):
    """What a person says of an issue or a group, by its id; of several statements the latest holds."""

    issue: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")]
    state: Literal["muted", "resolved", "open"]
    reason: str = ""


Assertion: TypeAlias = NodeAssertion | EdgeAssertion | PatternAssertion | IssueAssertion | Correction
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
    return short_hash("a", msgspec.json.encode(known_by))


def encode_assertion(assertion: Assertion) -> bytes:
    """The bytes of an assertion's file."""
    return msgspec.json.format(msgspec.json.encode(assertion), indent=2) + b"\n"


def decode_assertion(data: bytes, *, path: Path) -> Assertion:
    """An assertion from the bytes of its file.

    Raises:
        InvalidAssertion: They are none; the message names the field.
    """
    try:
        assertion: Assertion = msgspec.json.decode(data, type=ready(Assertion))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidAssertion(path=path, problem=without_value(str(error))) from error
    if not sortable_time(assertion.asserted_at):
        raise InvalidAssertion(path=path, problem="asserted_at is no time")
    return assertion


def oldest_first(assertions: Iterable[tuple[str, _One]]) -> list[tuple[str, _One]]:
    """Assertions with their names in the order they were made; equal times are ordered by name."""
    return sorted(assertions, key=lambda each: (sortable_time(each[1].asserted_at), each[1].asserted_at, each[0]))


class AssertionStore:
    """The assertions of one memory, as files in ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, name: str) -> Path:
        """The file of an assertion."""
        return self.folder / f"{name}{ASSERTION_SUFFIX}"

    def add(self, assertion: Assertion) -> str:
        """Saves an assertion and returns its name; the same one again changes nothing."""
        path = self.path_of(name_of(assertion))
        if not path.exists():
            write_atomically(path, encode_assertion(assertion))
        return path.stem

    def files(self) -> list[Path]:
        """The files, by name."""
        return sorted(self.folder.glob(f"*{ASSERTION_SUFFIX}")) if self.folder.is_dir() else []

    def scan(self) -> Iterator[tuple[Path, Assertion | InvalidAssertion]]:
        """Every file with its assertion, or with the error that says why it counts for nothing."""
        found: list[tuple[Path, Assertion | InvalidAssertion]] = []
        for path in self.files():
            try:
                found.append((path, read_assertion(path)))
            except FileNotFoundError:  # removed since the folder was listed
                continue
            except InvalidAssertion as error:
                found.append((path, error))
        about = {path.stem: episode_of(one) for path, one in found if not isinstance(one, InvalidAssertion)}
        foreign = words_of_others(self.folder, about)
        for path, one in found:
            yield path, InvalidAssertion(path=path, problem=WORD_OF_OTHERS) if path.stem in foreign else one

    def naming(self, sessions: Iterable[str]) -> list[Path]:
        """The files of which a text is a session's id, begins with it before a mark, or has it as a word."""
        from helix_episodes.verification import texts_of

        ids = {name for session in sessions for name in (session, f"episode-{session}")}
        return [
            path
            for path in self.files()
            if any(
                ids & {text, text.partition("#")[0], *(word.strip(".,;:()") for word in text.split())}
                for text in texts_of(path)
            )
        ]

    def corrections(self) -> dict[str, list[Correction]]:
        """The corrections of each episode, the oldest first."""
        return corrections_by_episode(self.scan())


#: What is wrong with a file that `words_of_others` names.
WORD_OF_OTHERS = (
    "git tracks it, but not the session that it is about, which is your own: a commit does not judge that; if you wrote"
    " it yourself, run git rm --cached on it"
)


def episode_of(one: Assertion) -> str | None:
    """The episode that an assertion changes or adds to, if it does."""
    return one.episode if isinstance(one, (*CORRECTIONS, NodeAssertion)) else None


def words_of_others(folder: Path, about: Mapping[str, str | None]) -> frozenset[str]:
    """Those of the files of these names that came with a commit and are ``about`` sessions that this user alone has."""
    if not any(about.values()):
        return frozenset()
    root = folder.parent.parent
    try:
        tracked = tracked_by_git(root, [f"{folder.parent.name}/{folder.name}/"])
    except (OSError, ValueError, IndexError):  # then no session counts as this user's alone, see `shared_episodes`
        return frozenset()
    named = {name: episode for one in tracked if (episode := about.get(name := Path(one).stem))}
    own = set(named.values()) - shared_episodes(root, named.values())
    here = {one for one in own if (root / "episodes" / f"{one}.json").exists()}
    return frozenset(name for name, episode in named.items() if episode in here)


def distinct(found: Iterable[tuple[str, _One]]) -> list[tuple[str, _One]]:
    """Each assertion once, under its identity, of what is in files of these names; sorted by identity.

    Of copies that differ in their time (nodes of an episode) the one in the file of the right name holds.
    """
    named = ((name_of(one), name, one) for name, one in found)
    unique: dict[str, _One] = {}
    for identity, _, one in sorted(named, key=lambda each: (each[1] != each[0], each[1])):
        unique.setdefault(identity, one)
    return sorted(unique.items(), key=lambda each: each[0])


def corrections_by_episode(found: Iterable[tuple[Path, object]]) -> dict[str, list[Correction]]:
    """The corrections among what a scan found, by episode, the oldest first."""
    by_episode: dict[str, list[Correction]] = {}
    corrections = distinct((path.stem, one) for path, one in found if isinstance(one, CORRECTIONS))
    for _, one in oldest_first(corrections):
        by_episode.setdefault(one.episode, []).append(one)
    return by_episode


def patterns_among(found: Iterable[tuple[str, object]]) -> list[PatternAssertion]:
    """The patterns among assertions in files of these names, the oldest first."""
    patterns = distinct((name, one) for name, one in found if isinstance(one, PatternAssertion))
    return [one for _, one in oldest_first(patterns)]


def pattern_assertions(connection: sqlite3.Connection) -> list[PatternAssertion]:
    """The patterns that people have added, the oldest first."""
    rows = connection.execute("SELECT name, body FROM assertion WHERE unit = '' AND problem IS NULL")
    return patterns_among((name, decode_assertion(body, path=Path(FOLDER))) for name, body in rows.fetchall())


def read_assertion(path: Path) -> Assertion:
    """The assertion in a file."""
    try:
        return decode_assertion(read_own(path), path=path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InvalidAssertion(path=path, problem=error.strerror or str(error)) from error


NODE_TYPES: tuple[NodeType, ...] = get_args(NodeType)
EDGE_TYPES: tuple[EdgeType, ...] = get_args(EdgeType)
EPISODE_PREFIX = "episode-"


def node_assertion(
    connection: sqlite3.Connection,
    *,
    type: str,  # noqa: A002  (the original's word)
    label: str,
    episode: str | None,
) -> NodeAssertion:
    """A node to assert. A label that the graph has in another case is the same label.

    Raises:
        InvalidArgument: The label or the episode is empty. The type is none of the five. The label contains a control
            character.
    """
    kind: NodeType = as_choice("type", type, NODE_TYPES)
    plain = as_line("label", label)
    named = None if episode is None else episode_id(episode)
    rows = connection.execute(
        "SELECT label FROM node WHERE type = ? AND folded = ? ORDER BY label = ? DESC, label",
        (kind, plain.casefold(), plain),
    )
    return NodeAssertion(type=kind, label=next((known for (known,) in rows), plain), episode=named, asserted_at=now())


def edge_assertion(
    connection: sqlite3.Connection,
    *,
    source: str,
    target: str,
    type: str,  # noqa: A002  (as above)
    weight: float,
) -> EdgeAssertion:
    """An edge to assert between two nodes, each named by its id or its whole label.

    Raises:
        InvalidArgument: The type is none of the four. The weight is not between 0 and 1. Both ends are one node; one of
            the labels contains a control character.
    """
    kind: EdgeType = as_choice("type", type, EDGE_TYPES)
    sure = as_fraction("weight", weight)
    start = _node("source_id", connection, as_line("source_id", source))
    end = _node("target_id", connection, as_line("target_id", target))
    if start == end:
        raise InvalidArgument(
            None, f"source and target are both {start.label!r}; an edge leads from one node to another"
        )
    return EdgeAssertion(source=start, target=end, type=kind, weight=sure, asserted_at=now())


def pattern_assertion(
    *, name: str, trigger: str, action: str, description: str, success_rate: float | None
) -> PatternAssertion:
    """A pattern to assert.

    Raises:
        InvalidArgument: Name, trigger or action is empty. The success rate is not between 0 and 1. Trigger and action
            are the same text; one of the texts contains a control character.
    """
    situation, answer = as_line("trigger", trigger), as_line("action", action)
    if situation.casefold() == answer.casefold():
        raise InvalidArgument(None, f"trigger and action are both {situation!r}; say what to do when it happens")
    return PatternAssertion(
        name=as_line("name", name),
        trigger=situation,
        action=answer,
        description=" ".join(as_text("description", description).split()),
        success_rate=None if success_rate is None else as_fraction("success_rate", success_rate),
        asserted_at=now(),
    )


def edge_row(connection: sqlite3.Connection, edge: EdgeAssertion) -> dict[str, Any]:
    """An edge with the original's keys, then ours."""
    ends = [node_id(one.type, one.label) for one in (edge.source, edge.target)]
    source, target = (connection.execute("SELECT number FROM node WHERE id = ?", (one,)).fetchone()[0] for one in ends)
    known = Adjacency(connection).edge_summary((source, target, edge.type))
    return {
        "source": ends[0],
        "target": ends[1],
        "type": edge.type,
        "weight": known.weight,
        "evidence_count": known.evidence_count,
        "reasons": list(known.reasons),
        "status": "asserted",
    }


def episode_id(name: str) -> str:
    """An episode's id from it or from its session's.

    Raises:
        InvalidArgument: It is empty.

    >>> episode_id("2026-01-01-session-126")
    'episode-2026-01-01-session-126'
    """
    from helix_episodes.store import check_session_id

    session = as_line("episode", name).removeprefix(EPISODE_PREFIX)
    if not session:
        raise InvalidArgument("episode", NO_TEXT)
    return EPISODE_PREFIX + check_session_id(session)


def _node(option: str, connection: sqlite3.Connection, name: str) -> NodeName:
    """The node of an id or of a whole label; a label in another case serves when none has it as written."""
    rows = connection.execute(
        "SELECT id, type, label FROM node WHERE id = ?1 OR folded = ?2 ORDER BY type, label", (name, name.casefold())
    ).fetchall()
    exact = [row for row in rows if name in {row[0], row[2]}] or rows
    if not exact:
        problem = f"Node not found: {name}; give a node's id or whole label, or `helix-graph node add` it"
        raise NodeNotFound(problem, parameter=option)
    if len(exact) > 1:
        ids = ", ".join(f"{row[0]} ({row[1]})" for row in exact)
        raise NodeNotFound(f"{name!r} is the label of several nodes; give an id: {ids}", parameter=option)
    return msgspec.convert({"type": exact[0][1], "label": exact[0][2]}, ready(NodeName))


def revise(connection: sqlite3.Connection, folder: Path) -> bool:
    """Writes and removes revisions until they are those that the episodes give; says whether any file changed."""
    wanted = {name_of(one): one for one in _revisions(connection)}
    known = (
        "SELECT name FROM assertion WHERE problem IS NULL AND json_extract(CAST(body AS TEXT), '$.kind') = 'revision'"
    )
    there = {name for (name,) in connection.execute(known)}
    store = AssertionStore(folder)
    for name in sorted(wanted.keys() - there):
        store.add(wanted[name])
    for name in sorted(there - wanted.keys()):
        remove_file(folder / f"{name}{ASSERTION_SUFFIX}")
    return wanted.keys() != there


def _revisions(connection: sqlite3.Connection) -> Iterator[OutcomeRevision]:
    """What sessions show about earlier ones. graph.db has of each what may matter to another.

    Failures at the start of a session are compared with the session before it in the project that worked; only where
    there are such failures are the two read. Reverts are compared with all commits, where there is one.
    """
    # Loads the grammars of checks, which only a compile has read by then.
    from helix_episodes.later_evidence import EpisodeSignals, contradiction, revert_revisions

    pairs = connection.execute(
        "SELECT one.body, later.body FROM ("
        " SELECT episode, early, lag(episode) OVER (PARTITION BY project ORDER BY begin, session) AS before"
        " FROM telling WHERE worked AND project IS NOT NULL) AS pair"
        " JOIN telling one ON one.episode = pair.before JOIN telling later ON later.episode = pair.episode"
        " WHERE pair.early AND one.body IS NOT NULL ORDER BY pair.episode"
    )
    decoder = msgspec.msgpack.Decoder(EpisodeSignals)
    for one, later in pairs:
        if found := contradiction(decoder.decode(one), decoder.decode(later)):
            yield found
    if connection.execute("SELECT 1 FROM telling WHERE commits AND reverts LIMIT 1").fetchone():
        bodies = connection.execute("SELECT body FROM telling WHERE commits ORDER BY begin, session")
        yield from revert_revisions([decoder.decode(body) for (body,) in bodies])
