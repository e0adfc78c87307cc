"""The sentences about what people asked for: rules not followed, calls refused with a reason, checks silenced unasked.

A rule counts where an agent of these sessions reads its file: what only another agent's file says, nobody was told.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.shell.commands import parse_command, plain_command
from helix_episodes.model import CORRECTS
from helix_graph.highlights.model import (
    EVIDENCE,
    FEWEST,
    FEWEST_OF_MANY,
    HELPED,
    LONGEST_QUOTE,
    OPEN,
    EvidencePlace,
    Highlight,
    RankedHighlight,
    counted,
    place_in,
    said_in,
)
from helix_graph.insights.safe_quoting import logged_name_or_quoted, quoted
from helix_graph.project import FOLDER
from helix_graph.rules.ledger import Ledger
from helix_graph.rules.observance import acts_of_all
from helix_graph.rules.rule_files import file_for_agents, is_read_by, project_versions, rules_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from helix_episodes.model import Episode, Evidence
    from helix_graph.rules.model import Binding, Rule, RuleRecord, When

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
#: The same of a rule that names no files; of one that asks for a check, what changed prose alone is left out.
_ANYWHERE: dict[When, str] = {
    "commit": "before {} of {} commits",
    "change": "in {} of {} sessions that changed files",
}
#: Of a rule with more commands they are not named again.
_BOTH = 2
#: What a formatter does a linter may do too.
_REWRITES = frozenset({"lint", "format"})
#: A correction with one of these is a rule, not about one step.
_FOR_GOOD = re.compile(r"\b(?:never|always|every time|from now on|in (?:the )?future|again)\b", re.IGNORECASE)
_REASON = "the user said:"
#: What is asked for in so large a share of all sessions is worth a rule.
_ASKED = 0.08
_CLAUSE = re.compile(r"[.;:!?,](?:\s+|$)| (?:and|then|but) ", re.IGNORECASE)
#: Words before the verb of a request, as in "ok can you please".
_LEADS = re.compile(
    r"ok(?:ay)?|yes|yeah|sure|great|good|perfect|thanks|now|then|also|and|so|just|please|can|could|would|will|you|we|i"
    r"|let'?s|go|ahead|want|to|should|must",
    re.IGNORECASE,
)
#: Verbs of what an agent could have done unasked, those that mean the same as one.
_VERBS = {
    **dict.fromkeys(("add", "write"), "add"),
    **dict.fromkeys(("make", "create", "open", "need"), "make"),
    "update": "update",
    "run": "run",
}
#: Words that end what is asked for, and those that say nothing of it.
_ENDS = re.compile(
    r"for|to|in|with|so|that|which|from|on|of|by|when|if|because|as|at|against|about|into|using|only|is|are",
    re.IGNORECASE,
)
_FILLERS = re.compile(
    r"an?|the|some|more|th(?:is|at|ese|ose)|it|them|new|my|our|your|its|all|any|also|few|small|(?:an)?other|one"
    r"|(?:file|thing|change|issue)s?|code|feature|branch|work",
    re.IGNORECASE,
)
_LONGEST_PHRASE, _SHORT = 6, 3
#: A correction is written down where one rule has so many of its words, those of a few letters aside.
_WORD, _NEARLY_ALL = re.compile(r"\w{4,}"), 0.75
#: How people speak of a marker; so many of the commonest are named.
_MARKING = re.compile(r"\b(?:ignore|suppress\w*|silenc\w+|disable|nolint|noqa)\b", re.IGNORECASE)
_MARKERS = 3
#: Markers that silence a check are a habit from this share of the sessions on.
_SILENCED = 0.1


class WrittenRules(NamedTuple):
    """What the rule files say that an agent of these sessions reads now; outside a project there are none.

    ``file`` is where a new rule goes; each of ``rules`` comes with its file, ``text`` is all of them.
    """

    file: str
    rules: Sequence[tuple[str, Rule]]
    text: str | None


def written_rules(root: Path, episodes: Sequence[Episode]) -> WrittenRules:
    """The rules of the project that a memory is of."""
    agents = {one.agent.name for one in episodes if one.agent}
    file = file_for_agents(root.parent, agents)
    if root.name != FOLDER:
        return WrittenRules(file, (), None)
    versions = project_versions(root.parent)
    read = {one.path: one.text or "" for one in versions if any(is_read_by(agent, one.path) for agent in agents)}
    now = ((span.file, rule) for rule in rules_in(versions) for span in rule.spans if span.until is None)
    each = {rule.id: (path, rule) for path, rule in now if path in read}
    return WrittenRules(file, tuple(each.values()), "\n".join(read.values()))


def rule_sentences(written: WrittenRules, episodes: Sequence[Episode]) -> Iterator[RankedHighlight]:
    """The rules of the project that its sessions follow in no more than about half of the cases."""
    files = {one: file for file, one in written.rules}
    if not files:  # reading many sessions takes seconds
        return
    ledger = Ledger(list(files), sorted(acts_of_all(episodes), key=lambda one: (one.at, one.session)), accepted={})
    # What a hook checked when a commit was made.
    hooks = {
        (episode.id, run.evidence.line, _sort_of(run.kind))
        for episode in episodes
        for run in episode.runs
        if run.evidence and run.passed and (run.command or "").startswith("git commit")
    }
    said = set()
    for record in ledger.records:
        rule, binding = record.rule, record.rule.binding
        key = binding and (binding.when, binding.targets)
        if binding is None or record.state not in {"ignored", "mixed"} or key in said:
            continue
        said.add(key)
        left = [one for one in ledger.current(rule) if not one.followed]
        sessions = len({one.session for one in left})
        kinds = {part.kind for one in binding.targets for part in parse_command(one.text)}
        hooked = sum(any((one.episode, one.line, _sort_of(kind)) in hooks for kind in kinds) for one in left)
        if sessions < FEWEST or 2 * record.followed > record.opportunities or 2 * hooked >= len(left):
            continue
        failed = sum(one.failed for one in left)
        names = [f"{quoted(one.text)}{_other_names(one.text, episodes)}" for one in binding.targets]
        how_often = _how_often(record, binding, names, failed=failed, of_code=None not in kinds)
        text = f"{said_in(files[rule], rule.text, longest=2 * LONGEST_QUOTE)}; {how_often}"
        advice = f": {'fix what it fails on' if 2 * failed > len(left) else 'let a hook do it'}, or drop the line."
        places = [EvidencePlace(session=one.session, log=one.log, line=one.line) for one in left]
        see = f"helix-graph rules show {rule.id}"
        newest = tuple(places[: -EVIDENCE - 1 : -1])
        found = Highlight(
            kind="rule", text=text + advice, brief=f"{text}.", see=see, sessions=sessions, evidence=newest
        )
        yield RankedHighlight(HELPED, found)


def _how_often(record: RuleRecord, binding: Binding, names: Sequence[str], *, failed: int, of_code: bool) -> str:
    """How often a rule was followed, in words; ``failed`` calls of what it asks for came to nothing."""
    plain = _TIMES[binding.when]
    times = plain if binding.scope else _ANYWHERE.get(binding.when, plain)
    prose = " of more than prose" if binding.when == "commit" and of_code and not binding.scope else ""
    where = "" if binding.when in {"change", "never"} else f", in {counted(record.sessions, 'session')}"
    more = "in {} more" if binding.when == "change" else "{} more times"
    vain = f"; {more.format(failed)} the call with it failed" if failed else ""
    done = "that was done"
    if binding.when in {"commit", "push", "change"} and len(names) <= _BOTH and not binding.either:
        both = " both" if names[1:] else ""
        done = f"{' and '.join(names)}{both} {'went through' if failed else 'ran'}"
    return f"{done} {times.format(record.followed, record.opportunities)}{prose}{where}{vain}"


def _other_names(command: str, episodes: Sequence[Episode]) -> str:
    """The commands by which a task runner says that it ran the task of a command."""
    task = command.rsplit(maxsplit=1)[-1]
    calls = {plain_command(run.command or "") for one in episodes for run in one.runs if task in run.tasks}
    found = sorted(quoted(call) for call in calls if call != command)
    return f" (or {found[0]}, which runs it)" if found else ""


def _sort_of(kind: str | None) -> str | None:
    return "lint" if kind in _REWRITES else kind


class _Refusal(NamedTuple):
    """A call that a person refused: what it was about, the reason in the person's words, and where.

    ``command`` is empty where it was no command.
    """

    what: str
    command: str
    reason: str
    place: EvidencePlace


def people_sentences(written: WrittenRules, episodes: Sequence[Episode]) -> Iterator[RankedHighlight]:
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
        given = len({one.place.session for one in several if one.reason in reasons[:2]})
        why = said if given == len(sessions) else f"{said} was said in {given}"
        text = f"The user refused {what} in {len(sessions)} of {len(episodes)} sessions: {why}"
        text += _asked_for_elsewhere(several[0].command, sessions, written, episodes)
        yield _said_by_people(f"{text}.", [one.place for one in several])
    corrected: defaultdict[str, list[EvidencePlace]] = defaultdict(list)
    for episode in episodes:
        for event in episode.events:
            words = event.content.removeprefix(CORRECTS)
            if event.type != "milestone" or words == event.content or not _FOR_GOOD.search(words):
                continue
            longer = set(_WORD.findall(words.lower()))
            rules = (set(_WORD.findall(rule.text.lower())) for _, rule in written.rules)
            if not any(longer and len(longer & rule) >= _NEARLY_ALL * len(longer) for rule in rules):
                corrected[words].append(place_in(episode, event.evidence))
    for words, places in corrected.items():
        text = f"A person corrected the agent with a rule: {quoted(words, longest=LONGEST_QUOTE)}"
        yield _said_by_people(f"{text}: write it into {written.file}.", places)


def _asked_for_elsewhere(command: str, refused: set[str], written: WrittenRules, episodes: Sequence[Episode]) -> str:
    """Where a command that people refused ran all the same, and which rule asks for it."""
    if not command:
        return f": say in {written.file} what is wanted"
    ran = [
        {plain_command(one.action.command or "") for one in each.decisions if one.action}
        for each in episodes
        if each.session not in refused
    ]
    every = sum(any(f"{one} ".startswith(f"{command} ") for one in each) for each in ran)
    whole = sum(command in each for each in ran)
    some = f", in {whole} of them without arguments" if 0 < whole < every else ""
    others = f"; agents ran it in {counted(every, 'other session')}{some}" if every else ""
    asking = [one for one in written.rules if f"`{command}`" in one[1].text]
    file, rule = min(asking, key=lambda one: one[0] != written.file, default=("", None))
    if rule is None:
        return f"{others}: say in {written.file} whether agents run it unasked"
    return f"{others}; {said_in(file, rule.text)}: say there whether agents run it unasked"


class _Request(NamedTuple):
    """What a person asked for by the way: verb and object, in the person's words, and where."""

    what: tuple[str, str]
    words: str
    place: EvidencePlace


