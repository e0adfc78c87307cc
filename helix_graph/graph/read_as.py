"""A question whose text names nothing is asked again for what its words may mean, and the answer says so.

``tests fail`` is part of no label. `helix_graph.graph.label_search` has ``go test fails: test failed`` for it, and the
answer to that has it in ``read_as``. Where no candidate has enough of the words, the answer has the ``nearest``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_graph.graph.label_lookup import matches
from helix_graph.graph.label_search import candidates
from helix_graph.graph.question_words import contradicts, leaning, words_asked

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_graph.graph.adjacency import Adjacency
    from helix_graph.graph.label_lookup import Match
    from helix_graph.graph.label_search import Candidate, LabelMatch
    from helix_graph.graph.paths import PathAnswer
    from helix_graph.graph.relations import RelationsAnswer

#: So many candidates are tried, and shown where none is tried.
NEAREST = 3
#: A candidate is tried when it has this much of the words; the others are only shown.
_ENOUGH = 0.7


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
    return replace(answer, nearest=unclear.nearest) if unclear else answer


def relations_by_words(graph: Adjacency, ask: Callable[[str], RelationsAnswer], label: str) -> RelationsAnswer:
    """What ``ask`` finds for the text, or for what its words may mean."""
    reading = _Reading(graph, label)
    for name, text in reading.texts:
        answer = ask(text)
        if answer.found and (not name or any(group.relations for group in answer.groups)):
            return replace(answer, read_as={label: name}) if name else answer
    return replace(ask(label), nearest=reading.nearest)


class _Reading:
    """What a text may stand for: ``texts`` to ask for, each with the name under which the answer says so.

    A text that names something is asked for as it is, and only so, but not for the opposite: "it works" within a
    person's report of a failure is no pass, and "works" is no part of "workspace". Words within a name or a message
    come after a label that has all of them, and before candidates that have most.
    """

    def __init__(self, graph: Adjacency, text: str) -> None:
        first = next(matches(graph, text), None) if text.strip() else None
        if first and (asked := leaning(text)):
            opposite = all(contradicts(asked, one.label) for one in graph.summaries(first.nodes).values())
            within = len(words_asked(text)) == 1 and not _is_named(first, text.strip().casefold())
            first = None if opposite or within else first
        self.texts = [("", text)] if first or not text.strip() else []
        self.nearest: tuple[LabelMatch, ...] = ()
        if not text.strip() or (first and _is_named(first, text.strip().casefold())):
            return
        found = candidates(graph.connection, text, limit=NEAREST)
        self.nearest = tuple(one.match for one in found)
        enough = [one for one in found if (one.match.share or 0.0) >= _ENOUGH]
        labels = [one for one in enough if one.text == one.match.label and one.match.share == 1.0]
        others = [one for one in enough if one not in labels]
        self.texts = [*_named(labels), *self.texts, *_named(others)]


def _is_named(first: Match, text: str) -> bool:
    """Whether a text is a label or part of one, or a whole name or the last parts of one."""
    if first.how == "name":
        return any(name.casefold() == text or name.casefold().endswith(f"/{text}") for name in first.names)
    return first.how in {"label", "file"}


def _named(found: list[Candidate]) -> list[tuple[str, str]]:
    return [(one.match.name, one.text) for one in found]
