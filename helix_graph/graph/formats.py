r"""The graph in the words of other programs: GraphML, Graphviz DOT, Mermaid.

Labels are texts of logs, so each format gets them escaped by its own rules, and each reads back what was written:
GraphML through an XML writer, without the characters that XML 1.0 cannot hold; DOT in double quotes, where only ``"``
and ``\`` mean something; Mermaid with every character that is no letter, digit or space as an entity by its number,
because its grammar has no other way to be safe. Nodes go by numbers in the order of the excerpt, so the same graph
gives the same bytes.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from helix_graph.graph.excerpt import Excerpt, ExcerptEdge, ExcerptNode

#: What XML 1.0 allows is tab, line feed, carriage return and these ranges (https://www.w3.org/TR/xml/#charsets).
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GRAPHML = "http://graphml.graphdrawing.org/xmlns"
_SHAPES = {"decision": "box", "error": "diamond", "event": "ellipse", "outcome": "hexagon", "pattern": "triangle"}
#: The brackets that make a shape in Mermaid.
_BRACKETS = {"decision": "[]", "error": "{}", "event": "()", "outcome": "([])", "pattern": "[//]"}
_DOT_LINES = {"causes": "solid", "enables": "dashed", "prevents": "solid", "correlates": "dotted"}
#: Its own limits, unless a page that embeds it sets others (https://mermaid.js.org/config/schema-docs/config.html).
_MERMAID_EDGES, _MERMAID_CHARACTERS = 500, 50_000
_MERMAID_LINES = {"causes": "-->", "enables": "-.->", "prevents": "--x", "correlates": "-.-"}


def written(format: str, excerpt: Excerpt) -> bytes:  # noqa: A002  (the option's name)
    """An excerpt in one of the `FORMATS`, in UTF-8."""
    return FORMATS[format](excerpt)


def _graphml(excerpt: Excerpt) -> bytes:
    """Every count as an attribute of its type, which networkx, Gephi, yEd and igraph read."""
    root = ET.Element("graphml", xmlns=_GRAPHML)
    for kind, fields in (("node", _NODE_FIELDS), ("edge", _EDGE_FIELDS)):
        for name, type_ in fields.items():
            ET.SubElement(root, "key", {"id": f"{kind}-{name}", "for": kind, "attr.name": name, "attr.type": type_})
    graph = ET.SubElement(root, "graph", edgedefault="directed")
    for place, node in enumerate(excerpt.nodes):
        _data(ET.SubElement(graph, "node", id=f"n{place}"), "node", _node_values(node))
    for edge in excerpt.edges:
        ends = {"source": f"n{edge.source}", "target": f"n{edge.target}"}
        _data(ET.SubElement(graph, "edge", ends), "edge", _edge_values(edge))
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


def _node_values(node: ExcerptNode) -> dict[str, str]:
    return {name: str(getattr(node, name)) for name in _NODE_FIELDS}


def _edge_values(edge: ExcerptEdge) -> dict[str, str]:
    values = (edge.type, f"{edge.weight:g}", str(edge.evidence_count), ", ".join(edge.reasons))
    return dict(zip(_EDGE_FIELDS, values, strict=True))


def _data(element: ET.Element, kind: str, values: dict[str, str]) -> None:
    for name, value in values.items():
        ET.SubElement(element, "data", key=f"{kind}-{name}").text = _NOT_XML.sub("\ufffd", value)


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
    return "".join(one if one.isalnum() or one == " " else f"#{ord(one)};" for one in text)


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


FORMATS = {"graphml": _graphml, "dot": _dot, "mermaid": _mermaid}
