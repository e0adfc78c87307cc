"""From what somebody writes to what the graph has of it: labels, places and things, the texts of mentions, or words.

`matches` is the one way in for every question that begins with a text. It compares exactly and by parts, in any case,
and gives what it finds in ranks, the best first, so that a question may fall back on the next where one leads nowhere:

1. a label that is the text; then those that end in it as the name of what failed (``unused``)
2. a place or thing that is the text, or ends in it after a slash (``cart.py``), and failures in such a file; here only
   for a text that looks like a name
3. labels that contain it
4. as 2, for any other text
5. places and things that have a part that begins with it, commands left out
6. places and things that contain it
7. mentions whose message, command, path or wording contains it

What is the name of a file, test or symbol is not taken for a part of another one: ranks 5 to 7 are left out then.

A path has a text at either end. ``passes`` and ``fails`` fit labels of every check: from a failure ``passes`` asks for
the passing of the check that failed (of a linter's rule that its linter is content, not that tests pass), and ``fails``
for a failing check before a call of an agent's tool that did not work.

A question whose text names nothing is asked again for what its words may mean (`TextReading`), and the answer says so.
``tests fail`` is part of no label; `helix_graph.graph.label_search` has ``go test fails: test failed`` for it, and the
answer to that has it in ``read_as``. Where no candidate has enough of the words, the answer has the ``nearest``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import msgspec

from helix_episodes.light_imports import Regex
from helix_graph.graph.adjacency import FAILS, PASSES
from helix_graph.graph.label_search import candidates
from helix_graph.graph.mentions import MentionGroup, MentionKey
from helix_graph.graph.passed_or_failed import labels_of_checks, wanted
from helix_graph.graph.question_words import words_asked
from helix_graph.graph.shortest_paths import Ends

if TYPE_CHECKING:
    from helix_graph.graph.adjacency import Adjacency
    from helix_graph.graph.label_search import Candidate, LabelMatch
    from helix_graph.graph.mentions import TextMatch


#: What words have none of: a dot, slash, colon or underscore within, or a capital after a small letter.
_NAME = Regex(r"\S[./\\_:]\S|[a-z][A-Z]|/$")


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """What a text may stand for.

    ``nodes`` are its nodes' numbers. A match by ``label`` means all their mentions; by ``name`` (``names`` are the
    places and things) those of ``groups``; by ``file`` (failures in it) or by ``text`` the ``mentions`` alone.
    """

    how: Literal["label", "name", "file", "text"]
    nodes: frozenset[int]
    names: tuple[str, ...] = ()
    groups: frozenset[MentionGroup] | None = None
    mentions: frozenset[MentionKey] | None = None

    @property
    def within(self) -> frozenset[str] | None:
        """The episodes that the mentions are of."""
        return None if self.mentions is None else frozenset(episode for episode, _ in self.mentions)


def matches(graph: Adjacency, text: str) -> Iterator[Match]:
    """What ``text`` may stand for, the best first; nothing is looked for before it is asked for."""
    wanted = text.strip()
    labelled = graph.labelled(wanted)
    exact = frozenset(node for node, one in graph.summaries(labelled).items() if one.label.lower() == wanted.lower())
    looks_like_a_name = _NAME.search(wanted) is not None
    if exact:
        yield Match(how="label", nodes=exact)
    ending = f" fails: {wanted.lower()}"
    failing = frozenset(node for node in labelled if graph.summary(node).label.lower().endswith(ending)) - exact
    if failing and failing != labelled:
        yield Match(how="label", nodes=failing)
    whole = list(_whole_names(graph, wanted)) if looks_like_a_name else []
    yield from whole
    if labelled - exact:
        yield Match(how="label", nodes=labelled)
    if whole:
        return
    if not looks_like_a_name:
        yield from _whole_names(graph, wanted)
    parts = [name for name in graph.names_containing(wanted) if not _is_whole(name, wanted)]
    begun = [name for name in parts if _begins_a_part(name, wanted)]
    yield from _named(graph, begun)
    yield from _named(graph, [name for name in parts if name not in begun])
    yield from _of_texts("text", graph.texts_containing(wanted))


def names_one(graph: Adjacency, text: str) -> bool:
    """Whether a text is a place or thing, or its last parts; a command is none."""
    wanted = text.strip()
    return any(_is_whole(name, wanted) and not _is_command(name) for name in graph.names_containing(wanted))


def _whole_names(graph: Adjacency, wanted: str) -> Iterator[Match]:
    """What has that place or thing, and failures in such a file."""
    plain = wanted.rstrip("/") or wanted
    names = [name for name in graph.names_containing(plain) if _is_whole(name, plain)]
    # A command that ends in a file is not that file.
    yield from _named(graph, [name for name in names if not _is_command(name)] or names)
    if " " not in plain:
        yield from _of_texts("file", graph.failures_in(plain))


def _named(graph: Adjacency, names: list[str]) -> Iterator[Match]:
    if names:
        groups = frozenset(graph.groups_named(names))
        yield Match(how="name", nodes=frozenset(node for node, *_ in groups), names=tuple(sorted(names)), groups=groups)


def _of_texts(how: Literal["file", "text"], found: list[TextMatch]) -> Iterator[Match]:
    groups, mentions = frozenset(group for group, _ in found), frozenset(mention for _, mention in found)
    if groups:
        yield Match(how=how, nodes=frozenset(node for node, *_ in groups), groups=groups, mentions=mentions)


def _is_command(name: str) -> bool:
    return " " in name.replace(" > ", "")


def _is_whole(name: str, wanted: str) -> bool:
    """Whether a name is the text, or its last parts are."""
    name, wanted = name.lower(), wanted.lower()
    return name == wanted or name.endswith((f"/{wanted}", f" > {wanted}"))


def _begins_a_part(name: str, wanted: str) -> bool:
    """Whether the text begins a name or a part of it; a command is no name of parts."""
    name, wanted = name.lower(), wanted.lower()
    return name.startswith(wanted) or (not _is_command(name) and f"/{wanted}" in name)


def pairs(graph: Adjacency, source: str, target: str) -> Iterator[tuple[int, Match, Match, Iterator[Match]]]:
    """What the two texts may stand for with its place in order, and the goals to try: the likeliest parts first."""
    for place, (start, goal) in enumerate(_whole_pairs(graph, source, target)):
        yield place, start, goal, _parts(graph, start, goal)


def _parts(graph: Adjacency, start: Match, goal: Match) -> Iterator[Match]:
    """The goal, of several labels after those of them that are likelier meant."""
    goals = _likeliest_goals(graph, start.nodes, goal.nodes) if goal.how == "label" else (goal.nodes,)
    for nodes in goals:
        yield goal if nodes == goal.nodes else msgspec.structs.replace(goal, nodes=nodes)


def _whole_pairs(graph: Adjacency, source: str, target: str) -> Iterator[tuple[Match, Match]]:
    """What the two texts may stand for, the best together first; the worse are not even looked for before."""
    waiting = matches(graph, source), matches(graph, target)
    known: tuple[list[Match], list[Match]] = ([], [])
    for total in range(len(_RANKS) * 2):
        for end in (0, 1):
            if len(known[end]) == total and (found := next(waiting[end], None)):
                known[end].append(found)
        starts, goals = known
        for place in range(total + 1):
            if place < len(starts) and total - place < len(goals):
                yield starts[place], goals[total - place]


#: `matches` gives at most so many: its ranks.
_RANKS = range(8)


def ends_at_kind(graph: Adjacency, source: str, target: str) -> Iterator[Ends]:
    """Where to search, in order: labels at both ends, then texts at one, then at both.

    Texts are read only when labels led nowhere: there are many more of them.
    """
    for by_text in ((False, False), (False, True), (True, False), (True, True)):
        (starts, one), (goals, other) = (
            _one_end(graph, text.strip(), by_text=texts) for text, texts in zip((source, target), by_text, strict=True)
        )
        if starts and goals:
            within = one if other is None else other if one is None else one & other
            for meant in (goals,) if by_text[1] else _likeliest_goals(graph, starts, goals):
                yield Ends(starts, meant, within)


def _one_end(graph: Adjacency, text: str, *, by_text: bool) -> tuple[frozenset[int], frozenset[str] | None]:
    """The nodes at one end, and the episodes that a match by text is restricted to."""
    if not by_text:
        return graph.labelled(text), None
    found = graph.mentioning(text)
    return frozenset(found), frozenset().union(*found.values())


def _likeliest_goals(graph: Adjacency, sources: frozenset[int], targets: frozenset[int]) -> Iterator[frozenset[int]]:
    """The nodes that are meant, the likeliest first; each is a part of ``targets``.

    The whole is the last, but where the start is a failure whose own check is among them: no other pass is a pass of
    what failed.
    """
    goals = graph.summaries(targets)
    failed = {node for node, card in goals.items() if card.type == "error"}
    passed = {node for node, card in goals.items() if card.label.endswith(PASSES)}
    if len(passed) > 1:
        starts = graph.summaries(sources).values()
        checks = {card.label.partition(FAILS)[0] for card in starts if card.type == "error"}
        own = frozenset(node for node in passed if goals[node].label.removesuffix(PASSES) in checks)
        if own and all(card.type == "error" for card in starts):
            yield own
            return
    if len(failed) > 1:
        known = graph.kinds_of_checks()
        of_tools = {node for node in failed if goals[node].label.partition(FAILS)[0] not in known}
        if of_tools and of_tools != failed:
            yield targets - of_tools
    yield targets


def most_telling(graph: Adjacency, goals: frozenset[int]) -> Iterator[frozenset[int]]:
    """Of several passes those that say most of a change: tests, then builds and types, before linters."""
    labels = {node: card.label for node, card in graph.summaries(goals).items()}
    if len(goals) > 1 and all(label.endswith(PASSES) for label in labels.values()):
        kinds = graph.kinds_of_checks()
        for some in ({"test"}, {"build", "typecheck"}):
            yield frozenset(node for node in goals if kinds.get(labels[node].removesuffix(PASSES)) in some)


#: So many candidates are shown where none is tried, and tried; so many labels of one text are named.
NEAREST = 3
_TRIED = 8
#: A candidate is tried when it has this much of the words; the others are only shown.
_ENOUGH = 0.7
_TESTS = re.compile(r"\b(?:unit ?)?tests?\b", re.IGNORECASE)


class TextReading:
    """What a text may stand for: ``texts`` to ask for, each with the name under which the answer says so.

    A text that names something is asked for as it is, and only so, but not for the opposite: "it works" within a
    person's report of a failure is no pass, and "works" is no part of "workspace". Words within a name or a message
    come after a label that has all of them, and before candidates that have most.
    """

    def __init__(self, graph: Adjacency, text: str) -> None:
        self.taken_for = ""
        self.nearest: tuple[LabelMatch, ...] = ()
        self.texts = [("", text)]
        if not text.strip():
            return
        labels = labels_of_checks(graph.connection)
        asked = wanted(text, labels)
        first = next(matches(graph, text), None)
        named = first is not None and _is_named(first, text.strip().casefold())
        if first and (asked.leaning or asked.programs):
            opposite = all(asked.excludes(one.label) for one in graph.summaries(first.nodes).values())
            a_part = asked.leaning and len(words_asked(text)) == 1 and not named
            first = None if opposite or a_part else first
        if first:
            known = sorted(one.label for one in graph.summaries(first.nodes).values())
            if text.strip().casefold() not in map(str.casefold, known):
                more = len(known) - NEAREST
                within = " (its text says it)" * (first.how == "text")
                self.taken_for = ", ".join(known[:NEAREST]) + (f" and {more} more" if more > 0 else "") + within
            if named:
                return
        self.texts = self.texts if first else []
        if asked.alone and not first:
            failing = sorted(f"{one} fails" for one in asked.programs)
            self.texts = [(one, one) for one in failing if any(label.startswith(one) for label in labels)]
        if self.texts and asked.alone:
            return
        found = candidates(graph.connection, text, limit=_TRIED)
        self.nearest = tuple(one.match for one in found[:NEAREST])
        checks: frozenset[str] = frozenset()
        if asked.leaning and not asked.programs and _TESTS.search(text):  # of tests only those that run tests failed
            checks = frozenset(check for check, kind in graph.kinds_of_checks().items() if kind == "test")
        fitting = [one for one in found if not asked.leaning or _fits(one, checks)][:NEAREST]
        enough = [one for one in fitting if (one.match.share or 0.0) >= _ENOUGH]
        whole = [one for one in enough if one.text == one.match.label and one.match.share == 1.0]
        others = [one for one in enough if one not in whole]
        if asked.leaning:  # what a text means depends on no other end: only what else the same check says is tried
            others = [one for one in others if _check(one) == _check((whole or others)[0])]
        self.texts = [*_to_ask(whole), *self.texts, *_to_ask(others)]


def _fits(one: Candidate, checks: frozenset[str]) -> bool:
    """Whether it may have passed or failed, which a command as it was called did not, and is of one of the checks."""
    if one.match.session is not None:
        return True
    return not one.match.label.startswith("run ") and (not checks or _check(one) in {*checks, ""})


def _check(one: Candidate) -> str:
    """The check that a label is of, empty for what is of none."""
    check, fails, _ = one.match.label.partition(FAILS)
    return check if fails else check.removesuffix(PASSES) if check.endswith(PASSES) else ""


def _is_named(first: Match, text: str) -> bool:
    """Whether a text is a label or part of one, or a whole name or the last parts of one."""
    if first.how == "name":
        return any(name.casefold() == text or name.casefold().endswith(f"/{text}") for name in first.names)
    return first.how in {"label", "file"}


def _to_ask(found: list[Candidate]) -> list[tuple[str, str]]:
    return [(one.match.name, one.text) for one in found]
