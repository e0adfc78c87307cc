"""``topic``: notes by topic, stored, searched, briefed and edited."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from helix_cli.app import open_with_team
from helix_cli.output import count, emit_text, json_option, say, show, writes_to_terminal
from helix_cli.terminal import clean, quiet, strong
from helix_episodes.errors import NotFound
from helix_episodes.safe_files import irregularity

if TYPE_CHECKING:
    from helix_graph.topics.answer_texts import Answer
    from helix_graph.topics.api import Topics
    from helix_graph.topics.model import Entry
    from helix_graph.topics.search import TopicSearchAnswer


global_option = click.option(
    "--global", "of_user", is_flag=True, help="Use your own topics, not this project's: ~/.helix-kb/helix.db."
)


@click.group
def topic() -> None:
    """Write notes by topic, and find them again."""


@topic.command("list")
@global_option
@json_option
def list_topics(*, of_user: bool, as_json: bool) -> None:
    """List the topics."""
    _show(_topics(of_user=of_user).topics("list"), as_json=as_json)


@topic.command
@click.argument("topic")
@click.argument("text")
@click.option("--tags", default="", metavar="A,B", help="Tags; without any, the text's beginning may give one.")
@click.option("--source", metavar="FILE:LINE", help="Where it comes from.")
@click.option("--confidence", type=float, metavar="SHARE", help="How sure it is, 0 to 1; less ranks lower.")
@click.option("--links", default="", metavar="T:I ...", help="Entries it refers to, as topic:index.")
@click.option("--force", is_flag=True, help="Don't look for near duplicates.")
@click.option("--terse", is_flag=True, help="Answer in one line.")
@global_option
@json_option
def store(*, topic: str, text: str, terse: bool, of_user: bool, as_json: bool, **options: Any) -> None:
    """Store TEXT under TOPIC; TEXT - is read from stdin."""
    answer = _topics(of_user=of_user).store(topic, _text(text), **options)
    _show(answer, as_json=as_json, terse=terse)


@topic.command
@click.argument("file")
@global_option
@json_option
def batch(*, file: str, of_user: bool, as_json: bool) -> None:
    """Store several entries at once.

    FILE is a JSON array of {topic, text, ...}; - is stdin.
    """
    _show(_topics(of_user=of_user).batch(_array(_content(file))), as_json=as_json)


@topic.command
@click.argument("query")
@click.option("--detail", default="medium", metavar="DETAIL", help="full, medium, brief, count, topics or grouped.")
@click.option("--limit", type=int, metavar="N", help="Maximum number, 0 to 1000; the default depends on the detail.")
@click.option("--after", metavar="DAY", help="From this day on: YYYY-MM-DD, today, yesterday or this-week.")
@click.option("--before", metavar="DAY", help="Until this day's end: the same.")
@click.option("--days", type=int, metavar="N", help="Only from the last N days.")
@click.option("--hours", type=int, metavar="N", help="Only from the last N hours; overrides --days.")
@click.option("--tag", help="Only entries with this tag.")
@click.option("--topic", help="Only entries of this topic.")
@click.option("--mode", default="and", metavar="MODE", help="and: all words must be there; or: any of them.")
@global_option
@json_option
def search(*, query: str, of_user: bool, as_json: bool, **options: Any) -> None:
    """Search entries by words."""
    _show(_topics(of_user=of_user).search(query, **options), as_json=as_json)


@topic.command
@click.argument("query", required=False)
@click.option("--detail", default="summary", metavar="DETAIL", help="summary, scan or full.")
@click.option("--since", type=int, metavar="HOURS", help="Only entries from the last N hours.")
@click.option("--focus", metavar="A,B", help="Only these categories, such as gotchas,gaps.")
@click.option("--compact", is_flag=True, help="Without QUERY: five topics and no more.")
@global_option
@json_option
def brief(*, query: str | None, of_user: bool, as_json: bool, **options: Any) -> None:
    """Summarize a topic, several topics, or everything.

    QUERY is a topic, a pattern of topics (iris-*) or a keyword.
    """
    _show(_topics(of_user=of_user).brief(query, **options), as_json=as_json)


@topic.command
@click.argument("topic")
@click.option("--index", type=int, metavar="N", help="Only the entry at this index, from 0.")
@global_option
@json_option
def read(*, topic: str, index: int | None, of_user: bool, as_json: bool) -> None:
    """Show the entries of TOPIC."""
    answer = _topics(of_user=of_user).read(topic, index=index)
    if answer.hint:
        raise NotFound(answer.hint)
    _show(answer, as_json=as_json)


@topic.command
@click.argument("action")
@click.argument("topic")
@click.option("--text", help="What to append, or the new text of revise; - is stdin.")
@click.option("--index", type=int, metavar="N", help="The entry at this index.")
@click.option("--match-str", metavar="TEXT", help="The first entry that contains this text.")
@click.option("--tag", help="append: the last entry that has this tag.")
@click.option("--tags", default="", metavar="A,B", help="tag: tags to add.")
@click.option("--remove", default="", metavar="A,B", help="tag: tags to remove.")
@click.option("--all", is_flag=True, help="delete: the whole topic.")
@click.option("--new-name", metavar="NAME", help="rename: the new name.")
@click.option("--into", metavar="TOPIC", help="merge: the topic that takes the entries in.")
@global_option
@json_option
def edit(*, action: str, topic: str, text: str | None, of_user: bool, as_json: bool, **options: Any) -> None:
    """Change entries of TOPIC. ACTION is append, revise, delete, tag, rename or merge."""
    answer = _topics(of_user=of_user).edit(action, topic, text=None if text is None else _text(text), **options)
    _show(answer, as_json=as_json)


@topic.command
@click.argument("action", default="list")
@click.option("--topic", help="entries, xref: of this topic.")
@click.option("--days", type=int, metavar="N", help="recent: the last N days (7); prune: older than N days (30).")
@click.option("--hours", type=int, metavar="N", help="recent: the last N hours; overrides --days.")
@click.option("--detail", help="stats: tags or index.")
@click.option("--index", type=int, metavar="N", help="entries: the one at this index.")
@click.option("--match-str", metavar="TEXT", help="entries: only entries that contain this text.")
@click.option("--focus", metavar="PATTERN", help="graph: only where topics of this pattern take part.")
@click.option("--file", metavar="FILE", help="import: the JSON to take in; - is stdin.")
@click.option("--refresh", is_flag=True, help="stale: show what the sources say now.")
@click.option("--apply", is_flag=True, help="prune: remove them; without it they are listed.")
@click.option("--force", is_flag=True, help="import: also store entries that exist already.")
@global_option
@json_option
def topics(*, action: str, file: str | None, of_user: bool, as_json: bool, **options: Any) -> None:
    """List, check and tidy topics.

    ACTION is list, recent, entries, stats, xref, graph, stale, prune, compact, export, import, reindex or session.
    """
    answer = _topics(of_user=of_user).topics(action, json=None if file is None else _content(file), **options)
    _show(answer, as_json=as_json and action != "export")


def _topics(*, of_user: bool) -> Topics:
    if not of_user:
        return open_with_team().topics
    from helix_graph.topics.api import Topics

    return Topics.of_this_user()


def _show(answer: Answer, *, as_json: bool, terse: bool = False) -> None:
    from helix_graph.topics.answer_texts import form_of, left_out
    from helix_graph.topics.search import TopicSearchAnswer
    from helix_graph.topics.transfer import TopicsExport

    if isinstance(answer, TopicsExport) and not as_json:  # the file that import takes; what it lacks goes to stderr
        emit_text(f"{form_of(answer)}\n")
        for line in left_out(answer.damaged):
            click.echo(clean(line), err=True)
    elif isinstance(answer, TopicSearchAnswer) and answer.hits and writes_to_terminal():
        show(answer, as_json=as_json, render=render_hits)
    else:
        show(answer, as_json=as_json, render=partial(render_form, terse=terse))


def render_form(answer: Answer, *, terse: bool = False) -> None:
    """Print the text of an answer, line by line; ``terse`` leaves near duplicates out."""
    from helix_graph.topics.answer_texts import form_of

    for line in form_of(answer, terse=terse).split("\n"):
        say(line)


def _text(text: str) -> str:
    return _stdin() if text == "-" else text


def _content(file: str) -> str:
    if file != "-" and (problem := irregularity(file, follow=True)):
        raise click.ClickException(f"{file}: cannot be read: {problem}")
    try:
        return _stdin() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise click.ClickException(f"{file}: cannot be read: {reason}") from error


def _stdin() -> str:
    if sys.stdin is None:
        raise click.UsageError("stdin is closed: give the text, or pipe something in")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError("stdin is not UTF-8 text") from error


def _array(content: str) -> list[dict[str, object]]:
    import json

    try:
        found: list[dict[str, object]] = json.loads(content)
    except ValueError as error:
        raise click.UsageError(f"FILE is not JSON: {error}") from error
    return found


def render_hits(answer: TopicSearchAnswer) -> None:
    """Print each entry's place and what is known of it, then its text with the words that were looked for."""
    if answer.fallback:
        say("No entry has all of the words; these have some.")
        say()
    for hit in answer.hits:
        say(strong(hit.entry.topic), quiet(f":{hit.entry.index}  {'  '.join(_known(hit.entry))}"))
        for line in hit.entry.text.split("\n"):
            if answer.words:
                parts = re.split(f"({'|'.join(map(re.escape, answer.words))})", line, flags=re.IGNORECASE)
                say("  ", *(strong(part) if place % 2 else part for place, part in enumerate(parts)))
            else:
                say("  ", line)
        say()
    shown = f"{len(answer.hits)} of " if len(answer.hits) < answer.total else ""
    say(f"{shown}{count(answer.total, 'entry', 'entries')}.")


def _known(entry: Entry) -> Iterator[str]:
    yield f"{entry.stored:%Y-%m-%d}"
    yield from (f"#{tag}" for tag in entry.tags)
    if entry.confidence < 1:
        yield f"~{entry.confidence:.0%}".replace("%", " %")
    if entry.source:
        yield entry.source
    if entry.links:
        yield f"see {' '.join(entry.links)}"
