"""Rules that are missing: one plain sentence for an issue that is met again and again and that an act would prevent.

A sentence is made only where sessions show what prevents the failure: a command that repaired it in two sessions, one
that worked instead, a command that does not exist here, or a tool whose own error says what to do first. Everything
else takes a reader of the evidence (the skill `retro`). What a rule says already, in these words or in others, is not
proposed; where that rule is ignored, a hook is. Sessions that came with the repository count for nothing.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from helix_episodes.extraction.shell.commands import parse_command
from helix_episodes.redaction import for_disk
from helix_graph.graph.past_remedies import word_left_out
from helix_graph.insights.safe_quoting import sanitize_line
from helix_graph.rules.model import EvidenceLine, Proposal, RuleRecord
from helix_graph.rules.staged import LONGEST_RULE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from helix_graph.issues.model import Issue, IssueDetails

#: A rule is read in every session: what two sessions met is too little for one.
FEWEST_SESSIONS = 3
#: Of a remedy: two sessions found it, and it repaired half of what was repaired.
_FEWEST_AGREEING, _SHARE = 2, 0.5
_LONGEST_COMMAND = 80
_MOST_EVIDENCE = 5
#: A command as a rule may have it: nothing that ends the code span, goes elsewhere or takes what only one session had.
_PLAIN_COMMAND = re.compile(r"[\w./:@=+,-]+(?: [\w./:@=+,*'\"-]+){0,7}")
_REWRITING = re.compile(r"\s--(fix|write)\b")
_WORD = r"['\"`]?(?P<{}>[\w.:/-]*\w)['\"`]?"
_MISSING = re.compile(
    r"(?:command not found:|(?:unrecognized|unknown) (?:sub)?command:?|no such (?:sub)?command:?|unknown skill:?) "
    rf"{_WORD.format('named_after')}"
    rf"|{_WORD.format('named_before')}(?:: command not found(?!: )| is not a \S+ command| is not recognized as)",
    re.IGNORECASE,
)


class _Tool(NamedTuple):
    """An error of an agent's own tool, the rule that prevents it, why, and what a rule has to say to say the same."""

    family: re.Pattern[str]
    sentence: str
    reason: str
    says: tuple[re.Pattern[str], ...]


def _words(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text, re.IGNORECASE) for text in texts)


_EDIT = r"(?:edit|chang|modif|writ|patch|touch|updat|replac)\w*"
_READ = r"(?:re-?)?(?:read|look at|open|view|load)\w*"
_TOOLS = (
    _Tool(
        re.compile("not read first"),
        "Read a file before you edit it.",
        "the tool refused edits of files that had not been read",
        _words(
            rf"\b{_READ}\b[^.;]{{0,60}}\b(?:before|prior to)\b[^.;]{{0,30}}\b{_EDIT}"
            rf"|\bbefore\b[^.;]{{0,20}}\b{_EDIT}[^.;]{{0,40}}\b{_READ}\b"
            rf"|\bnever\b[^.;]{{0,20}}\b{_EDIT}[^.;]{{0,40}}\b(?:without|unread|not)\b[^.;]{{0,20}}\bread"
        ),
    ),
    _Tool(
        re.compile("changed since read"),
        "Read a file again after a formatter, a linter or a command has changed it, before you edit it.",
        "the tool refused edits of files that had changed since they were read",
        _words(rf"\bre-?read\b|\b{_READ}\b[^.;]{{0,30}}\bagain\b", rf"\b{_EDIT}\b|\bformat"),
    ),
    _Tool(
        re.compile("text not found"),
        "Read the lines that you replace right before each edit, and copy them exactly.",
        "the tool did not find the lines that were to be replaced",
        _words(
            rf"\b{_EDIT}\b",
            r"\bexact|\bverbatim|\bcopy|\bcharacter for character"
            rf"|\b{_READ}\b[^.;]{{0,40}}\b(?:right|immediately|just) before",
        ),
    ),
    _Tool(
        re.compile("text not unique"),
        "Give each edit enough lines around it that the text to replace occurs only once.",
        "the tool found the text to replace several times",
        _words(r"\b(?:unique|only once|exactly once|ambiguous)", rf"\b{_EDIT}\b|\bmatch"),
    ),
)


class _Draft(NamedTuple):
    sentence: str
    #: Whether a rule says the same.
    is_said_by: Callable[[str], bool]
    #: What shows it, in a few words.
    reason: str


