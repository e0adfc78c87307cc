"""graph.db as a store: the facts of each episode, and the sums over all of them.

The facts are in ``mention``, ``claim`` and ``repair``, the sums in ``node`` and ``edge``. Where an episode comes or
goes, it is added to the sums of its nodes and edges or taken away. So they are always those of a build from nothing,
at the price of the episodes that changed. The same graph in networkx form is
`helix_graph.graph.networkx_graph.fold`.

Inside the file, episodes and nodes go by number to keep edges narrow. Numbers depend on the order of arrival and never
leave the file: answers are named and sorted by ids and labels.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import msgspec

from helix_graph.database import ANY_OF, DamagedRows, as_list
from helix_graph.graph.episode_rows import EpisodeContent, EpisodeRows, NodeRow
from helix_graph.graph.model import (
    MEASURED_BASES,
    Claim,
    Mention,
)
from helix_graph.graph.observations import unpack_observations
from helix_graph.graph.patterns import patterns_of
from helix_graph.graph.row_checksums import NAMES, PARTS, is_intact, read_digests
from helix_graph.graph.similar_decisions import forget_decisions

if TYPE_CHECKING:
    import sqlite3

    from helix_graph.graph.adjacency import Edge


def updated(connection: sqlite3.Connection) -> str | None:
    """The time of the newest episode or assertion in UTC, or None when none has one."""
    newest = connection.execute(
        "SELECT max(moment) FROM (SELECT moment FROM episode UNION ALL SELECT moment FROM assertion)"
    ).fetchone()[0]
    return newest or None


class GraphChanges:
    """What one transaction takes in and out, summed up until `flush` writes it.

    The sums of nodes, edges and patterns are those of their episodes added up, so an episode that comes or goes changes
    them by its own share. Where the graph was ``empty``, those of edges are computed at the end by whoever makes the
    indexes, and names are listed then: one query over all claims takes a third of the time, one over the indexes of
    names a quarter. Memory is
    bounded: whoever adds many episodes flushes them in parts.
    """

    def __init__(self, connection: sqlite3.Connection, *, empty: bool) -> None:
        self._connection = connection
        self.empty = empty
        self._numbers: dict[str, int] = {}
        if empty:
            connection.execute("PRAGMA defer_foreign_keys = ON")  # until the transaction ends
        self._last = int(connection.execute("SELECT coalesce(max(number), 0) FROM node").fetchone()[0])
        self._first_new = self._last + 1
        self._new_nodes: list[tuple[Any, ...]] = []
        #: By table the values of its rows, one after the other.
        self._rows: defaultdict[str, list[Any]] = defaultdict(list)
        self._episodes = 0
        self._insertions: dict[str, _Insertion] = {}
        self._mentioned: set[int] = set()
        #: Of each node four sums in one number (`_packed`).
        self._nodes: dict[int, int] = {}
        self._edges: defaultdict[Edge, list[int]] = defaultdict(lambda: [0, 0, 0])
        self._patterns: Counter[str] = Counter()
        self._lost_nodes: set[int] = set()
        self._lost_edges: set[Edge] = set()
        #: Places and things of mentions that have come, and of those that have gone.
        self._names: set[str] = set()
        self.lost_names: set[str] = set()
        self._edges_added = self._patterns_added = 0

    def numbers_of(self, nodes: Sequence[NodeRow]) -> list[int]:
        """The numbers of nodes, which are added where they are new."""
        numbers = self._numbers
        number_of = numbers.get
        found: list[Any] = [number_of(node[0]) for node in nodes]
        unknown = [place for place, number in enumerate(found) if number is None]
        if unknown and not self.empty:
            names = as_list(nodes[place][0] for place in unknown)
            numbers.update(self._connection.execute(f"SELECT id, number FROM node WHERE id {ANY_OF}", (names,)))  # noqa: S608  (a constant)
        for place in unknown:
            name, kind, label = nodes[place]
            number = None if self.empty else number_of(name)
            if number is None:
                number = self._last = numbers[name] = self._last + 1
                self._new_nodes.append((number, name, kind, label, label.casefold()))
            found[place] = number
        return found

    def count(self, share: Share[int, Edge], *, sign: Literal[1, -1]) -> None:
        """Adds what an episode says to the sums, or takes it away."""
        nodes, of_each = self._nodes, _packed((0, *share.episode))
        for node, mentions in share.mentions.items():
            if mentions:
                nodes[node] = nodes.get(node, 0) + sign * (mentions + of_each)
        for edge, weights in () if self.empty else share.claims.items():
            sums = self._edges[edge]
            sums[0] += sign * sum(weights)
            sums[1] += sign * len(weights)
            sums[2] += sign
        for pattern in share.patterns:
            self._patterns[pattern] += sign
        if sign > 0:
            if not self.empty:
                self._mentioned.update(node for node in share.mentions if node < self._first_new)
        else:
            self._lost_nodes.update(share.mentions)
            self._lost_edges.update(share.claims)

    def count_patterns(self, names: Iterable[str], *, sign: Literal[1, -1]) -> None:
        """Adds patterns that rest on no episode, or takes them away."""
        for name in names:
            self._patterns[name] += sign

    def insert(self, table: str, values: Iterable[Any]) -> None:
        """Adds rows to a table, together with those of other episodes: at the latest before anything is read.

        ``values`` are those of one row after the other.
        """
        self._rows[table] += values
        self._episodes += table == "episode"

    def add_names(self, names: Iterable[str]) -> None:
        """Adds places and things to the names that there are."""
        self._names.update(names)

    def write(self) -> None:
        """Writes the rows that have gathered, nodes and episodes first: the others refer to them.

        The nodes of a graph that was empty wait for their sums.
        """
        if not self.empty:
            self.write_nodes()
        for table, values in sorted(self._rows.items(), key=lambda item: item[0] != "episode"):
            self._insert_all(table, values)
        self._rows.clear()
        self._episodes = 0

    def _insert_all(self, table: str, values: list[Any]) -> None:
        if table not in self._insertions:
            self._insertions[table] = _insertion(self._connection, table)
        one, several, rows, width = self._insertions[table]
        whole = len(values) - len(values) % (rows * width)
        for statement, begin, end, step in ((several, 0, whole, rows * width), (one, whole, len(values), width)):
            self._connection.executemany(statement, (values[at : at + step] for at in range(begin, end, step)))

    def write_nodes(self) -> None:
        """Writes the nodes that are new, with their sums so far."""
        sums, values = self._nodes, list[Any]()
        for node in self._new_nodes:
            values += node
            values += _unpacked(sums.pop(node[0], 0))
        self._insert_all("node", values)
        self._new_nodes.clear()

    def write_when_large(self) -> None:
        """Writes rows and sums of which enough have gathered."""
        if self._episodes >= _MOST_EPISODES:
            self.write()
        if len(self._edges) + len(self._nodes) + len(self._patterns) > _MOST_SUMS:
            self.flush()

    def flush(self) -> None:
        """Writes the sums; in the order of their keys, which is the order in which they are stored."""
        self.write()
        self.write_nodes()
        connection = self._connection
        connection.executemany("INSERT OR IGNORE INTO name VALUES (?)", ((name,) for name in sorted(self._names)))
        self._names.clear()
        connection.executemany(
            "UPDATE node SET mentions = mentions + ?, episodes = episodes + ?, measured = measured + ?,"
            " successes = successes + ? WHERE number = ?",
            ((*_unpacked(self._nodes[node]), node) for node in sorted(self._nodes)),
        )
        edges = sorted(self._edges)
        cursor = connection.executemany("INSERT OR IGNORE INTO edge VALUES (?, ?, ?, 0, 0, 0)", edges)
        self._edges_added += max(cursor.rowcount, 0)
        connection.executemany(
            "UPDATE edge SET weight_sum = weight_sum + ?, claims = claims + ?, episodes = episodes + ?"
            " WHERE source = ? AND target = ? AND type = ?",
            ((*self._edges[edge], *edge) for edge in edges),
        )
        patterns = sorted(name for name, uses in self._patterns.items() if uses)
        cursor = connection.executemany("INSERT OR IGNORE INTO pattern VALUES (?, 0)", ((name,) for name in patterns))
        self._patterns_added += max(cursor.rowcount, 0)
        connection.executemany(
            "UPDATE pattern SET uses = uses + ? WHERE id = ?", ((self._patterns[name], name) for name in patterns)
        )
        gone = [(name,) for name in patterns if self._patterns[name] < 0]
        connection.executemany("DELETE FROM pattern WHERE id = ? AND uses = 0", gone)
        for sums in (self._nodes, self._edges, self._patterns):
            sums.clear()

    def list_names(self) -> None:
        """Writes all names of a graph that was empty, from the mentions."""
        self._connection.execute(f"INSERT INTO name {NAMES}")

    def totals(self) -> CompileTotals:
        """What was new, and what had been there."""
        if self.empty:  # whoever made its indexes has added the edges
            self._edges_added = self._connection.execute("SELECT count(*) FROM edge").fetchone()[0]
        return CompileTotals(
            nodes_added=self._last - self._first_new + 1,
            edges_added=self._edges_added,
            patterns_added=self._patterns_added,
            merged=len(self._mentioned),
        )

    def drop_unused(self) -> None:
        """Deletes the nodes, edges and names that nothing has any more; no claim leads to such a node."""
        self._connection.executemany(
            "DELETE FROM edge WHERE source = ? AND target = ? AND type = ? AND claims = 0", sorted(self._lost_edges)
        )
        self._connection.executemany(
            "DELETE FROM node WHERE number = ? AND mentions = 0"
            " AND NOT EXISTS (SELECT 1 FROM mention WHERE mention.node = node.number)",
            ((node,) for node in sorted(self._lost_nodes)),
        )
        self._connection.executemany(
            "DELETE FROM name WHERE name = ? AND NOT EXISTS (SELECT 1 FROM mention WHERE place = name.name)"
            " AND NOT EXISTS (SELECT 1 FROM mention WHERE thing = name.name)",
            ((name,) for name in sorted(self.lost_names)),
        )


#: One number has several sums, each of so many bits: adding one number takes a fifth of the time of adding four.
_BITS = 40
_HALF, _MASK = 1 << (_BITS - 1), (1 << _BITS) - 1
#: Added to a number, it makes each of its sums positive, and their bits their own.
_HALVES = sum(_HALF << place * _BITS for place in range(4))


def _packed(sums: tuple[int, int, int, int]) -> int:
    first, second, third, fourth = sums
    return first + (second << _BITS) + (third << 2 * _BITS) + (fourth << 3 * _BITS)


def _unpacked(packed: int) -> tuple[int, int, int, int]:
    """The sums in a number; any of them may be negative.

    >>> _unpacked(_packed((3, -2, 0, 1)) + _packed((-4, 2, 7, -1)))
    (-1, 0, 7, 0)
    """
    bits = packed + _HALVES
    return (
        (bits & _MASK) - _HALF,
        (bits >> _BITS & _MASK) - _HALF,
        (bits >> 2 * _BITS & _MASK) - _HALF,
        (bits >> 3 * _BITS) - _HALF,
    )


class _Insertion(NamedTuple):
    """The statements that add one row to a table and ``rows`` of them, and how many values a row has."""

    one: str
    several: str
    rows: int
    width: int


#: A statement for ten rows takes three fifths of the time of ten statements; one for more of them gains nothing.
_ROWS_AT_A_TIME = 10
#: Not so in an index of words: before every statement for several rows SQLite writes the words that it has gathered
#: to the file, which takes half as much time again and leaves small parts that have to be merged.
_TEXTS_AT_A_TIME = 1


def _insertion(connection: sqlite3.Connection, table: str) -> _Insertion:
    columns = connection.execute("SELECT 1 FROM pragma_table_info(?)", (table,)).fetchall()
    rows = _ROWS_AT_A_TIME if columns else _TEXTS_AT_A_TIME
    width = len(columns) or len(table.split(","))  # an index is named with its columns
    row = f"({', '.join('?' * width)})"
    # OR FAIL: a statement for several rows that may have to be undone by itself has SQLite write the words that an
    # index has gathered, here after every few episodes. Where this one fails, the transaction is undone.
    one, several = (f"INSERT OR FAIL INTO {table} VALUES {', '.join([row] * count)}" for count in (1, rows))  # noqa: S608  (constants)
    return _Insertion(one, several, rows, width)


#: The rows of so many episodes are written together: some 2 MB.
_MOST_EPISODES = 64
#: So many sums are gathered before they are written: some 20 MB.
_MOST_SUMS = 50_000


class CompileTotals(msgspec.Struct, frozen=True, kw_only=True):
    """What a transaction did to the graph: what is new, and how many nodes had been there before."""

    nodes_added: int
    edges_added: int
    patterns_added: int
    merged: int


_Node = TypeVar("_Node", bound=Hashable)
_Link = TypeVar("_Link", bound=Hashable)


class Share(msgspec.Struct, Generic[_Node, _Link], frozen=True, gc=False):
    """What one episode adds to the sums: of each node its counted mentions, of each edge the weights of its claims.

    Nodes and edges may be named in any way, by number in graph.db. ``episode`` is what it adds to each node that it
    mentions: episodes, measured ones, successes among these.
    """

    episode: tuple[int, int, int]
    mentions: Mapping[_Node, int]
    claims: Mapping[_Link, Sequence[int]]
    patterns: Sequence[str]


def share_of(
    about: tuple[str, str, str],
    mentions: Iterable[tuple[_Node, int]],
    claims: Iterable[tuple[_Link, int]],
    patterns: Sequence[str],
) -> Share[_Node, _Link]:
    """An episode's share; ``about`` is its outcome, what that rests on and its origin."""
    counted: defaultdict[_Node, int] = defaultdict(int)
    for node, times in mentions:
        counted[node] += times
    return Share(_share_of_nodes(about), counted, _by_edge(claims), patterns)


