"""The graph as a file for other programs: causal-graph.json, GraphML, DOT, Mermaid, tables.

causal-graph.json has the original schema with our additions. The same truth gives the same bytes: everything is sorted
by what it is, numbers are exact, and ``updated`` is the newest episode's time, not the clock's.

::

    {"version", "updated", "labels": {"version", "mode"}+, "nodes": […], "edges": […], "patterns": […]}
    node     id  type  label  episodes  frequency  success_rate  aliases+  aliases_left_out+  mentions+
    edge     source  target  type  weight  evidence_count  reasons+  status+

``mentions`` name episode (or assertion) and local id, joined by ``#``. Of the aliases the commonest `ALIAS_LIMIT` are
written and the rest counted; graph.db has them all.

Labels are texts of logs, so each of the other formats escapes them by its own rules: GraphML through an XML writer; DOT
in double quotes; Mermaid with every character that is no letter, digit or space as an entity by its number. None has
the characters that show nothing. Nodes go by numbers in the order of the excerpt.

A folder of tables holds the whole graph: CSV for neo4j-admin import, or Parquet. Rows come in the order of
causal-graph.json, so the same graph gives the same CSV bytes; Parquet's are equal for one version of pyarrow. The
folder appears complete or not at all: it is written next to its place and renamed.

In CSV labels are quoted, and control characters become spaces, because neo4j-admin takes a line
end within quotes for the end of a row unless ``--multiline-fields`` is set. Parquet has them as they are.
"""

from __future__ import annotations

import csv
import io
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import TEMPORARY_SUFFIX, require_folder_of, write_atomically
from helix_graph.errors import FolderInUse, MissingExtra
from helix_graph.graph.assertions import pattern_assertions
from helix_graph.graph.graph_db import EXPORT_VERSION, LABEL_MODE, LABEL_VERSION
from helix_graph.graph.model import mean_weight, rate
from helix_graph.graph.networkx_graph import aliases
from helix_graph.graph.observations import unpack_observations
from helix_graph.graph.patterns import Pattern, asserted_patterns, count_patterns
from helix_graph.graph.row_checksums import read_digests
from helix_graph.graph.store import updated

if TYPE_CHECKING:
    import sqlite3
    from xml.etree.ElementTree import Element

    from helix_graph.graph.subgraph import Excerpt


#: Enough to see what a label stands for.
ALIAS_LIMIT = 20