def request_sentences(written: WrittenRules, episodes: Sequence[Episode]) -> Iterator[RankedHighlight]:
    """What people asked for in session after session once the work had begun, where no rule file speaks of it."""
    asked: defaultdict[tuple[str, str], list[_Request]] = defaultdict(list)
    for episode in episodes:
        # Who is only talked to has no routine.
        works = any(one.action and one.action.verb in {"edit", "create", "delete", "run"} for one in episode.decisions)
        for one in _requests(episode) if works else ():
            asked[one.what].append(one)
    for (_, thing), several in asked.items():
        sessions = {one.place.session for one in several}
        if len(sessions) < max(FEWEST_OF_MANY, _ASKED * len(episodes)):
            continue
        written_so = {one.words.lower(): one.words for one in several}
        said = [written_so[low] for low, _ in Counter(one.words.lower() for one in several).most_common(2)]
        other = f" (also {quoted(said[1], longest=LONGEST_QUOTE)})" if said[1:] else ""
        if re.search(rf"\b{re.escape(thing)}", written.text or "", re.IGNORECASE):
            continue  # a rule speaks of it, and people ask all the same: that is for them to decide
        rule = "" if written.text is None else f"; no rule file here mentions {quoted(thing)}"
        text = (
            f"People told agents to {quoted(said[0], longest=LONGEST_QUOTE)}{other} after the first prompt in "
            f"{len(sessions)} of {len(episodes)} sessions{rule}: write in {written.file} whether agents should do so "
            "unasked."
        )
        yield _said_by_people(text, [one.place for one in several])