def _share_of_nodes(about: tuple[str, str, str]) -> tuple[int, int, int]:
    outcome, basis, origin = about
    measures = basis in MEASURED_BASES and outcome != "unknown"
    return int(origin != "assertion"), int(measures), int(measures and outcome == "success")


def _by_edge(claims: Iterable[tuple[_Link, int]]) -> dict[_Link, list[int]]:
    weights: defaultdict[_Link, list[int]] = defaultdict(list)
    for edge, weight in claims:
        weights[edge].append(weight)
    return weights


def add_episode(rows: EpisodeRows, changes: GraphChanges) -> int:
    """Hands an episode's rows to `GraphChanges`, which writes them and sums them up; the episode's number."""
    content = _CONTENT.decode(rows.content)
    numbers = changes.numbers_of(content.nodes)
    mentions, claims = content.parts[_MENTIONS], content.parts[_CLAIMS]
    for values, width, column in ((mentions, _MENTION_WIDTH, 2), (claims, _CLAIM_WIDTH, 0), (claims, _CLAIM_WIDTH, 1)):
        values[column::width] = [numbers[place] for place in values[column::width]]
    if not changes.empty:
        names = (*mentions[3::_MENTION_WIDTH], *mentions[4::_MENTION_WIDTH])
        changes.add_names(name for name in names if isinstance(name, str))
    changes.insert("episode", (*content.episode, rows.checksum))
    for table, values in zip(PARTS, content.parts, strict=True):
        changes.insert(table, values)
    if rows.telling is not None:
        changes.insert("telling", rows.telling)
    if rows.digest is not None:
        changes.insert("digest", (rows.number, *rows.digest))
    weights: dict[Edge, list[int]] = {}
    if not changes.empty:
        source, target, kind, weight = (claims[column::_CLAIM_WIDTH] for column in (0, 1, 2, 7))
        weights = _by_edge(zip(zip(source, target, kind, strict=True), weight, strict=True))
    mentioned = dict(zip(numbers, rows.counts, strict=True))
    changes.count(Share(_share_of_nodes(rows.about), mentioned, weights, rows.patterns), sign=1)
    changes.write_when_large()
    return rows.number