def export_bytes(connection: sqlite3.Connection, patterns: Sequence[Pattern] | None = None) -> bytes:
    """The canonical file for the graph in an open graph.db; ``patterns`` are those in it, counted when omitted."""
    import orjson

    return orjson.dumps(document(connection, patterns), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def stored_patterns(connection: sqlite3.Connection) -> list[Pattern]:
    """The patterns of the episodes and assertions in graph.db, by id, without comparisons."""
    packed = (body for _, body in read_digests(connection))
    found = (*count_patterns(unpack_observations(packed)), *asserted_patterns(pattern_assertions(connection)))
    return sorted(found, key=lambda pattern: pattern.id)


def document(connection: sqlite3.Connection, patterns: Sequence[Pattern] | None = None) -> dict[str, Any]:
    """The graph as plain values, in canonical order."""
    if patterns is None:
        patterns = stored_patterns(connection)
    return {
        "version": EXPORT_VERSION,
        "updated": updated(connection),
        "labels": {"version": LABEL_VERSION, "mode": LABEL_MODE},
        "nodes": _nodes(connection),
        "edges": _edges(connection),
        "patterns": [msgspec.to_builtins(one) for one in patterns],
    }


def _nodes(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    mentions: defaultdict[int, list[str]] = defaultdict(list)
    episodes: defaultdict[int, dict[str, None]] = defaultdict(dict)
    texts: defaultdict[int, list[str]] = defaultdict(list)
    rows = connection.execute(
        "SELECT node, id, local, raw, counted, origin <> 'assertion' FROM episode CROSS JOIN mention"
        " ON episode = number ORDER BY id, local"  # episodes outside, so that both are read in order and none is sorted
    )
    for node, episode, local, raw, counted, in_episode in rows:
        mentions[node].append(f"{episode}#{local}")
        if in_episode:
            episodes[node][episode] = None
        if counted:
            texts[node].append(raw)
    found = []
    nodes = "SELECT number, id, type, label, mentions, measured, successes FROM node ORDER BY type, label"
    for number, name, kind, label, frequency, measured, successes in connection.execute(nodes):
        called = aliases(texts[number])
        row = {
            "id": name,
            "type": kind,
            "label": label,
            "episodes": list(episodes[number]),
            "frequency": frequency,
            "success_rate": rate(successes, measured),
            "aliases": dict(islice(called.items(), ALIAS_LIMIT)),
            "aliases_left_out": max(0, len(called) - ALIAS_LIMIT),
            "mentions": mentions[number],
        }
        found.append(row)
    return found


def _edges(connection: sqlite3.Connection) -> list[dict[str, Any]]:
    """Edges by the type and label of their ends. Sorting by the places of the nodes takes half of SQLite's time."""
    nodes = connection.execute("SELECT number, id FROM node ORDER BY type, label").fetchall()
    place = {number: place for place, (number, _) in enumerate(nodes)}
    edges = connection.execute(
        "SELECT source, target, type, weight_sum, claims, episodes FROM edge ORDER BY source, target, type"
    )
    ordered = sorted(
        (place[source], place[target], kind, mean_weight(weight_sum, claims), episodes, reasons)
        for (source, target, kind, weight_sum, claims, episodes), reasons in zip(
            edges, _reasons(connection), strict=True
        )
    )
    return [
        {
            "source": nodes[source][1],
            "target": nodes[target][1],
            "type": kind,
            "weight": weight,
            "evidence_count": episodes,
            "reasons": reasons,
            "status": "asserted",
        }
        for source, target, kind, weight, episodes, reasons in ordered
    ]


def _reasons(connection: sqlite3.Connection) -> Iterator[tuple[str, ...]]:
    """The reasons of each edge, in the order of the edges' primary key; nearly all have one, which an index tells."""
    rows = connection.execute(
        "SELECT source, target, type, min(reason), max(reason) FROM claim"
        " GROUP BY source, target, type ORDER BY source, target, type"
    )
    several = "SELECT DISTINCT reason FROM claim WHERE source = ? AND target = ? AND type = ? ORDER BY reason"
    for *edge, first, last in rows:
        yield (first,) if first == last else tuple(reason for (reason,) in connection.execute(several, edge))


#: Of the characters that show nothing XML 1.0 allows these and some more, in which an order could be hidden.
_LINE_SIGNS = "\t\n\r"
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_SHAPES = {"decision": "box", "error": "diamond", "event": "ellipse", "outcome": "hexagon", "pattern": "triangle"}
#: The brackets that make a shape in Mermaid.
_BRACKETS = {"decision": "[]", "error": "{}", "event": "()", "outcome": "([])", "pattern": "[//]"}
_DOT_LINES = {"causes": "solid", "enables": "dashed", "prevents": "solid", "correlates": "dotted"}
#: Its own limits, unless a page that embeds it sets others (https://mermaid.js.org/config/schema-docs/config.html).
_MERMAID_EDGES, _MERMAID_CHARACTERS = 500, 50_000
_MERMAID_LINES = {"causes": "-->", "enables": "-.->", "prevents": "--x", "correlates": "-.-"}


def _graphml(excerpt: Excerpt) -> bytes:
    """Every count as an attribute of its type, which networkx, Gephi, yEd and igraph read."""
    from xml.etree import ElementTree as ET  # 5 ms that compile does without

    root = ET.Element("graphml", xmlns=_GRAPHML)
    for kind, fields in (("node", _NODE_FIELDS), ("edge", _EDGE_FIELDS)):
        for name, type_ in fields.items():
            ET.SubElement(root, "key", {"id": f"{kind}-{name}", "for": kind, "attr.name": name, "attr.type": type_})
    graph = ET.SubElement(root, "graph", edgedefault="directed")
    for place, node in enumerate(excerpt.nodes):
        _data(
            ET.SubElement(graph, "node", id=f"n{place}"),
            "node",
            {name: str(getattr(node, name)) for name in _NODE_FIELDS},
        )
    for edge in excerpt.edges:
        ends = {"source": f"n{edge.source}", "target": f"n{edge.target}"}
        values = (edge.type, f"{edge.weight:g}", str(edge.evidence_count), ", ".join(edge.reasons))
        _data(ET.SubElement(graph, "edge", ends), "edge", dict(zip(_EDGE_FIELDS, values, strict=True)))
    ET.indent(root)
    out = io.BytesIO()
    ET.ElementTree(root).write(out, encoding="utf-8", xml_declaration=True)
    return out.getvalue() + b"\n"


_NODE_FIELDS = {
    "label": "string",
    "type": "string",
    "frequency": "int",
    "episodes": "int",
    "measured": "int",
    "successes": "int",
}
_EDGE_FIELDS = {"type": "string", "weight": "double", "evidence": "int", "reasons": "string"}


def _data(element: Element, kind: str, values: dict[str, str]) -> None:
    for name, value in values.items():
        data = element.makeelement("data", {"key": f"{kind}-{name}"})
        data.text = "".join(one if one.isprintable() or one in _LINE_SIGNS else "\ufffd" for one in value)
        element.append(data)


def _dot(excerpt: Excerpt) -> bytes:
    lines = ['digraph "helix-graph" {', "  rankdir=LR;"]
    lines += [
        f"  n{place} [label={_dot_text(node.label)}, shape={_SHAPES[node.type]}];"
        for place, node in enumerate(excerpt.nodes)
    ]
    lines += [
        f"  n{edge.source} -> n{edge.target} [label={_dot_text(edge.type)}, style={_DOT_LINES[edge.type]},"
        f" penwidth={1 + 3 * edge.weight:.2f}{', arrowhead=tee' if edge.type == 'prevents' else ''}];"
        for edge in excerpt.edges
    ]
    return "\n".join([*lines, "}", ""]).encode()


def _dot_text(text: str) -> str:
    r"""A text in double quotes on one line.

    >>> print(_dot_text('say "no"\nto C:\\'))
    "say \"no\" to C:\\"
    """
    plain = "".join(character if character.isprintable() else " " for character in text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _mermaid(excerpt: Excerpt) -> bytes:
    lines = ["flowchart LR"]
    for place, node in enumerate(excerpt.nodes):
        brackets = _BRACKETS[node.type]
        half = len(brackets) // 2
        lines.append(f'  n{place}{brackets[:half]}"{_mermaid_text(node.label)}"{brackets[half:]}')
    lines += [f"  n{edge.source} {_MERMAID_LINES[edge.type]}|{edge.type}| n{edge.target}" for edge in excerpt.edges]
    return "\n".join([*lines, ""]).encode()


def _mermaid_text(text: str) -> str:
    """A text that Mermaid takes for nothing but text.

    >>> _mermaid_text('ruff fails: E501 "</script>')
    'ruff fails#58; E501 #34;#60;#47;script#62;'
    """
    plain = (one if one.isprintable() else " " for one in text)
    return "".join(one if one.isalnum() or one == " " else f"#{ord(one)};" for one in plain)


def beyond_mermaid(data: bytes) -> str:
    r"""Why Mermaid refuses a graph that was written for it, unless it is told to take more; empty where it does not.

    >>> beyond_mermaid(b"flowchart LR\n" + 501 * b"  n0 -->|causes| n1\n")
    'Mermaid draws at most 500 edges (maxEdges) and 50,000 characters (maxTextSize): here are 501 and 10,033'
    """
    edges, characters = data.count(b"|") // 2, len(data.decode())  # in labels a bar is an entity
    if edges <= _MERMAID_EDGES and characters <= _MERMAID_CHARACTERS:
        return ""
    return (
        f"Mermaid draws at most {_MERMAID_EDGES} edges (maxEdges) and {_MERMAID_CHARACTERS:,} characters "
        f"(maxTextSize): here are {edges:,} and {characters:,}"
    )


#: What writes an excerpt in each format, in UTF-8.
FORMATS = {"graphml": _graphml, "dot": _dot, "mermaid": _mermaid}


class ExportedTables(msgspec.Struct, frozen=True, kw_only=True):
    """The files that were written, relative to the folder, and their numbers of rows."""

    format: str
    folder: Path
    files: tuple[Path, ...]
    nodes: int
    edges: int


def export_tables(connection: sqlite3.Connection, *, form: str, folder: Path) -> ExportedTables:
    """Writes the graph in an open graph.db in one of `TABLE_FORMATS`.

    Raises:
        FolderInUse: There is a file, or a folder that is not empty.
        MissingExtra: Parquet was asked for without pyarrow.
    """
    with WriteFailed.for_os_errors(folder):
        if folder.is_symlink() or (folder.exists() and (not folder.is_dir() or any(folder.iterdir()))):
            raise FolderInUse(f"{folder} is there already; name a new or empty folder")
    require_folder_of(folder)
    graph = document(connection)
    contents = TABLE_FORMATS[form](graph)
    with WriteFailed.for_os_errors(folder):
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=TEMPORARY_SUFFIX, dir=folder.parent))
        try:
            for name, data in contents.items():
                write_atomically(unfinished / name, data)
            unfinished.rename(folder)  # refused by the system where something was put there meanwhile
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    return ExportedTables(
        format=form,
        folder=folder,
        files=tuple(map(Path, contents)),
        nodes=len(graph["nodes"]),
        edges=len(graph["edges"]),
    )


def _neo4j(graph: dict[str, Any]) -> dict[str, bytes]:
    """``nodes.csv`` and ``relationships.csv`` with the header fields of neo4j-admin import."""
    nodes = (
        (
            node["id"],
            node["label"],
            node["frequency"],
            len(node["episodes"]),
            node["success_rate"],
            node["type"].capitalize(),
        )
        for node in graph["nodes"]
    )
    relationships = (
        (
            edge["source"],
            edge["target"],
            edge["weight"],
            edge["evidence_count"],
            ", ".join(edge["reasons"]),
            edge["type"].upper(),
        )
        for edge in graph["edges"]
    )
    return {"nodes.csv": _csv(_NODE_HEADER, nodes), "relationships.csv": _csv(_RELATIONSHIP_HEADER, relationships)}


_NODE_HEADER = ("id:ID", "label", "frequency:long", "episodes:long", "success_rate:double", ":LABEL")
_RELATIONSHIP_HEADER = (":START_ID", ":END_ID", "weight:double", "evidence_count:long", "reasons", ":TYPE")


def _csv(header: Sequence[str], rows: Iterator[tuple[Any, ...]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_cell(value) if isinstance(value, str) else value for value in row] for row in rows)
    return out.getvalue().encode()


def _cell(text: str) -> str:
    r"""A text without control characters and line ends, and none that a spreadsheet would compute.

    >>> _cell("a\nb\u2028c"), _cell("=1+1")
    ('a b c', "'=1+1")
    """
    line = text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line


def _parquet(graph: dict[str, Any]) -> dict[str, bytes]:
    """``nodes.parquet`` and ``edges.parquet``: the fields of causal-graph.json, with lists as lists."""
    try:
        pa, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise MissingExtra(wanted="writing Parquet", extra="parquet") from error
    text, texts = pa.string(), pa.list_(pa.string())
    whole, real = pa.int64(), pa.float64()
    aliases = pa.list_(pa.struct([("text", text), ("mentions", whole)]))
    nodes = {
        "id": text,
        "type": text,
        "label": text,
        "episodes": texts,
        "frequency": whole,
        "success_rate": real,
        "aliases": aliases,
        "aliases_left_out": whole,
        "mentions": texts,
    }
    edges = {
        "source": text,
        "target": text,
        "type": text,
        "weight": real,
        "evidence_count": whole,
        "reasons": texts,
        "status": text,
    }
    rows = [
        {**node, "aliases": [{"text": alias, "mentions": number} for alias, number in node["aliases"].items()]}
        for node in graph["nodes"]
    ]
    found = {}
    for name, fields, values in (("nodes", nodes, rows), ("edges", edges, graph["edges"])):
        out = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist(values, schema=pa.schema(list(fields.items()))), out)
        found[f"{name}.parquet"] = out.getvalue()
    return found


#: What makes the files of each format, by name.
TABLE_FORMATS: dict[str, Callable[[dict[str, Any]], dict[str, bytes]]] = {"neo4j": _neo4j, "parquet": _parquet}
