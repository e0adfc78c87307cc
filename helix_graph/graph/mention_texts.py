"""What each mention says: the texts under which it is found, by a part of them or by words.

The texts of an episode's mentions are together in one row: Python finds a text in one long string faster than SQLite
finds it row by row (`find_texts`). What is found there is looked up again in the tables themselves. For a question in
words SQLite puts what each mention says together (`all_texts`), and only what may fit is read again, in its parts
(`read_mentions`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.model import folded

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from helix_graph.graph.model import EpisodeFacts

#: A node, and a place and thing that mentions of it have.
MentionGroup = tuple[int, str | None, str | None]
#: Episode and local id of a mention.
MentionKey = tuple[str, str]
#: A mention's group, and itself.
TextMatch = tuple[MentionGroup, MentionKey]

_ASIDE = re.compile(r"[\d&]?>*\s*/dev/null|<<.*\Z", re.DOTALL)


def wording(facts: EpisodeFacts) -> str:
    """Every text under which something of an episode may be looked for, in one case (folded together: faster)."""
    texts: dict[str | None, None] = {}
    for one in facts.mentions:
        texts[one.raw] = texts[one.message] = texts[one.command] = texts[one.path] = None
    return "\n".join(filter(None, texts)).casefold()


def find_texts(connection: sqlite3.Connection, text: str) -> list[TextMatch]:
    """The mentions whose text, but not their label, contains ``text``."""
    wanted = text.casefold()
    pages = connection.execute("SELECT episode, folded FROM wording")
    episodes = [episode for episode, page in pages if wanted in page]
    rows = connection.execute(
        "SELECT node, place, thing, e.id, local, raw, message, command, path FROM mention m JOIN episode e"  # noqa: S608  (a constant)
        " ON e.number = m.episode JOIN node n ON n.number = m.node"
        f" WHERE m.episode {ANY_OF} AND NOT instr(n.folded, ?)",
        (as_list(episodes), wanted),
    )
    return [(row[:3], row[3:5]) for row in rows if wanted in folded(*row[5:])]


class MentionText(NamedTuple):
    """One mention: what was said of it, what was changed, why, and what the session was about; ``text`` is all that."""

    node: int
    label: str
    type: str
    place: str | None
    thing: str | None
    episode: str
    local: str
    line: int | None
    log: str | None
    raw: str
    quote: str
    said: str
    wrote: str
    why: str
    task: str
    text: str
    length: int


class AllTexts(NamedTuple):
    """What all mentions say, each in one case with its key and node; their length together without what ``ran``."""

    keys: list[tuple[str, str, int]]
    folded: list[str]
    length: int
    ran: dict[MentionKey, str]


#: What `read_mentions` puts together between a mention's label and the session's task, with what `_plain` leaves out.
_TOGETHER = " || ".join(
    [
        *(f"iif({text} <> '', char(10) || {text}, '')" for text in ("raw", "message", "command", "path")),
        *(
            f"iif({name} <> '' AND coalesce(command, '') = '' AND NOT instr(raw, {name})"
            f" AND NOT instr(coalesce(message, ''), {name}), char(10) || {name}, '')"
            for name in ("place", "thing")
        ),
        *(f"iif({text} <> '', char(10) || {text}, '')" for text in ("quote", "rationale", "context")),
    ]
)


def all_texts(connection: sqlite3.Connection) -> AllTexts:
    """All mentions in the order in which they are stored: labels and tasks are looked up by Python, which is faster."""
    labels = dict(connection.execute("SELECT number, label FROM node"))
    tasks = connection.execute("SELECT number, id, task FROM episode WHERE origin <> 'assertion'")
    sessions = {number: (episode, f"\n{task}" if task else "") for number, episode, task in tasks}
    keys: list[tuple[str, str, int]] = []
    folded: list[str] = []
    for number, local, node, text in connection.execute(
        f"SELECT episode, local, node, {_TOGETHER} FROM mention NOT INDEXED"  # noqa: S608  (constants)
    ):
        if number in sessions:
            episode, task = sessions[number]
            keys.append((episode, local, node))
            folded.append(f"{labels[node]}{text}{task}".casefold())
    lengths, ran = list(map(len, folded)), _commands(connection)
    places = {key[:2]: place for place, key in enumerate(keys)} if ran else {}
    for key, run in ran.items():
        if key in places:
            folded[places[key]] = _joined(folded[places[key]], run.casefold())
    aside = {place for place, text in enumerate(folded) if "/dev/null" in text or "<<" in text}
    if aside:
        exact = {
            (one.episode, one.local): one
            for one in read_mentions(connection, [keys[place][:2] for place in aside], ran)
        }
        for place in aside:
            one = exact[keys[place][:2]]
            folded[place], lengths[place] = one.text, one.length
    return AllTexts(keys, folded, sum(lengths), ran)


def read_mentions(
    connection: sqlite3.Connection, keys: list[MentionKey], ran: Mapping[MentionKey, str]
) -> list[MentionText]:
    """Some mentions; ``ran`` has the commands that those of runs are of."""
    rows = connection.execute(
        "SELECT m.node, n.label, n.type, m.place, m.thing, e.id, m.local, m.line, m.log, m.raw, m.message, m.command,"
        " m.path, m.quote, m.rationale, m.context, e.task"
        " FROM json_each(?) w CROSS JOIN episode e ON e.id = json_extract(w.value, '$[0]')"
        " CROSS JOIN mention m ON m.episode = e.number AND m.local = json_extract(w.value, '$[1]')"
        " JOIN node n ON n.number = m.node",
        (as_list(keys),),
    )
    found = []
    for *place, raw, message, command, path, quote, rationale, context, task in rows:
        plain = (_plain(raw), _plain(command), _plain(quote)) if command else (raw, command, quote)
        names = (name for name in place[3:5] if name and not command and name not in f"{raw}\n{message}")
        said, why = _joined(plain[0], message, plain[1], path, *names), _joined(rationale, context)
        text = _joined(place[1], said, plain[2], why, task).casefold()
        length, run = len(text), ran.get((place[5], place[6]))
        if run:
            why, text = _joined(why, run), _joined(text, run.casefold())
        found.append(MentionText._make((*place, raw, quote, said, plain[2], why, task, text, length)))
    return found


def _commands(connection: sqlite3.Connection) -> dict[MentionKey, str]:
    """The command whose run each failure and each pass is of, by episode and its name there."""
    rows = connection.execute(
        "SELECT e.id, r.events, r.command FROM run r JOIN episode e ON e.number = r.episode"
        " WHERE r.command IS NOT NULL AND r.events <> ''"
    )
    return {(episode, local): _plain(command) for episode, events, command in rows for local in events.split()}


def _plain(command: str) -> str:
    """A command without where its output goes and without a here-document: both have words of anything."""
    return _ASIDE.sub(" ", command) if "/dev/null" in command or "<<" in command else command


def _joined(*texts: str | None) -> str:
    return "\n".join(text for text in texts if text)
