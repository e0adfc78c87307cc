"""A question whose text names nothing is asked again for what its words may mean, and the answer says so.

``tests fail`` is part of no label. `helix_graph.graph.label_search` has ``go test fails: test failed`` for it, and the
answer to that has it in ``read_as``. Where no candidate has enough of the words, the answer has the ``nearest``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.graph.adjacency import FAILS, PASSES
from helix_graph.graph.label_lookup import matches
from helix_graph.graph.label_search import candidates, labels_of_checks
from helix_graph.graph.passed_or_failed import wanted
from helix_graph.graph.question_words import words_asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_graph.graph.adjacency import Adjacency
    from helix_graph.graph.label_lookup import Match
    from helix_graph.graph.label_search import Candidate, LabelMatch
    from helix_graph.graph.paths import PathAnswer
    from helix_graph.graph.relations import RelationsAnswer

#: So many candidates are shown where none is tried, and tried; so many labels of one text are named.
NEAREST = 3
_TRIED = 8
#: A candidate is tried when it has this much of the words; the others are only shown.
_ENOUGH = 0.7
_TESTS = re.compile(r"\b(?:unit ?)?tests?\b", re.IGNORECASE)


def path_by_words(graph: Adjacency, ask: Callable[..., PathAnswer], *, source: str, target: str) -> PathAnswer:
    """The path that ``ask`` finds for the texts, or for what their words may mean."""
    starts, goals = _Reading(graph, source), _Reading(graph, target)
    without: PathAnswer | None = None
    for start, begin in starts.texts:
        for goal, end in goals.texts:
            read = {asked: meant for asked, meant in ((source, start), (target, goal)) if meant}
            answer = ask(source=begin, target=end)
            answer = replace(answer, read_as=read) if read else answer
            if answer.found and (answer.steps or not read):
                return answer
            without = without or (None if answer.found else answer)
    unclear = next((one for one in (starts, goals) if not one.texts), None)
    answer = without or ask(source=source, target=target)
    if not answer.found:
        ends = ((source, starts), (target, goals))
        taken = {text: one.taken_for for text, one in ends if one.taken_for and text not in answer.read_as}
        answer = replace(answer, read_as={**answer.read_as, **taken})
    return replace(answer, nearest=unclear.nearest) if unclear else answer


def relations_by_words(graph: Adjacency, ask: Callable[[str], RelationsAnswer], label: str) -> RelationsAnswer:
    """What ``ask`` finds for the text, or for what its words may mean."""
    reading = _Reading(graph, label)
    alone: RelationsAnswer | None = None
    for name, text in reading.texts:
        answer = ask(text)
        if not answer.found:
            continue
        answer = replace(answer, read_as={label: name}) if name else answer
        if not name or any(group.relations for group in answer.groups):
            return answer
        alone = alone or answer
    return alone or replace(ask(label), nearest=reading.nearest)


class _Reading:
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
        kinds = _kinds_named(graph, text) if asked.leaning and not asked.programs else frozenset()
        fitting = [one for one in found if not asked.leaning or _fits(one, kinds)][:NEAREST]
        enough = [one for one in fitting if (one.match.share or 0.0) >= _ENOUGH]
        whole = [one for one in enough if one.text == one.match.label and one.match.share == 1.0]
        others = [one for one in enough if one not in whole]
        if asked.leaning:  # what a text means depends on no other end: only what else the same check says is tried
            others = [one for one in others if _check(one) == _check((whole or others)[0])]
        self.texts = [*_named(whole), *self.texts, *_named(others)]


def _kinds_named(graph: Adjacency, text: str) -> frozenset[str]:
    """The checks of the kind that a text names: of tests only those that run tests failed."""
    if not _TESTS.search(text):
        return frozenset()
    return frozenset(check for check, kind in graph.kinds_of_checks().items() if kind == "test")


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


def _named(found: list[Candidate]) -> list[tuple[str, str]]:
    return [(one.match.name, one.text) for one in found]