def proposals(
    issues: Iterable[Issue],
    records: Sequence[RuleRecord],
    *,
    details: Callable[[str], IssueDetails],
    shared: Callable[[Collection[str]], Collection[str]],
) -> list[Proposal]:
    """A rule for each issue that has none and that one would prevent, in the order of the issues.

    ``records`` are the rules in force, ``details`` shows an issue in full, ``shared`` which of some episodes came with
    the repository.
    """
    found: dict[str, Proposal] = {}
    for issue in issues:
        draft = _draft(issue) if issue.id and issue.sessions >= FEWEST_SESSIONS else None
        if draft is None or issue.state in {"quiet", "muted", "resolved"} or draft.sentence in found:
            continue
        if len(draft.sentence) > LONGEST_RULE:
            continue
        shown = details(issue.id)
        foreign = shared([one.episode for one in shown.occurrences])
        own = [one for one in shown.occurrences if one.episode not in foreign and not one.deliberate]
        if len({one.session for one in own}) < FEWEST_SESSIONS:
            continue
        said = [one for one in records if draft.is_said_by(one.rule.text)]
        ignored = next((one for one in said if one.state == "ignored"), None)
        if said and ignored is None:
            continue
        evidence = [EvidenceLine(session=one.session, log=one.log, line=one.line) for one in own[-_MOST_EVIDENCE:]]
        found[draft.sentence] = Proposal(
            id=identity_of(issue.id, draft.sentence), kind="hook" if ignored else "rule", sentence=draft.sentence,
            reason=draft.reason, issue=issue.id, title=issue.title, check=issue.check, sessions=issue.sessions,
            occurrences=issue.occurrences, steps=issue.steps, minutes=issue.minutes, repaired=issue.repaired,
            evidence=tuple(evidence), existing=ignored,
        )  # fmt: skip
    return list(found.values())


def covered(issues: Iterable[Issue], records: Sequence[RuleRecord]) -> set[str]:
    """The issues for which a rule in force says what would prevent them."""
    drafts = ((one.id, draft) for one in issues if (draft := _draft(one)))
    return {name for name, draft in drafts if any(draft.is_said_by(one.rule.text) for one in records)}


def _draft(issue: Issue) -> _Draft | None:
    tool = next((one for one in _TOOLS if one.family.search(f"{issue.family} {issue.title}")), None)
    if tool is not None:
        return _Draft(tool.sentence, lambda text: all(one.search(text) for one in tool.says), tool.reason)
    remedy = issue.remedy
    agreed = (
        remedy is not None
        and min(remedy.sessions, remedy.verified) >= _FEWEST_AGREEING
        and remedy.times >= _SHARE * remedy.of
    )
    if remedy is not None and agreed and (command := plain(remedy.what)):
        if remedy.how == "run":
            sentence = f"Run `{command}` after you change files."
            return _Draft(
                sentence, _names(command, rewriting=True), f"repaired the failure {remedy.times} of {remedy.of} times"
            )
        failing = plain(issue.check) if remedy.how == "instead" else None
        if failing and word_left_out(failing, command):  # what the command went on to do was its session's task
            command = failing.partition(" ")[2]
        elif remedy.called:
            failing = None  # each session went on with another command
        if failing and command.split()[: len(failing.split())] != failing.split():
            sentence = f"Use `{command}` instead of `{failing}`."
            return _Draft(sentence, _names(failing), f"worked instead in {remedy.times} of {remedy.of} sessions")
    missing = plain(issue.check)
    if missing and _is_missing(missing.split(), issue.message):
        return _Draft(f"Do not run `{missing}`: it does not exist here.", _names(missing), "the command is not there")
    return None


def _is_missing(words: Sequence[str], message: str) -> bool:
    """Whether the message says of one of the command's words that nothing is called so, and not of a word within it."""
    found = _MISSING.search(message)
    return found is not None and (found["named_after"] or found["named_before"]) in words


def plain(command: str) -> str | None:
    """A command as it may be in a rule; None where its words are not those of a plain command.

    >>> plain("bun run lint:fix"), plain("echo `id`"), plain("python - <<EOF")
    ('bun run lint:fix', None, None)
    """
    text = for_disk(" ".join(command.split()))
    fits = len(text) <= _LONGEST_COMMAND and _PLAIN_COMMAND.fullmatch(text) and sanitize_line(text) == text
    return text if fits and "[redacted" not in text else None


def _names(command: str, *, rewriting: bool = False) -> Callable[[str], bool]:
    """Whether a rule names the command, in whatever words: its program, and its subcommand or task.

    With ``rewriting`` the option as well by which it rewrites what it complains of: a rule that has a linter run does
    not say to let it repair.
    """
    (part, *_) = parse_command(command) or (None,)
    if part is None:
        return lambda _: False
    words = [part.program, *([part.subcommand] if part.subcommand else [])]
    # `bun run lint:fix`, `bun lint:fix` and "the `lint:fix` script" are one.
    told = re.compile(rf"(?<![\w:-]){re.escape(words[-1])}(?![\w:-])")
    program = re.compile(rf"(?<![\w-]){re.escape(words[0])}(?![\w-])")
    plain_task = len(words) == 1 or not re.search(r"[:-]", words[-1])
    option = _REWRITING.search(command) if rewriting else None
    return lambda text: (
        bool(told.search(text))
        and (not plain_task or bool(program.search(text)))
        and (option is None or option[1] in text)
    )


def identity_of(issue: str, sentence: str) -> str:
    """The id of a proposal: the same sentence for the same issue is the same."""
    return hashlib.blake2b(f"{issue}\n{sentence}".encode(), digest_size=4).hexdigest()