def _requests(episode: Episode) -> Iterator[_Request]:
    """The acts that the prompts after the first ask for, in clauses that begin with a verb."""
    for prompt in episode.prompts[1:]:
        for clause in _CLAUSE.split(" ".join(prompt.quote.split())):
            words = [word.strip("\"'`()[]@*") for word in clause.split()]
            at = next((at for at, word in enumerate(words) if not _LEADS.fullmatch(word)), len(words))
            verb = _VERBS.get(words[at].lower()) if at < len(words) else None
            phrase = list(takewhile(lambda word: not _ENDS.fullmatch(word), words[at + 1 :]))
            names = [_noun(word) for word in phrase if not _FILLERS.fullmatch(word)]
            if verb and names and len(phrase) <= _LONGEST_PHRASE and names[-1].isalpha():
                said = " ".join(clause.split()[at : at + 1 + len(phrase)]).strip("\"'`()[]*")
                yield _Request((verb, names[-1]), said, place_in(episode, prompt))


def _noun(word: str) -> str:
    """A word as it is compared: without its ending, ``tests`` and ``test`` alike."""
    plain = re.sub(r"\.\w{1,4}$", "", word.lower())
    return plain.removesuffix("s") if len(plain) > _SHORT and not plain.endswith("ss") else plain


def _said_by_people(text: str, places: Sequence[EvidencePlace]) -> RankedHighlight:
    found = Highlight(
        kind="people",
        text=text,
        see="helix-graph highlights --evidence",
        sessions=len({one.session for one in places}),
        evidence=tuple(reversed(places)),
    )
    return RankedHighlight(HELPED, found)


