"""Episode: what was extracted from one session, as frozen values.

An episode holds *decisions* (what was chosen, why, with what effect), *events* (what happened), *links* between them
(each with its reason), *fixes* (changes after which a failing check passed), an *outcome* with its basis, *metrics* and
*lessons*. Everything that was read from the log carries its ``evidence``: line, id and a quotation of at most 240
characters, because some agents delete their logs after a month.

The keys of the original schema (``id`` … ``lessons``) keep their names and meaning, so its files are read too; the
rest are additions (``docs/reference/episodes.md``). `helix_episodes.store` reads and writes them, unknown keys too.

>>> Evidence(line=12, id=None, quote="FAILED tests/test_cart.py::test_total").line
12
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Any, Literal

import msgspec

from helix_episodes.session import Status

#: What is dated further ahead is in the future, of sessions and of records alike: it would be the newest until then. A
#: clock that is wrong is so by a zone, of which none is a day from another; one that is wrong by more is put right, and
#: what it dated is in the future no longer than that.
AHEAD = timedelta(days=1)


@lru_cache(maxsize=4096)  # a session's are asked for by several rules
def parse_timestamp(timestamp: str | None) -> datetime | None:
    """A timestamp in UTC, which it also counts as without a zone; None when it is no time."""
    try:
        at = datetime.fromisoformat(timestamp or "")
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # the last day of the year 9999 is no time in UTC
        return None


def is_ahead(at: datetime) -> bool:
    """Whether a time is more than a day ahead of now: a session dated so would be the newest for ever."""
    return at > latest_time()


def latest_time() -> datetime:
    """The latest time that is not `is_ahead`, by this machine's clock."""
    return datetime.now(UTC) + AHEAD


def sortable_time(timestamp: str | None) -> str:
    """A timestamp that sorts: UTC with microseconds. Without a zone it counts as UTC; what is no time sorts first.

    >>> sortable_time("2026-01-01T17:05:00+01:00")
    '2026-01-01T16:05:00.000000+00:00'
    >>> sortable_time("yesterday")
    ''
    """
    at = parse_timestamp(timestamp)
    return at.isoformat(timespec="microseconds") if at else ""


def as_count(number: int | None) -> int | None:
    """A number that a log gives, or None where it is none that can be counted to or stored.

    >>> as_count(3), as_count(99_999_999_999_999_999_999)
    (3, None)
    """
    return number if number is not None and 0 <= number <= MOST else None


#: The local id of an episode's outcome; decisions are ``d…``, events ``e…``.
OUTCOME_ID = "outcome"


#: How the content of the milestone begins in which a person told the agent to do otherwise.
CORRECTS = "the user corrects: "
SCHEMA_VERSION = "2.0"
QUOTE_LIMIT = 240
#: So much of what an edit replaced is kept.
REPLACED_LIMIT = 200
#: So many files of a `CommandRun` are named; who changed more changed everything.
MOST_FILES = 20
#: Represents the unknown keys of an object while it is in memory; no writer of ours puts it into a file.
EXTRA = "+"

