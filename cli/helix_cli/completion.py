"""What a shell offers after TAB where a session or a label is asked for (docs/how-to/install.md).

Click answers the shell (``_HELIX_GRAPH_COMPLETE=bash_source helix-graph`` prints what to install); here is what there
is to choose from. A shell that asks must never see an error, so where there is no memory nothing is offered.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from helix_cli.terminal import clean
from helix_episodes.errors import HelixGraphError

if TYPE_CHECKING:
    import click

_MOST = 50
#: What bash would take apart or replace in a word.
_SPECIAL = re.compile(r"([^\w@%+=:,./-])")


def session_names(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001  (click's signature)
    """``last``, and the newest sessions whose id begins so, with their tasks."""
    from helix_cli.app import open_memory

    try:
        newest = open_memory().episodes.list(max_results=_MOST)
    except HelixGraphError:
        return []
    sessions = [CompletionItem(one.session, help=clean(one.task[:60])) for one in newest]
    return [one for one in (CompletionItem("last"), *sessions) if one.value.startswith(incomplete)]


def issue_ids(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001  (as above)
    """The ids of issues that begin so, with their titles."""
    from helix_cli.app import open_memory

    try:
        issues = open_memory().issues.list(limit=_MOST, every=True).issues
    except HelixGraphError:
        return []
    return [
        CompletionItem(one.id[:8], help=clean(one.title[:60]))
        for one in issues
        if one.id and one.id.startswith(incomplete)
    ]


def label_texts(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001  (as above)
    """The commonest labels that begin so."""
    from helix_cli.app import open_memory

    begin = incomplete.replace("\\", "").strip("'\"").casefold()
    try:
        labels = open_memory().graph.labels(limit=1000).labels
    except HelixGraphError:
        return []
    texts = [one.label for one in labels]
    texts += [name for text in texts if (name := text.partition(" fails: ")[2])]  # what failed is asked for by its name
    found = [clean(one) for one in dict.fromkeys(texts) if one.casefold().startswith(begin)][:_MOST]
    bash = os.environ.get("_HELIX_GRAPH_COMPLETE", "").startswith("bash")
    # Click's script for bash reads the answer with ``read``, which takes one backslash off; the other shells quote.
    return [CompletionItem(_SPECIAL.sub(r"\\\\\1", one) if bash else one) for one in found]