def _refusals(episode: Episode) -> Iterator[_Refusal]:
    """The commands and edits of one session that a person refused."""
    chosen = {one.id: one for one in episode.decisions}
    wanted = {link.target: chosen[link.source] for link in episode.links if link.source in chosen}
    for event in episode.events:
        if event.type != "tool_call" or event.status != "rejected" or event.id not in wanted:
            continue
        action = wanted[event.id].action
        what, command = f"edits of {logged_name_or_quoted(action.path)}" if action and action.path else "", ""
        if action and action.verb == "run" and action.command:
            command = plain_command(action.command)
            what = quoted(command, longest=LONGEST_QUOTE)
        if what:
            reason = (event.evidence.quote or "").partition(_REASON)[2] if event.evidence else ""
            yield _Refusal(what, command, " ".join(reason.split()).rstrip("."), place_in(episode, event.evidence))


def habit_sentences(episodes: Sequence[Episode]) -> Iterator[RankedHighlight]:
    """Sessions that put a marker into code which silences a check, unasked, with the commonest and what people said."""
    places: list[EvidencePlace] = []
    markers: Counter[str] = Counter()
    said = ""
    for episode in episodes:
        log = episode.provenance.log if episode.provenance else None
        made = [one for decision in episode.decisions if decision.action for one in decision.action.markers]
        own = [one for one in made if not _is_asked_for(episode.prompts, one.line)]
        places += [
            EvidencePlace(session=episode.session, log=log, line=line)
            for line in dict.fromkeys(one.line for one in own)
        ]
        markers.update({one.name for one in own})
        rules = {(one.name.rpartition(":")[2].strip().lower(), one.line) for one in own if ":" in one.name}
        answers = (
            prompt.quote
            for prompt in episode.prompts
            for rule, line in rules
            if prompt.line > line and rule in prompt.quote.lower() and _MARKING.search(prompt.quote)
        )
        said = said or next(answers, "")
    sessions = len({one.session for one in places})
    if sessions < max(FEWEST_OF_MANY, _SILENCED * len(episodes)):
        return
    often = [(name, times) for name, times in markers.most_common(_MARKERS) if times > 1]
    names = ", ".join(f"{quoted(name)} in {times}" for name, times in often)
    text = f"Agents silenced a check by a marker in the code, unasked, in {sessions} of {len(episodes)} sessions"
    text += f" ({names})" if names else ""
    text += f"; a person said of one {quoted(said, longest=LONGEST_QUOTE)}" if said else ""
    advice = ": allow in the check's configuration what is meant, and let agents ask before any other marker"
    see = "helix-graph highlights --evidence"
    told = Highlight(
        kind="command", text=f"{text}{advice}.", brief=f"{text}.", see=see, sessions=sessions, evidence=tuple(places)
    )
    yield RankedHighlight(OPEN, told)


def _is_asked_for(prompts: Sequence[Evidence], line: int) -> bool:
    """Whether the last thing that a person said before a line of the log was to silence a check."""
    before = [one.quote for one in prompts if one.line < line]
    return bool(before) and bool(_MARKING.search(before[-1]))
