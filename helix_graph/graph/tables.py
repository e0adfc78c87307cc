"""The whole graph as tables in a folder: CSV for neo4j-admin import, or Parquet.

Rows come in the order of causal-graph.json, so the same graph gives the same CSV bytes; Parquet's are equal for one
version of pyarrow. The folder appears complete or not at all: it is written next to its place and renamed.

Labels are texts of logs. In CSV they are quoted, and control characters become spaces, because neo4j-admin takes a line
end within quotes for the end of a row unless ``--multiline-fields`` is set. Parquet has them as they are.
"""

from __future__ import annotations

import csv
import io
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.errors import WriteFailed
from helix_episodes.safe_files import TEMPORARY_SUFFIX, make_folder, write_atomically
from helix_graph.errors import FolderInUse, MissingExtra
from helix_graph.graph.export import document

if TYPE_CHECKING:
    import sqlite3


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
    graph = document(connection)
    contents = TABLE_FORMATS[form](graph)
    with WriteFailed.for_os_errors(folder):
        make_folder(folder.parent)
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
    writer.writerows([_one_line(value) if isinstance(value, str) else value for value in row] for row in rows)
    return out.getvalue().encode()


def _one_line(text: str) -> str:
    r"""A text without control characters and line ends.

    >>> _one_line("a\nb\u2028c")
    'a b c'
    """
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


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
