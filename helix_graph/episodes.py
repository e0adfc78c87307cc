"""The API of `memory.episodes`: episodes with people's corrections applied.

Next to our own methods stand the original API's functions: ``Get-Episode`` (`get`), ``Get-Episodes`` (`list`),
``New-Episode`` (`new`) and ``Get-DecisionSequence`` (`decision_sequence`). `correct` and `outcome` record what people
know better; the episode's own file stays as it was extracted.

`build_episode` takes structured data, as ``New-Episode`` does. Missing values are completed: an ``id`` becomes the next
free number, a ``timestamp`` stays unknown. The two sides of a link (``effects`` of a decision, ``caused_by`` of an
event) are made to agree.

A link to an unknown id is left out and listed under ``unresolved`` in the file: the original's own example of a
decision has such ``effects``, and refusing the whole episode would lose it. A link that runs backwards in time or
closes a circle is refused by name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec.structs import replace

from helix_episodes.corrections import (
    DecisionCorrection,
    LinkCorrection,
    OutcomeCorrection,
    anchor_of,
    corrected,
    parts_of,
    stated_links,
)
from helix_episodes.episode_consistency import free_id, repair_links, repair_parts, unsound_links
from helix_episodes.errors import EpisodeError, InvalidEpisode, NotFound
from helix_episodes.model import (
    OUTCOME_ID,
    Decision,
    DecisionType,
    Episode,
    Event,
    EventType,
    Metrics,
    Outcome,
    OutcomeBasis,
    sortable_time,
)
from helix_episodes.msgspec_types import ready
from helix_episodes.redaction import for_disk
from helix_episodes.store import EpisodeStore, decode_episode, plain_json
from helix_graph.graph.assertions import EDGE_TYPES, Assertion, AssertionStore, now
from helix_graph.project import without_forgotten
from helix_graph.validation import as_choice, as_datetime, as_int, as_line, as_path, as_str, as_text

if TYPE_CHECKING:
    from datetime import date

    from helix_episodes.corrections import Correction, PartAnchor
    from helix_episodes.verification import CheckedQuotation


OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
BASES: tuple[OutcomeBasis, ...] = tuple(basis for basis in get_args(OutcomeBasis) if basis != "none")
DECISION_TYPES: tuple[DecisionType, ...] = get_args(DecisionType)
FEWEST, MOST = 1, 100
#: The original's own example of an episode id leaves out the word that its sessions are called with.
_WITHOUT_SESSION = re.compile(r"(\d{4}-\d\d-\d\d)-(\d+)")


class Episodes(EpisodeStore):
    """The episodes in ``folder``, corrected by ``assertions``. ``keep`` takes a new assertion into memory and graph."""

    def __init__(self, folder: Path, *, assertions: AssertionStore, keep: Callable[[Assertion], str]) -> None:
        super().__init__(folder)
        self._assertions = assertions
        self._keep = keep

    def get(self, name: str) -> Episode | None:
        """The episode of a session id or episode id (``episode-<session>``), or None when there is none.

        The form of the original's example, which leaves out the word *session*, is taken too:
        ``episode-2026-01-01-126`` for ``2026-01-01-session-126``.
        """
        extracted = self.extracted(as_str("name", name))
        return extracted and self._now(extracted)

    def extracted(self, name: str) -> Episode | None:
        """As `get`, but as it was extracted, without corrections."""
        found = super().get(name)
        short = None if found else _WITHOUT_SESSION.fullmatch(name.removeprefix("episode-"))
        return super().get(f"{short[1]}-session-{short[2]}") if short else found

    def files(self) -> list[Path]:
        """The episode files, by name, but for those of forgotten sessions."""
        return without_forgotten(self.folder.parent, super().files())

    def require(self, name: str) -> Episode:
        """The episode that a person names, as `resolve` understands it; a forgotten one is none."""
        found = super().require(name)
        if not without_forgotten(self.folder.parent, [self.path_of(found.session)]):
            raise NotFound.of_episode(name)
        return found

    def scan(self) -> Iterator[tuple[Path, Episode | InvalidEpisode]]:
        """Every file with its episode, or with the error that says what is wrong with it."""
        corrections = self._assertions.corrections()
        for path, one in super().scan():
            yield path, corrected(one, corrections.get(one.id, ())) if isinstance(one, Episode) else one

    def _found(self, outcome: str | None, since: date | str | None, task: str | None) -> list[Episode]:
        at, part = as_datetime("since", since), None if task is None else as_str("task", task)
        if outcome is None:
            return super().list(since=at, task=part, max_results=sys.maxsize)
        wanted: Outcome = as_choice("outcome", outcome, OUTCOMES)
        return super().list(outcome=wanted, since=at, task=part, max_results=sys.maxsize)

    def unreadable(self) -> tuple[InvalidEpisode, ...]:
        """What is wrong with each file that is no valid episode; `list` leaves such files out."""
        return tuple(one for _, one in super().scan() if isinstance(one, InvalidEpisode))

    def list(
        self,
        outcome: str | None = None,
        since: date | str | None = None,
        max_results: int | None = 20,
        *,
        task: str | None = None,
    ) -> list[Episode]:
        """The newest episodes first: those with ``outcome``, from ``since`` on, with ``task`` in their task (any case).

        Args:
            outcome: success, partial, failure or unknown.
            since: Included; UTC when it has no zone. A text is read as ISO 8601.
            task: A part of the task.
            max_results: 1 to 100; None for all.

        Raises:
            InvalidArgument: The outcome is none of the four. ``max_results`` is not between 1 and 100. ``since`` is no
                ISO 8601 time.
        """
        if max_results is None:
            return self._found(outcome, since, task)
        most = as_int("max_results", max_results, lowest=FEWEST, highest=MOST)
        return self._found(outcome, since, task)[:most]

    def count(self, outcome: str | None = None, since: date | str | None = None, *, task: str | None = None) -> int:
        """How many episodes `list` has to choose from."""
        return len(self._found(outcome, since, task))

    def new(  # noqa: PLR0913, PLR0917  (the original's parameters, in its order)
        self,
        session_id: str,
        task: str,
        outcome: str,
        decisions: Sequence[Decision | Mapping[str, Any]] = (),
        events: Sequence[Event | Mapping[str, Any]] = (),
        lessons: Sequence[str] = (),
        metrics: Metrics | Mapping[str, Any] | None = None,
        *,
        timestamp: str | None = None,
        basis: str = "judged",
        force: bool = False,
    ) -> Episode:
        """Writes an episode from structured data and returns it; ``New-Episode`` of the original.

        Args:
            session_id: Names the file.
            task: What the session was to do.
            outcome: success, partial, failure or unknown.
            decisions: Decisions, or mappings in their schema; ``id`` and ``timestamp`` may be left out. ``outcome``
                among their ``effects`` says that a decision led to the outcome.
            events: Events, or mappings in their schema; the same.
            lessons: Sentences.
            metrics: Counts; what is missing is not known.
            timestamp: When the session began, ISO 8601; now by default.
            basis: Who says how it came out: ``judged`` (the caller knows), ``measured`` (a check), ``rewarded`` (a
                score), ``declared`` (only the agent itself: patterns and rates leave it out).
            force: Replace the episode of that session.

        Raises:
            EpisodeError: The session has an episode, and ``force`` was not set. The id cannot safely name a file.
            InvalidEpisode: A part does not fit the schema, or a link runs backwards in time or closes a circle. One to
                an id that is not there is left out, and named in the episode's ``extra["unresolved"]``.
            InvalidArgument: The task is empty. The task contains a control character. The outcome is none of the four.
        """
        path = self.path_of(session_id)
        if path.exists() and not force:
            raise EpisodeError(f"{path} exists; give another session id, or set force to replace it")
        fields = {
            "id": path.stem,
            "session": session_id,
            "timestamp": now() if timestamp is None else timestamp,
            "outcome": as_choice("outcome", outcome, OUTCOMES),
            "outcome_basis": "none" if outcome == "unknown" else as_choice("basis", basis, BASES),
            "task": as_line("task", task),
            "decisions": decisions,
            "events": events,
            "lessons": lessons,
            "metrics": {} if metrics is None else metrics,
        }
        episode = build_episode(fields)
        self.save(episode)
        return episode

    def decision_sequence(self, episode: str) -> tuple[Decision, ...]:
        """The decisions of an episode in the order of time; empty when there is no such episode.

        Args:
            episode: As for `get`.
        """
        found = self.get(self.resolve(as_str("episode", episode)))
        timed: list[tuple[str, Decision]] = []
        latest = ""  # a decision without a time of its own belongs to the one before it
        for decision in found.decisions if found else ():
            latest = sortable_time(decision.timestamp) or latest
            timed.append((latest, decision))
        return tuple(decision for _, decision in sorted(timed, key=lambda each: each[0]))

    def evidence(self, episode: str, *, log: Path | None = None) -> tuple[CheckedQuotation, ...]:
        """Every quotation of an episode as it was extracted, and with its log at hand whether each is there."""
        from helix_episodes.verification import quotations, verify

        extracted = self._require_extracted(episode)
        return quotations(extracted) if log is None else verify(extracted, as_path("log", log))

    def outcome(self, episode: str, outcome: str, *, because: str) -> Episode:
        """Revises how an episode came out, as a dated assertion of basis ``judged``; returns the episode as it is now.

        Raises:
            InvalidArgument: ``because`` is empty: without a reason it would be one more guess. The outcome is none of
                the four.
        """
        extracted = self._require_extracted(episode)
        correction = OutcomeCorrection(
            episode=extracted.id,
            outcome=as_choice("outcome", outcome, OUTCOMES),
            because=as_line("because", because),
            asserted_at=now(),
        )
        return self._record(extracted, correction)

    def correct(  # noqa: PLR0913  (the parts that a decision has)
        self,
        episode: str,
        decision: str,
        *,
        chosen: str | None = None,
        rationale: str | None = None,
        context: str | None = None,
        type: str | None = None,  # noqa: A002  (the field's name)
        outcome: str | None = None,
        withdrawn: bool = False,
    ) -> Episode:
        """Corrects one decision of an episode, or with ``withdrawn`` takes it out; returns the episode as it is now.

        What is omitted stays as extracted. The correction survives the next extraction of the log: the decision is
        recognised by its text and line.

        Raises:
            EpisodeError: It has no such decision, or nothing was to be corrected.
        """
        extracted = self._require_extracted(episode)
        decision = as_str("decision", decision)
        parts = {
            "chosen": None if chosen is None else as_line("chosen", chosen),
            "rationale": None if rationale is None else as_text("rationale", rationale),
            "context": None if context is None else as_text("context", context),
            "type": None if type is None else as_choice("type", type, DECISION_TYPES),
            "outcome": None if outcome is None else as_choice("outcome", outcome, OUTCOMES),
        }
        if not withdrawn and all(part is None for part in parts.values()):
            raise _refused(extracted, f"nothing to correct in {decision}")
        anchor = _anchor(extracted, decision, extracted.decisions)
        correction = msgspec.convert(
            {
                **parts,
                "kind": "decision",
                "episode": extracted.id,
                "decision": msgspec.to_builtins(anchor),
                "withdrawn": bool(withdrawn),
                "asserted_at": now(),
            },
            ready(DecisionCorrection),
        )
        return self._record(extracted, correction)

    def correct_link(
        self,
        episode: str,
        source: str,
        target: str,
        *,
        type: str = "causes",  # noqa: A002  (the field's name)
        withdrawn: bool = False,
    ) -> Episode:
        """Links two parts of an episode, or with ``withdrawn`` takes their link out; returns the episode as it is now.

        Raises:
            EpisodeError: It has no such part, the link would run backwards in time or close a circle, or there is
                none to take out.
        """
        extracted = self._require_extracted(episode)
        source, target = as_str("source", source), as_str("target", target)
        parts = parts_of(extracted)
        correction = LinkCorrection(
            episode=extracted.id,
            source=_anchor(extracted, source, parts),
            target=_anchor(extracted, target, parts),
            type=as_choice("type", type, EDGE_TYPES),
            withdrawn=bool(withdrawn),
            asserted_at=now(),
        )
        _check_link(self._now(extracted), source, target, withdrawn=withdrawn)
        return self._record(extracted, correction)

    def _require_extracted(self, name: str) -> Episode:
        extracted = self.extracted(self.resolve(as_str("episode", name)))
        if extracted is None:
            raise NotFound.of_episode(name)
        return extracted

    def _now(self, extracted: Episode) -> Episode:
        return corrected(extracted, self._assertions.corrections().get(extracted.id, ()))

    def _record(self, extracted: Episode, correction: Correction) -> Episode:
        """Records a correction, unless it changes nothing."""
        before = self._now(extracted)
        if corrected(extracted, [*self._assertions.corrections().get(extracted.id, ()), correction]) == before:
            return before
        self._keep(correction)
        return self._now(extracted)


def _refused(episode: Episode, problem: str) -> EpisodeError:
    """What to raise of a correction that its episode contradicts."""
    return EpisodeError(f"{episode.id}: {problem}; `helix-graph episode show {episode.id}` lists its parts")


def _anchor(episode: Episode, name: str, parts: Sequence[Decision | Event]) -> PartAnchor:
    for part in parts:
        if part.id == name:
            return anchor_of(part)
    raise _refused(episode, f"there is no {name} to correct")


def _check_link(episode: Episode, source: str, target: str, *, withdrawn: bool) -> None:
    links = {(link.source, link.target) for link in stated_links(episode)}
    if withdrawn:
        if (source, target) not in links:
            raise _refused(episode, f"no link leads from {source} to {target}")
        return
    times = {part.id: sortable_time(part.timestamp) for part in parts_of(episode)}
    if times.get(source, "") > times.get(target, "") > "":
        raise _refused(episode, f"{source} came after {target} and cannot lead to it")
    if source == target or _leads(target, source, links):
        raise _refused(episode, f"{target} leads to {source} already: a circle")


def _leads(source: str, target: str, links: set[tuple[str, str]]) -> bool:
    reached, fresh = {source}, {source}
    while fresh and target not in reached:
        fresh = {end for start, end in links if start in fresh} - reached
        reached |= fresh
    return target in reached


_WRONG_WORD = re.compile(r"Invalid enum value .*`\$\.(?P<part>\w+)\[\d+\]\.(?P<field>\w+)`")
_MISSING = re.compile(r"missing required field `(?P<key>\w+)` - at `\$\.(?P<part>\w+)\[(?P<place>\d+)\]`")
_WORDS_OF: dict[tuple[str, str], tuple[str, ...]] = {
    ("decisions", "type"): DECISION_TYPES,
    ("decisions", "outcome"): OUTCOMES,
    ("events", "type"): get_args(EventType),
}
#: The key of an episode under which links are named that lead nowhere.
UNRESOLVED = "unresolved"


def build_episode(fields: Mapping[str, Any]) -> Episode:
    """An episode of structured data, without secrets.

    Raises:
        InvalidEpisode: A part does not fit the schema, has a time that is none or an id that is another's, or a link
            runs backwards in time or closes a circle.
    """
    try:
        stated = decode_episode(_as_json(fields))
    except InvalidEpisode as error:
        problem = error.problem + _allowed(error.problem) + _misspelt(error.problem, fields)
        raise InvalidEpisode(path=None, problem=problem) from error
    _, problems = repair_parts(stated)
    names = _names_in(stated)
    links = sorted((link.source, link.target) for link in stated_links(stated))
    unresolved = [f"{source} -> {target}" for source, target in links if not {source, target} <= names]
    episode = _without(stated, unresolved)
    for problem in (*problems, *unsound_links(episode)):
        raise InvalidEpisode(path=None, problem=problem)
    whole, _ = repair_links(episode)
    return replace(whole, extra={UNRESOLVED: unresolved}) if unresolved else whole


def _allowed(problem: str) -> str:
    """The words that a field allows, where the problem is a word that is none of them.

    >>> _allowed("Invalid enum value 'x' - at `$.decisions[0].type`")
    '; it must be one of design, implementation, test, recovery, routing'
    """
    wrong = _WRONG_WORD.search(problem)
    words = wrong and _WORDS_OF.get((wrong["part"], wrong["field"]))
    return f"; it must be one of {', '.join(words)}" if words else ""


def _misspelt(problem: str, fields: Mapping[str, Any]) -> str:
    """The key that was probably meant, where a required one is missing.

    >>> _misspelt("Object missing required field `chosen` - at `$.decisions[0]`", {"decisions": [{"choosen": "x"}]})
    "; 'choosen' may be a misspelling of it"
    """
    missing = _MISSING.search(problem)
    parts = fields.get(missing["part"], ()) if missing else ()
    one = parts[int(missing["place"])] if missing and int(missing["place"]) < len(parts) else {}
    near = get_close_matches(missing["key"], one, n=1) if missing and isinstance(one, Mapping) else []
    return f"; {near[0]!r} may be a misspelling of it" if near else ""


def _as_json(fields: Mapping[str, Any]) -> bytes:
    try:
        plain = for_disk(msgspec.to_builtins({name: plain_json(value) for name, value in fields.items()}))
        for name, letter in (("decisions", "d"), ("events", "e")):
            plain[name] = _completed(plain[name], letter)
        return msgspec.json.encode(plain)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise InvalidEpisode(path=None, problem=f"it cannot be written as JSON ({error})") from error


def _completed(parts: Any, letter: str) -> Any:  # noqa: ANN401  (JSON that may be anything)
    """Parts with an id and a time each; what is no list of objects is left to the schema."""
    if not isinstance(parts, list):
        return parts
    names = {str(one["id"]) for one in parts if isinstance(one, dict) and "id" in one}
    completed = []
    for one in parts:
        if not isinstance(one, dict):
            completed.append(one)
            continue
        name = one.get("id") or free_id(letter, names)
        names.add(str(name))
        completed.append({"timestamp": None} | one | {"id": name})
    return completed


def _without(episode: Episode, unresolved: list[str]) -> Episode:
    """The episode whose parts name only each other."""
    if not unresolved:
        return episode
    names = _names_in(episode)
    return replace(
        episode,
        decisions=tuple(
            replace(one, effects=_among(names, one.effects), caused_by=_among(names, one.caused_by))
            for one in episode.decisions
        ),
        events=tuple(
            replace(one, leads_to=_among(names, one.leads_to), caused_by=_among(names, one.caused_by))
            for one in episode.events
        ),
    )


def _names_in(episode: Episode) -> set[str]:
    """What links may name: the parts, and the outcome where it is known."""
    return {one.id for one in parts_of(episode)} | ({OUTCOME_ID} if episode.outcome != "unknown" else set())


def _among(names: set[str], ends: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(end for end in ends if end in names)
