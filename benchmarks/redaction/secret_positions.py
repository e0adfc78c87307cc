"""Where a secret can stand in a session: who says it, and what stands around it.

Each position makes of a sample the text as the log has it. ``place`` says which part of the log that text is.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from secret_templates import Sample

Place = Literal["prompt", "answer", "command", "output", "failure", "written", "argument"]
#: What belongs to the word that a value is part of, as a terminal would colour it.
_WORD = re.compile(r"[\w.+/~=-]*\Z")


@dataclass(frozen=True)
class Position:
    """One way in which a text gets into a log."""

    id: str
    place: Place
    render: Callable[[Sample], str]


def _lines(before: str, after: str = "") -> Callable[[Sample], str]:
    return lambda sample: "\n".join(f"{before}{line}{after}" for line in sample.text.split("\n"))


def _around(before: str, after: str) -> Callable[[Sample], str]:
    return lambda sample: f"{before}{sample.text}{after}"


def _numbered(form: str) -> Callable[[Sample], str]:
    return lambda sample: "\n".join(form.format(at, line) for at, line in enumerate(sample.text.split("\n"), 11))


def _coloured(sample: Sample) -> str:
    """Every value between colour codes, as ``bat`` and ``jq`` print it; a prefix has the colour of its value."""
    text = sample.text
    last = len(text)
    for start, end in reversed(sample.spans):
        if end > last:  # two parts of one word have one colour
            continue
        word = _WORD.search(text[:start].rpartition("=")[2])
        last = start - (len(word[0]) if word else 0)
        text = f"{text[:last]}\x1b[38;5;186m{text[last:end]}\x1b[0m{text[end:]}"
    return text


def _single_line(sample: Sample) -> str:
    return f"ValueError: cannot read the setting {sample.text!r} (config.py:41)"


def _yaml_block(sample: Sample) -> str:
    body = "\n".join(f"    {line}" for line in sample.text.split("\n"))
    return f"apiVersion: v1\nkind: ConfigMap\ndata:\n  settings: |\n{body}\n"


def _diff(sample: Sample) -> str:
    body = "\n".join(f"+{line}" for line in sample.text.split("\n"))
    return f"diff --git a/conf b/conf\n--- a/conf\n+++ b/conf\n@@ -3,0 +4,9 @@\n debug = false\n{body}\n retries = 3"


def _escaped(sample: Sample) -> str:
    return json.dumps({"status": 200, "body": json.dumps({"settings": sample.text})})


POSITIONS = (
    Position(
        "user prompt", "prompt", _around("Please use this, it is what production has:\n\n", "\n\nand run the tests.")
    ),
    Position(
        "assistant text", "answer", _around("I'll put this into the settings:\n\n```\n", "\n```\n\nThen I run it.")
    ),
    Position("shell command", "command", _around("cat >> settings.txt <<'EOF'\n", "\nEOF")),
    Position("command output", "output", _around("settings of the service:\n", "\n(1 file)")),
    Position(
        "failing command", "failure", _around("Exit code 1\nerror: the service refused to start with\n", "\nGave up.")
    ),
    Position("file written", "written", _around("# settings\n", "\nretries = 3\n")),
    Position("diff", "output", _diff),
    Position("JSON argument", "argument", lambda sample: json.dumps({"settings": sample.text})),
    Position("environment dump", "output", _around("LANG=C.UTF-8\nSHLVL=1\n", "\nTERM=xterm-256color\n_=/usr/bin/env")),
    Position("YAML", "written", _yaml_block),
    Position("log line", "output", _lines("2026-09-14T10:02:11.482Z INFO  web[213] ")),
    Position("error message", "failure", _single_line),
    Position("string escape", "output", _escaped),
    Position("Markdown table", "answer", _lines("| setting | `", "` | from production |")),
    Position("line numbers", "output", _numbered("{:6d}\u2192{}")),
    Position("grep output", "output", _numbered("deploy/prod/settings:{}:{}")),
    Position("coloured value", "output", _coloured),
    Position("coloured line", "failure", _lines("\x1b[31m", "\x1b[0m")),
    Position("HTML page", "output", lambda sample: f"<pre><code>{html.escape(sample.text)}</code></pre>"),
    Position("quoted mail", "prompt", _lines("> ")),
    Position("comment", "written", _lines("    # ")),
)
