"""What a mention was about: its place and thing, two resolutions finer than its label; and the texts that it says.

Sessions meet under labels (`helix_graph.graph.node_labels`), which drop what people ask about. So each mention also has
a *place* and a *thing*, and answers group mentions by them:

================ ============================================== ===============================================
of               place                                          thing
================ ============================================== ===============================================
an edit          the file's directory                           the file
a command        program, subcommand and all flags              the whole command
a failed test    the test's file, else the package              the test
other failures   the rule, else the file; of one of the         the symbol that a rule is about, else the message
                 agent's tools the file's directory             without what varies; of a tool the file
other decisions                                                 what was chosen, named or asked for
a commit, a hand-off                                            its text
================ ============================================== ===============================================

Both may be missing (a check that passes is about nothing finer), and are where they would repeat the label; what has a
place has a thing, if need be the same. The *name* of a mention at a resolution is its place or its thing.

A mention is found by a part of what it says, or by words of it. The texts of an episode's mentions are together in one
row: Python finds a text in one long string faster than SQLite finds it row by row (`find_texts`). What is found there
is looked up again in the tables themselves. For a question in words SQLite puts what each mention says together
(`all_texts`), and only what may fit is read again, in its parts (`read_mentions`).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from helix_episodes.light_imports import Regex
from helix_episodes.normalization import shorten
from helix_graph.database import ANY_OF, as_list
from helix_graph.graph.model import folded
from helix_graph.graph.node_labels import family_of, is_error

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from helix_episodes.model import Decision, Event
    from helix_graph.graph.model import EpisodeFacts


#: How finely mentions are told apart: by label alone, by place, by thing.
Resolution = Literal["kind", "place", "thing"]

#: Longer commands and messages are cut here: what tells them apart stands in front, and each is stored twice (its index
#: has it too).
_LONGEST = 120
_LOCATION = Regex(r"^(?:[A-Za-z]:)?[\w./\\@+~-]+\.\w+(?::\d+)+(?:[:,]\s*|\s+)")
#: What a runner prints in a test's stead where a whole file could not be read.
_FILE = Regex(r"[^\s:]*/[^\s:/]+\.\w+|[^\s:/]+\.(?:py|[jt]sx?|rb|go|php|java|rs)")
_PACKAGE = Regex(r"^FAIL\s+(\S+[./]\S+)")
#: The label of a change to a file.
_CHANGE = Regex(
    r"(?P<verb>edit|create|delete) (?P<what>[a-z]+)(?: \((?P<type>\.\w+)\))?(?P<marked>, suppress a check)?"
)
_SEVERAL = {"source": "sources", "test": "tests", "config": "settings"}
#: What stands between two simple commands of one shell line.
_JOINTS = Regex(r"&&|\|\|?|[;\n]")


class FinerLabels(NamedTuple):
    """Place and thing of a mention."""

    place: str | None = None
    thing: str | None = None


_NOTHING_FINER = FinerLabels()


def finer_of_decision(decision: Decision, label: str) -> FinerLabels:
    """What a decision was about; ``label`` is its own, which neither repeats."""
    action = decision.action
    if action is not None and action.path:
        return FinerLabels(_folder(action.path), action.path)
    if action is not None and action.verb == "run":
        flagged = _flagged(action.command or "", action.program or "", action.subcommand or "")
        whole = _cut(action.command or "")
        place = flagged if f"run {flagged}" != label else None
        return FinerLabels(place, place if f"run {whole}" == label else whole)
    thing = _cut((action.object if action and action.verb in {"delegate", "use"} else None) or decision.chosen)
    return FinerLabels(None, thing if thing and not label.endswith(thing) else None)


def finer_of_event(event: Event, label: str) -> FinerLabels:
    """What an event was about; ``label`` is its own, which neither repeats."""
    if not is_error(event):
        if event.type not in {"commit", "milestone", "handoff"}:
            return _NOTHING_FINER
        said = _cut(event.content)
        return FinerLabels(None, said if said and said.casefold() != label.casefold() else None)
    named = event.place
    file = (named and named.file) or event.path
    if event.tool:
        return FinerLabels(_folder(file), file) if file else FinerLabels(None, _message(event, label))
    test = next((one for one in ((named and named.test) or "", *event.tests) if one and not _FILE.fullmatch(one)), None)
    from helix_episodes.extraction.fingerprints.grammars import name_of_test  # 60 ms, which a question does without

    package = _PACKAGE.match(event.message or "")
    place = (named and named.rule) or file or (package[1] if package else None)
    if named and named.rule and named.symbol:
        return FinerLabels(place, named.symbol)
    return FinerLabels(place, (name_of_test(test) if test else _message(event, label)) or place)


def findable(names: FinerLabels) -> FinerLabels:
    """Names without null characters: questions hand them to SQLite in JSON, whose functions end a text there."""
    if "\0" not in (names.place or "") and "\0" not in (names.thing or ""):
        return names
    return FinerLabels(*(name and name.replace("\0", "\N{REPLACEMENT CHARACTER}") for name in names))


def named(label: str, name: str | None, *, resolution: Resolution) -> str:
    """A label with the name of its mentions at a resolution, as people read it.

    >>> named("edit source (.py)", "shop/cart.py", resolution="thing")
    'edit shop/cart.py'
    >>> named("edit source (.py), suppress a check", "shop", resolution="place")
    'edit source (.py), suppress a check in shop'
    >>> named("run git push", "git push --tags", resolution="thing")
    'run git push --tags'
    >>> named("pytest fails: test failed", "test_total", resolution="thing")
    'pytest fails: test failed: test_total'
    >>> named("commit", None, resolution="thing")
    'commit'
    """
    if name is None:
        return label
    verb, _, rest = label.partition(" ")
    if verb == "run":
        return f"run {name}"
    if verb in {"edit", "create", "delete"} and "fails" not in rest:
        if resolution == "place":
            return f"{label} in {name}"
        return f"{verb} {name}" + (", suppress a check" if label.endswith(", suppress a check") else "")
    return f"{label}: {name}"


def of_several(label: str, files: Sequence[str] = ()) -> str:
    """A label of changes to files that are not one, as people read it: with their names where these are known.

    >>> of_several("edit source (.py)"), of_several("edit source (.py)", ("cart.py", "till.py"))
    ('edit .py sources', 'edit cart.py, till.py')
    >>> of_several("run pytest", ("cart.py",))
    'run pytest'
    """
    found = _CHANGE.fullmatch(label)
    if found is None:
        return label
    kind = f"{found['type']} {_SEVERAL.get(found['what'], found['what'])}" if found["type"] else found["what"]
    return f"{found['verb']} {', '.join(files) or kind}{found['marked'] or ''}"


def _folder(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[0] or "."


def _cut(text: str) -> str:
    return shorten(" ".join(text[: 4 * _LONGEST].split()), limit=_LONGEST)


@lru_cache(maxsize=16384)  # agents give the same command again and again; some 10 MB
def _flagged(command: str, program: str, subcommand: str) -> str:
    """The program and subcommand with every flag that the command gives them, without the flags' values."""
    name, parts = program.rpartition("/")[2], subcommand.split()
    for simple in _JOINTS.split(command) if "-" in command else ():
        words = simple.split()
        places = [place for place, word in enumerate(words) if word.rpartition("/")[2] == name]
        if places and {*parts} <= {*words}:
            flags = {
                word.partition("=")[0] for word in words[places[0] + 1 :] if word.startswith("-") and len(word) > 1
            }
            return " ".join((name, *parts, *sorted(flags)))
    return " ".join((name, *parts))


def _message(event: Event, label: str) -> str | None:
    """What an error says, without its location, what the label or place names, and what varies."""
    from helix_episodes.extraction.fingerprints.grammars import message_core  # as above

    plain = _LOCATION.sub("", event.message or "")
    known = (family_of(event), event.place.rule if event.place and event.place.rule else "")
    for word in filter(None, known):
        plain = plain.removesuffix(f"({word})")
        plain = plain[len(word) :].lstrip(": ") if plain.startswith((f"{word}:", f"{word} ")) else plain
    said = _cut(message_core(plain))
    return said if said and said not in known and not label.endswith(said) else None


#: A node, and a place and thing that mentions of it have.
MentionGroup = tuple[int, str | None, str | None]
#: Episode and local id of a mention.
MentionKey = tuple[str, str]
#: A mention's group, and itself.
TextMatch = tuple[MentionGroup, MentionKey]

_ASIDE = Regex(r"(?s)[\d&]?>*\s*/dev/null|<<.*\Z")


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


class MentionText(msgspec.Struct, frozen=True, gc=False):
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


class AllTexts(msgspec.Struct, frozen=True):
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
        values: tuple[Any, ...] = (*place, raw, quote, said, plain[2], why, task, text, length)
        found.append(MentionText(*values))
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