_CONTENT = msgspec.msgpack.Decoder(EpisodeContent)
_MENTIONS, _CLAIMS = PARTS.index("mention"), PARTS.index("claim")
#: Type and label of a mention are its node's; the episode is a column more.
_MENTION_WIDTH, _CLAIM_WIDTH = len(Mention.__struct_fields__) - 1, len(Claim.__struct_fields__) + 1


_NAMES = "SELECT place FROM mention WHERE episode = :episode UNION SELECT thing FROM mention WHERE episode = :episode"


def remove_episode(connection: sqlite3.Connection, episode: int, changes: GraphChanges) -> None:
    """Deletes an episode's rows.

    Raises:
        DamagedRows: They are not what was added, so other rows may be damaged as well.
    """
    changes.write()
    changes.write_nodes()
    if not is_intact(connection, episode):
        raise DamagedRows(f"the rows of episode {episode} are not those that were written")
    about = connection.execute("SELECT outcome, basis, origin FROM episode WHERE number = ?", (episode,)).fetchone()
    mentions = connection.execute("SELECT node, counted FROM mention WHERE episode = ?", (episode,))
    claims = connection.execute("SELECT source, target, type, weight FROM claim WHERE episode = ?", (episode,))
    patterns = patterns_of(unpack_observations(body for _, body in read_digests(connection, episode)))
    changes.count(share_of(about, mentions, ((row[:3], row[3]) for row in claims), patterns), sign=-1)
    forget_decisions(connection, episode)
    changes.lost_names.update(name for (name,) in connection.execute(_NAMES, {"episode": episode}) if name is not None)
    for table in ("mention", "issue", "wording", "claim", "repair", "run", "cost", "digest", "telling"):
        connection.execute(f"DELETE FROM {table} WHERE episode = ?", (episode,))  # noqa: S608  (constant names)
    connection.execute("UPDATE file SET episode = NULL WHERE episode = ?", (episode,))
    connection.execute("DELETE FROM episode WHERE number = ?", (episode,))


def finish_changes(changes: GraphChanges) -> CompileTotals:
    """Writes the sums; nodes and edges that nobody mentions any more are gone."""
    changes.flush()
    if changes.empty:
        changes.list_names()
    changes.drop_unused()
    return changes.totals()
