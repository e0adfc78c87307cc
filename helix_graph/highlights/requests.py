"""The sentences about what people asked for: rules not followed, calls refused with a reason, what is forbidden.

A rule counts where an agent of these sessions reads its file: what only another agent's file says, nobody was told.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.shell.commands import plain_command
from helix_episodes.model import CORRECTS
from helix_graph.highlights.model import (
    FEWEST,
    HELPED,
    LONGEST_QUOTE,
    EvidencePlace,
    Highlight,
    Weighed,
    counted,
    newest,
    place_in,
)
from helix_graph.insights.safe_quoting import logged_name_or_quoted, name_or_quoted, quoted
from helix_graph.project import FOLDER
from helix_graph.rules.ledger import Ledger
from helix_graph.rules.observance import acts_of
from helix_graph.rules.rule_files import is_read_by, project_versions, rules_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from helix_episodes.model import Episode
    from helix_graph.rules.model import Binding, Rule, When

#: What each time is at which a rule can be followed or ignored.
_TIMES: dict[When, str] = {
    "commit": "before {} of {} commits with such a change",
    "push": "before {} of {} pushes and pull requests",
    "change": "in {} of {} sessions with such a change",
    "kind": "in {} of {} such runs",
    "instead": "in {} of {} such calls",
    "never": "in {} of {} sessions",
    "place": "for {} of {} such new files",
}
#: The same of a rule that names no files.
_ANYWHERE: dict[When, str] = {
    "commit": "before {} of {} commits of changed code",
    "change": "in {} of {} sessions that changed files",
}
#: A correction with one of these is a rule, not about one step.
_FOR_GOOD = re.compile(r"\b(?:never|always|every time|from now on|in (?:the )?future|again)\b", re.IGNORECASE)
_REASON = "the user said:"


def rule_sentences(root: Path, episodes: Sequence[Episode]) -> Iterator[Weighed]:
    """The rules of the project that its sessions follow in no more than about half of the cases."""
    agents = {one.agent.name for one in episodes if one.agent}
    files = {one: file for file, one in _read_now(root, agents)}
    # Without a rule there is nothing to hold against sessions, and reading many of them takes seconds.
    acts = sorted(map(acts_of, episodes), key=lambda one: (one.at, one.session)) if files else ()
    ledger = Ledger(list(files), acts, accepted={})
    said = set()
    for record in ledger.records:
        rule, binding = record.rule, record.rule.binding
        key = binding and (binding.when, binding.targets)
        if binding is None or record.state not in {"ignored", "mixed"} or key in said:
            continue
        said.add(key)
        left = [one for one in ledger.current(rule) if not one.followed]
        failed = sum(one.failed for one in left)
        where = "" if binding.when in {"change", "never"} else f", in {counted(record.sessions, 'session')}"
        vain = f"; {counted(failed, 'more time')} it was tried and failed" if failed else ""
        if record.instead:
            vain += f"; {counted(record.instead, 'more time')} another check of that kind ran"
        sessions = len({one.session for one in left})
        if sessions < FEWEST:
            continue
        text = (
            f"{name_or_quoted(files[rule])} says {quoted(rule.text, longest=2 * LONGEST_QUOTE)}; that was done "
            f"{_times(binding).format(record.followed, record.opportunities)}{where}{vain}."
        )
        places = [EvidencePlace(session=one.session, log=one.log, line=one.line) for one in left]
        see = f"helix-graph rules show {rule.id}"
        yield Weighed(HELPED, Highlight(kind="rule", text=text, see=see, sessions=sessions, evidence=newest(places)))


def _times(binding: Binding) -> str:
    return _TIMES[binding.when] if binding.scope else _ANYWHERE.get(binding.when, _TIMES[binding.when])


def _read_now(root: Path, agents: Collection[str]) -> Iterator[tuple[str, Rule]]:
    """The project's rules that one of these agents reads now, each with its file; outside a project none."""
    for one in rules_in(project_versions(root.parent)) if root.name == FOLDER else ():
        now = (span.file for span in one.spans if span.until is None)
        files = (file for file in now if any(is_read_by(agent, file) for agent in agents))
        yield from ((file, one) for file in islice(files, 1))


class _Refusal(NamedTuple):
    """A call that a person refused: what it was about, the reason in the person's words, and where."""

    what: str
    reason: str
    place: EvidencePlace


def people_sentences(episodes: Sequence[Episode]) -> Iterator[Weighed]:
    """Commands and files that people refused in several sessions with a reason; what they forbade for good."""
    refused: defaultdict[str, list[_Refusal]] = defaultdict(list)
    for episode in episodes:
        for one in _refusals(episode):
            refused[one.what].append(one)
    for what, several in refused.items():
        sessions = {one.place.session for one in several}
        # What asks for something else is no reason, and the quotation of a long one is cut.
        reasons = list(dict.fromkeys(one.reason for one in several if one.reason and one.reason[-1] not in "?…"))
        if len(sessions) < FEWEST or not reasons:
            continue
        said = " and ".join(quoted(one, longest=LONGEST_QUOTE) for one in reasons[:2])
        text = (
            f"People refused {what} in {len(sessions)} of {len(episodes)} sessions ({counted(len(several), 'time')}): "
        )
        yield _said_by_people(f"{text}{said}.", [one.place for one in several])
    for episode in episodes:
        for event in episode.events:
            words = event.content.removeprefix(CORRECTS)
            if event.type == "milestone" and words != event.content and _FOR_GOOD.search(words):
                text = f"A person corrected the agent with a rule: {quoted(words, longest=LONGEST_QUOTE)}."
                yield _said_by_people(text, [place_in(episode, event.evidence)])


def _said_by_people(text: str, places: Sequence[EvidencePlace]) -> Weighed:
    found = Highlight(
        kind="people",
        text=text,
        see="helix-graph highlights --evidence",
        sessions=len({one.session for one in places}),
        evidence=newest(places),
    )
    return Weighed(HELPED, found)


def _refusals(episode: Episode) -> Iterator[_Refusal]:
    """The commands and edits of one session that a person refused."""
    chosen = {one.id: one for one in episode.decisions}
    wanted = {link.target: chosen[link.source] for link in episode.links if link.source in chosen}
    for event in episode.events:
        if event.type != "tool_call" or event.status != "rejected" or event.id not in wanted:
            continue
        action = wanted[event.id].action
        what = f"edits of {logged_name_or_quoted(action.path)}" if action and action.path else ""
        if action and action.verb == "run" and action.command:
            what = quoted(plain_command(action.command), longest=LONGEST_QUOTE)
        if what:
            reason = (event.evidence.quote or "").partition(_REASON)[2] if event.evidence else ""
            yield _Refusal(what, " ".join(reason.split()).rstrip("."), place_in(episode, event.evidence))