#: What is counted, and what stays whole as a float and in the sums of a database.
MOST = (1 << 53) - 1
Count = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Amount = Annotated[float, msgspec.Meta(ge=0, le=MOST)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Outcome = Literal["success", "partial", "failure", "unknown"]
OutcomeBasis = Literal["rewarded", "measured", "judged", "declared", "none"]
DecisionType = Literal["design", "implementation", "test", "recovery", "routing"]
EventType = Literal["tool_call", "commit", "error", "milestone", "test", "handoff"]
TaskKind = Literal["fix", "feature", "refactor", "test", "review", "merge", "docs", "question", "other"]
#: Why one thing is linked to another; ``docs/reference/episodes.md`` says when each is drawn.
Reason = Literal["call", "answer", "edit-test", "fix", "commit", "spawn", "entry", "stated", "decided"]
EdgeType = Literal["causes", "enables", "prevents", "correlates"]
Verb = Literal["edit", "create", "delete", "run", "delegate", "use", "choose"]
Role = Literal["source", "test", "docs", "config", "ci", "dependencies"]
ChangeKind = Literal["edit", "create", "delete"]
#: What a command that was run is for; ``command`` is one that checks and formats nothing.
RunKind = Literal["test", "lint", "build", "typecheck", "format", "command"]
#: Where the cost of a failure ends: at the result that shows its repair, at the next passing run of its check, where
#: another command did the work, at the next prompt, where the agent went on to something else, or with the session.
CostEnd = Literal["repair", "pass", "instead", "prompt", "left", "session"]


class _Value(msgspec.Struct, frozen=True, kw_only=True):
    """Immutable, compared by content, built by keyword. ``extra`` keeps keys that this version does not know."""

    extra: dict[str, Any] = msgspec.field(default_factory=dict, name=EXTRA)


class Evidence(_Value, frozen=True, kw_only=True):
    """Where a statement comes from. ``line`` counts from 1; ``file`` is set when it is not the episode's own log.

    ``also`` has the lines of the further calls when several make up one decision, and those on which a failure of CI is
    shown again. Of an edit ``quote`` is what it wrote and ``replaced`` what the file had there before, at most
    `REPLACED_LIMIT` characters; of one that only takes lines out, both have the lines around them.
    """

    line: Count
    id: str | None = None
    quote: str = ""
    replaced: str = ""
    file: str | None = None
    also: tuple[Count, ...] = ()


class Marker(_Value, frozen=True, kw_only=True):
    """A marker that silences a check, as in ``nolint:gosec``, and the line of the log with the edit that added it."""

    name: str
    line: Count


class Action(_Value, frozen=True, kw_only=True):
    """What a decision did, in parts that a label can be made of.

    ``path`` is relative to the repository; ``command`` is the whole command with secrets and home paths cut;
    ``count`` says how often it was repeated without a change between; ``suppresses`` is true when an edit adds a
    marker that silences a check (noqa, nolint, skip …), and ``markers`` are those that were nowhere before. ``object``
    is the helper's kind (delegate), the tool's name (use) or the option (choose).
    """

    verb: Verb
    object: str | None = None
    program: str | None = None
    subcommand: str | None = None
    flags: tuple[str, ...] = ()
    path: str | None = None
    role: Role | None = None
    command: str | None = None
    count: Count = 1
    suppresses: bool = False
    markers: tuple[Marker, ...] = ()


class Decision(_Value, frozen=True, kw_only=True):
    """One choice: stated in words, or acted out as an edit, a command or a delegation."""

    id: str
    timestamp: str | None
    type: DecisionType
    context: str = ""
    chosen: str
    rationale: str = ""
    outcome: Outcome = "unknown"
    effects: tuple[str, ...] = ()
    caused_by: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    stated: bool = False
    action: Action | None = None
    actor: str = "agent"
    evidence: Evidence | None = None


class Place(_Value, frozen=True, kw_only=True):
    """What a diagnostic names: the file it is about, the failing test, the symbol, the rule or the compiler's code."""

    file: str | None = None
    test: str | None = None
    symbol: str | None = None
    rule: str | None = None


class Cost(_Value, frozen=True, kw_only=True):
    """What one failure took, from its result to where ``end`` says: calls, active seconds and tokens.

    Where several failures are open at once, each has its share. ``None`` where the log has no times or no tokens.
    """

    steps: Amount
    seconds: Count | None = None
    tokens: Count | None = None
    end: CostEnd = "session"


class Event(_Value, frozen=True, kw_only=True):
    """One thing that happened.

    For errors and tests, ``check`` is the program whose verdict it is (``golangci-lint``, ``pytest`` …, or the tool for
    errors of tools), ``family`` the kind of error within it (``errcheck``, ``ModuleNotFoundError`` …), ``message`` the
    first informative line, ``path`` the file it names and ``tests`` the failing tests. Counts are ``None`` when the
    output does not give them. ``tool`` is set on an error of one of the agent's own tools, whose message is mostly a
    fixed sentence that says nothing of this file.

    ``fingerprint`` names the issue of an error (`helix_episodes.extraction.fingerprints`) and ``place`` what its
    diagnostic is about; ``also`` are the fingerprints of further issues in the same event, and of texts that say less
    of one. All are missing where no line says what is wrong, and in episodes of earlier versions. A ``deliberate``
    failure is one that the agent said was to come. ``cost`` is missing for those and for whatever is no error.
    ``reply`` is what a person said next where the agent's turn ended with the failure, and nothing repaired it.
    """

    id: str
    timestamp: str | None
    type: EventType
    content: str
    caused_by: tuple[str, ...] = ()
    leads_to: tuple[str, ...] = ()
    check: str | None = None
    family: str | None = None
    message: str | None = None
    tool: str | None = None
    path: str | None = None
    tests: tuple[str, ...] = ()
    passed: Count | None = None
    failed: Count | None = None
    status: Status = "unknown"
    commit: str | None = None
    fingerprint: str | None = None
    place: Place | None = None
    also: tuple[str, ...] = ()
    deliberate: bool = False
    cost: Cost | None = None
    reply: Evidence | None = None
    actor: str = "agent"
    evidence: Evidence | None = None


class FileChange(_Value, frozen=True, kw_only=True):
    """One file that was changed between two runs of a check; ``lines`` is None where a shell command changed it."""

    path: str
    kind: ChangeKind = "edit"
    lines: Count | None = None


class CommandRun(_Value, frozen=True, kw_only=True):
    """One run of a check or of a formatter, or of a command that failed.

    ``check`` is its name as in `Event`, ``command`` the part of the shell text that ran it, ``directory`` where that
    text went first. ``passed`` is None where the run gave no verdict: it was stopped by the machine, or its output is
    not in the log. ``seconds`` is set where nothing else ran with it. A *fresh* run is the first of its check in the
    session, or comes after one that passed. ``changed`` are the files changed since the last run of that check that
    gave a verdict, at most `MOST_FILES` of them; ``files`` and ``edits`` count all of them, and the calls that changed
    them. ``events`` are what came of the run. A ``deliberate`` failure was announced, or shown by what was done: only
    tests were changed before it, and only other files before the run that passed. ``tasks`` are those that a task
    runner says it ran, where the command names another: ``mise run format`` may run the task ``lint-fix``.
    ``charged`` are the files of ``changed`` that a failing linter's output names; none where it names none of them.
    """

    check: str
    kind: RunKind
    passed: bool | None = None
    command: str | None = None
    directory: str | None = None
    timestamp: str | None = None
    seconds: Amount | None = None
    fresh: bool = False
    changed: tuple[FileChange, ...] = ()
    files: Count = 0
    edits: Count = 0
    events: tuple[str, ...] = ()
    deliberate: bool = False
    tasks: tuple[str, ...] = ()
    charged: tuple[str, ...] = ()
    evidence: Evidence | None = None

    def events_among(self, events: Mapping[str, Event]) -> list[Event]:
        """What came of the run, by id; an id that no event has says nothing."""
        return [events[name] for name in self.events if name in events]


class Link(_Value, frozen=True, kw_only=True):
    """One cause and one effect within the episode, by id, and the reason for joining them. ``type`` is the edge's.

    It is ``loose`` where the log shows that the one followed the other, and not that it was about it. Of a change made
    by several edits ``edit`` is the one that it rests on, where that is not the first; ``lines`` are those of all edits
    of the file that the pass rests on, where there are several.
    """

    source: str
    target: str
    reason: Reason
    type: EdgeType = "causes"
    loose: bool = False
    edit: Evidence | None = None
    lines: tuple[Count, ...] = ()


class FixEdit(_Value, frozen=True, kw_only=True):
    """Of a change made by several edits the one that speaks of the error; ``suppresses`` as in `Action`."""

    change: str
    evidence: Evidence
    suppresses: bool = False


class Fix(_Value, frozen=True, kw_only=True):
    """The changes after which a failing check passed. ``share`` is 1/n for n changes; each may have done it.

    ``edits`` says of changes made by several edits which one speaks of this error, as far as any does. ``loose`` are
    the changes of which the log does not show that they answer it. ``lines`` are those of the edits that answer it,
    where it can be told and there are several edits of the file.
    """

    error: str
    changes: tuple[str, ...]
    check: str
    verified_by: str | None = None
    share: Share = 1.0
    edits: tuple[FixEdit, ...] = ()
    loose: tuple[str, ...] = ()
    lines: tuple[int, ...] = ()

    def edit_of(self, change: Decision) -> tuple[Evidence | None, bool]:
        """Where the log has what a change did about this error, and whether that silences the check."""
        one = next((each for each in self.edits if each.change == change.id), None)
        if one is not None:
            return one.evidence, one.suppresses
        return change.evidence, change.action is not None and change.action.suppresses


class OutcomeEvidence(_Value, frozen=True, kw_only=True):
    """The rule that decided the outcome, the words it rests on, and the event (or prompt line) they come from."""

    rule: str
    quote: str = ""
    source: str | None = None
    line: Count | None = None


class LessonEvidence(_Value, frozen=True, kw_only=True):
    """What a lesson rests on.

    ``derived`` ones come from a verified fix (``sources``: its error and changes), the others were stated in the log.
    """

    derived: bool = False
    sources: tuple[str, ...] = ()
    evidence: Evidence | None = None


class Metrics(_Value, frozen=True, kw_only=True):
    """Counts over the session. ``None`` means not known, which is not 0."""

    duration_minutes: Amount | None = None
    tool_calls: Count | None = None
    errors: Count | None = None
    recoveries: Count | None = None
    commits: Count | None = None
    files_changed: Count | None = None
    tokens: Count | None = None


class Agent(_Value, frozen=True, kw_only=True):
    """Which agent ran the session."""

    name: str
    version: str | None = None
    model: str | None = None


class Provenance(_Value, frozen=True, kw_only=True):
    """The log an episode was read from: enough to tell whether it has grown or changed since.

    ``first`` and ``last`` are the ids of its first and last step: a resumed session's log begins with a copy of the
    earlier one, which is recognised by them. ``parts`` is the SHA-256 over the logs of its helpers, kept next to it.
    Of a log that is rewritten as its session goes on, ``sha256`` and ``bytes`` are those of the session's steps.
    """

    log: str
    sha256: str
    bytes: Count
    reader: str
    extractor: str
    first: str | None = None
    last: str | None = None
    parts: str | None = None


class Episode(_Value, frozen=True, kw_only=True):
    """What one session did and how it ended. ``lesson_evidence`` runs parallel to ``lessons``.

    ``prompts`` are what people wrote to the agent, in order; each quotes its beginning.
    """

    id: str
    session: str
    timestamp: str | None
    outcome: Outcome
    task: str
    decisions: tuple[Decision, ...] = ()
    events: tuple[Event, ...] = ()
    metrics: Metrics = Metrics()
    lessons: tuple[str, ...] = ()
    schema_version: str = SCHEMA_VERSION
    outcome_basis: OutcomeBasis = "none"
    outcome_evidence: OutcomeEvidence | None = None
    lesson_evidence: tuple[LessonEvidence, ...] = ()
    links: tuple[Link, ...] = ()
    fixes: tuple[Fix, ...] = ()
    task_kind: TaskKind = "other"
    task_id: str | None = None
    agent: Agent | None = None
    project: str | None = None
    tags: tuple[str, ...] = ()
    provenance: Provenance | None = None
    injected: tuple[str, ...] = ()
    branch: str | None = None
    runs: tuple[CommandRun, ...] = ()
    prompts: tuple[Evidence, ...] = ()
