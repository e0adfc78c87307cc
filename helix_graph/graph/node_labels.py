"""Labels: the canonical texts under which the sessions' decisions and events meet.

A node of the graph stands for all mentions with the same label. Labels that are too fine are never shared by two
sessions; labels that are too coarse join everything. So a label is a sentence of a small closed grammar over the
structured parts of an episode (`Decision.action`, `Event.check`, `Event.family`):

=========================================== ============================================================
label                                       of
=========================================== ============================================================
``edit source (.go)``                       an edit; also ``create``, ``delete``; the role of the file
``edit ci (.yml), suppress a check``        an edit that adds noqa, nolint, skip and the like
``run git push --force``                    a command: program, subcommand, flags that change its meaning
``delegate to <agent>``                     work handed to a helper
``use <tool>``                              any other tool
``choose <option>``                         a stated choice between options, masked and cut
``[not] <verb> <class>``                    a decision in words, by the vocabulary; its masked words where it weighs
                                            one thing against another or the vocabulary has none
``<check> fails: <family>``                 an error of a check or tool
``<check> passes``                          a check that passed
``commit``                                  a commit
``hand over to <agent>``                    work on its way to a helper
``<agent> reports back``                    what came back; also ``reports failure``
``<outcome>``                               success, partial, failure
=========================================== ============================================================

Paths, whole commands and error lines are stored with each mention and never enter the label. A change to this grammar,
to the vocabulary or to `normalization` is a new ``LABEL_VERSION``, and graphs are built again.

>>> from helix_episodes.model import Action, Decision
>>> decision_key(Decision(id="d001", timestamp=None, type="implementation", chosen="Guard the prefix",
...     action=Action(verb="edit", role="source", path="hub/prefix.go")))
'edit source (.go)'
"""

from __future__ import annotations

import re
from functools import lru_cache

from helix_episodes.light_imports import Regex
from helix_episodes.normalization import extension, first_line, kept_parts, one_line, template

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, Literal

    from helix_episodes.model import Decision, Episode, Event, Outcome
    from helix_graph.graph.model import NodeType

    #: The rule of the grammar that a decision falls under: its action's verb, or ``prose`` when it is only words.
    DecisionKind = Literal["edit", "create", "delete", "run", "delegate", "use", "choose", "prose"]


#: Lemma → other words for it. Regular endings are made by `_forms`; irregular ones are listed.
_VERBS = {
    "add": "create introduce implement write wrote written include insert define support build built",
    "ask": "escalate clarify consult",
    "avoid": "forbid prohibit ban prevent disallow",
    "change": "update modify adjust edit alter revise rework rewrite rewrote switch set",
    "check": "verify validate audit review inspect confirm ensure",
    "choose": "chose chosen select pick opt decide prefer prioritize prioritise",
    "commit": "",
    "defer": "postpone delay skip omit exclude ignore",
    "delegate": "assign route dispatch spawn handoff",
    "document": "describe explain note record",
    "fix": "repair resolve correct solve patch address",
    "investigate": "analyze analyse debug diagnose trace explore research",
    "keep": "kept retain preserve maintain leave left",
    "merge": "combine consolidate unify join",
    "move": "relocate transfer",
    "remove": "delete drop strip eliminate prune deprecate",
    "rename": "",
    "replace": "substitute swap",
    "revert": "undo undid rollback restore reset",
    "run": "ran execute start launch invoke",
    "simplify": "refactor reduce extract",
    "split": "separate divide decompose",
    "test": "cover",
    "use": "adopt apply employ follow go went",
}

#: Class of things → the words that name it.
_OBJECTS = {
    "agent": "agent agents subagent subagents orchestrator",
    "api": "api endpoint endpoints route routes handler handlers request requests response",
    "auth": "auth authentication authorization login token tokens password credential credentials permission",
    "branch": "branch branches rebase",
    "cache": "cache caches caching cached",
    "ci": "ci pipeline workflow workflows github-actions build builds release releases deployment deploy",
    "code": "code function functions method methods class classes module modules component components implementation",
    "commit": "commit commits history",
    "config": "config configuration configurations setting settings option options flag flags environment",
    "database": "database db sql table tables query queries migration migrations index postgres postgresql sqlite",
    "dependency": "dependency dependencies package packages library libraries version versions lockfile",
    "docs": "docs doc documentation readme comment comments docstring docstrings guide adr",
    "error handling": "error errors exception exceptions failure failures retry retries fallback timeout timeouts",
    "file": "file files folder folders directory directories path paths",
    "hook": "hook hooks",
    "issue": "issue issues ticket tickets bug bugs",
    "lint": "lint linter linting warning warnings formatting formatter style",
    "log": "log logs logging logger",
    "memory": "memory memories episode episodes",
    "naming": "name names naming convention conventions",
    "performance": "performance speed latency",
    "plan": "plan plans scope requirement requirements task tasks phase",
    "pull request": "pr prs pull-request review reviews",
    "schema": "schema schemas model models format formats type types interface interfaces contract",
    "script": "script scripts tool tools command commands cli",
    "security": "security vulnerability vulnerabilities secret secrets",
    "test": "test tests testing coverage fixture fixtures mock mocks assertion assertions",
    "ui": "ui page pages view views button form layout",
}

_NEGATIONS = """
    no not never without cannot nor neither none don't doesn't won't didn't shouldn't can't isn't aren't wasn't weren't
    haven't hasn't hadn't wouldn't couldn't mustn't needn't
"""

#: Words that a label can do without.
_STOP_WORDS = """
    a an the this that these those it its we i you they he she our your their my is are was were be been being to of in
    on at for with by from as and or so then will would shall should can could may might must do does did have has had
    into onto also just very all any each both first rather than because since let's let us need needs want
"""


def _forms(word: str) -> tuple[str, ...]:
    """The regular forms of a verb: uses, used, using; copies, copied; planning is not worth its rule."""
    stem = word.removesuffix("e")
    plural = f"{word[:-1]}ies" if word.endswith("y") and word[-2] not in "aeiou" else f"{word}s"
    past = f"{word[:-1]}ied" if plural.endswith("ies") else f"{stem}ed"
    doubled = (f"{word}{word[-1]}ed", f"{word}{word[-1]}ing") if word[-1] in "bdgmnprt" else ()
    sibilant = (f"{word}es",) if word.endswith(("s", "x", "ch", "sh", "o")) else ()
    return (word, plural, past, f"{stem}ing", *doubled, *sibilant)


VERBS = {form: lemma for lemma, others in _VERBS.items() for word in (lemma, *others.split()) for form in _forms(word)}
OBJECTS = {word: kind for kind, words in _OBJECTS.items() for word in words.split()}
NEGATIONS = frozenset(_NEGATIONS.split())
STOP_WORDS = frozenset(_STOP_WORDS.split())


#: A normal form longer than this is a sentence, and sentences do not recur.
_MAX_WORDS = 6
#: A family longer than this is no family; twelve words hold the longest compiler message in the corpora.
_MAX_FAMILY_WORDS = 12
#: How far into a sentence its verb may be ("After looking at both options we decided to keep …").
_VERB_WITHIN = 12
_TOKEN = Regex(r"<[a-z]+>(?:\.\w+)?|--?[A-Za-z][\w-]*|[^\W_][\w'+#.-]*[\w+#]|[^\W_]")
#: Words whose case means something: -x is not -X.
_FLAG_OR_CODE = Regex(r"--?[A-Za-z][\w-]*|[A-Za-z]{1,6}-?\d{2,5}(?:-\d{2,7})?")
_NEGATION = Regex(rf"(?<![\w'-])(?:{'|'.join(sorted(NEGATIONS))})(?![\w'-])", re.IGNORECASE)
#: One thing is weighed against another, and which is which must stay in the label.
_CONTRAST = Regex(
    r"\b(?:instead of|rather than|in place of|in favou?r of|as opposed to)\b|, not\b"
    r"|\b(?:prefer|choose|chose|chosen|pick|picked|select|selected|opt|opted)\w*\b.* over\b"
    r"|\b(?:replac|swap|substitut)\w+ .*\b(?:with|by|for)\b|\bfrom \S+(?: \S+)? to\b",
    re.IGNORECASE,
)
#: Why one thing is taken instead of another is said after both, and is no part of the choice.
_REASON_AFTER = Regex(
    r"(?i)(\binstead of\b\s.*?)(?:[,;:.!?](?=\s|$)|\s(?:because|since|so|to|as|which|when|while|given|due|where)\b).*$"
)
#: Ways to say "instead of"; of some all words are stop words.
_INSTEAD = Regex(r"\b(?:rather than|in place of|as opposed to)\b", re.IGNORECASE)

#: The same few parts come in nearly every episode, and masking them is most of a label's work. So many labels take some
#: megabytes; a memory with more of them only loses time.
_remembered = lru_cache(maxsize=16384)

#: A hand-off is noted twice: when the work is handed over, and when something comes back.
_HANDOFF = {"unknown": "hand over to {}", "ok": "{} reports back", "error": "{} reports failure"}
#: What a call that was stopped says about itself; none of these is a failure.
_STOPPED = frozenset({"denied", "rejected", "interrupted", "cancelled"})
#: What an option says about itself rather than about the choice: "(Recommended)".
_REMARK = Regex(r"\s*\([^()]*\)\s*$")


def decision_kind(decision: Decision) -> DecisionKind:
    """Which rule of the grammar labels a decision."""
    action = decision.action
    if action is None or (action.verb == "run" and not action.program):
        return "prose"
    return action.verb


def decision_key(decision: Decision) -> str:
    """The label of a decision; never empty."""
    action = decision.action
    kind = decision_kind(decision)
    if action is None or kind == "prose":
        return _prose(decision.chosen or decision.context) or "decide"
    if kind == "run":
        words = map(_name, (action.subcommand or "").split())
        return "run " + " ".join(filter(None, (_program(action.program or ""), *words, *sorted(set(action.flags)))))
    if kind == "delegate":
        return f"delegate to {_agent(action.object)}"
    if kind == "use":
        return f"use {_name(action.object) or 'a tool'}"
    if kind == "choose":
        plain = _REMARK.sub("", first_line(action.object or decision.chosen))
        # The title of a plan names the task, which never comes again.
        option = "plan" if plain.casefold().startswith("plan:") else _normal_form(plain)
        return f"choose {option or 'an option'}"
    name = f"{action.verb} {action.role or 'file'}"
    suffix = extension(action.path or "")
    return f"{name}{f' ({suffix})' if suffix else ''}{', suppress a check' if action.suppresses else ''}"


def event_key(event: Event) -> str | None:
    """The label of an event, or None when it has nothing to be distinguished by.

    Milestones and tool calls have a label too; they become nodes only when they take part in a link (`facts`).
    """
    if is_error(event):
        return check_label(event.check or "") + family_of(event)
    if event.type == "test":
        return f"{_check_name(event.check or '')} {'passes' if event.status == 'ok' else 'ends without a verdict'}"
    if event.type == "commit":
        return "commit"
    if event.type == "handoff":
        return _HANDOFF.get(event.status, "{} stops").format(_agent(event.check))
    if event.type == "tool_call":
        # An event that does not name the tool begins with it: ``Bash rejected: …``.
        first, _, rest = event.content.partition(" ")
        called = _check_name(event.check or (first if rest.startswith(event.status) else ""))
        return f"{called} {event.status if event.status in _STOPPED else 'returns'}"
    return _prose(event.content) or None


class EpisodeLabels:
    """The labels of an episode's decisions and events, in their order; whoever needs them twice asks once."""

    def __init__(self, episode: Episode) -> None:
        self.decisions = [decision_key(one) for one in episode.decisions]
        self.events = [event_key(one) for one in episode.events]


def outcome_key(outcome: Outcome) -> str | None:
    """The label of an outcome: itself, and None for ``unknown``, which is no node."""
    return None if outcome == "unknown" else outcome


def event_type(event: Event) -> NodeType:
    """``error`` for failures, ``event`` for everything else that happened."""
    return "error" if is_error(event) else "event"


def is_error(event: Event) -> bool:
    """Whether an event is a failure: an error by type, or a test run that ended as one."""
    return event.type == "error" or (event.type == "test" and event.status == "error")


def family_of(event: Event) -> str:
    """The family of a failure: as extracted, else the template of its first informative line.

    Places and numbers are masked in either case, since a family may itself be a line.
    """
    return _family(event.family or event.message or first_line(event.content))


@_remembered
def _family(line: str) -> str:
    masked = template(line)
    shown = " ".join(masked.split(" ")[:_MAX_FAMILY_WORDS])
    lost = _protected(masked, after=len(shown)) if len(shown) < len(masked) else ()
    return " ".join((shown, *lost)).strip(" .:") or "no message"


def check_label(check: str) -> str:
    """The beginning that all failures of one check share.

    >>> check_label("./tools/lint.sh")
    'lint.sh fails: '
    """
    return f"{_check_name(check)} fails: "


def labels_of_call(tool: str, arguments: Mapping[str, Any], *, root: Path) -> frozenset[str]:
    """The labels of a call in Claude Code's or Codex's words: one, or one for each kind of file that it changes.

    They come out of the same code as those of an episode's decisions, before the call is made.

    >>> from pathlib import Path
    >>> sorted(labels_of_call("Edit", {"file_path": "/work/shop/test_cart.py"}, root=Path("/work")))
    ['edit test (.py)']
    """
    from helix_episodes.extraction.actions import action_of
    from helix_episodes.extraction.calls import parse_calls
    from helix_episodes.model import Decision
    from helix_episodes.readers.claude_code.records import translate_call
    from helix_episodes.session import Session, Source, Step

    steps = tuple(
        Step(kind="call", source=Source(line=1), tool=tool, operation=one.operation, arguments=dict(one.arguments))
        for one in translate_call(tool, arguments)
    )
    acts = parse_calls(Session(id="", agent="", reader="", steps=steps, root=str(root)))
    decisions = (
        Decision(id="", timestamp=None, type="implementation", chosen="", action=action_of(act)) for act in acts
    )
    return frozenset(map(decision_key, decisions))


@_remembered
def _check_name(check: str) -> str:
    """A check is a program, perhaps with a subcommand, or a tool."""
    program, _, rest = check.strip().partition(" ")
    parts = (_program(program), _name(rest)) if rest else (_program(program),)
    return " ".join(filter(None, parts)) or "step"


def _agent(name: str | None) -> str:
    """Helpers of one kind go by one name, whichever package brought them: ``review:security`` is ``security``."""
    return _name(name).rpartition(":")[2] or "a helper"


@_remembered
def _program(program: str) -> str:
    """A program is named by its last part: where it is installed does not matter."""
    return one_line(program).replace("\\", "/").rstrip("/").rpartition("/")[2]


def _name(text: str | None) -> str:
    """A name of a check, tool, helper or subcommand, in which a path can only be an argument: ``<path>.py``."""
    return template(text) if text else ""


@_remembered
def _prose(text: str) -> str:
    """``[not] verb class [flags and codes]``; the normal form where one thing is weighed against another."""
    masked = template(first_line(text))
    words = _TOKEN.findall(masked.casefold())
    place = next((i for i, word in enumerate(words[:_VERB_WITHIN]) if word in VERBS), None)
    if place is None or _CONTRAST.search(masked):
        return _normal_form(_REASON_AFTER.sub(r"\1", _INSTEAD.sub("instead of", first_line(text))))
    thing = next((OBJECTS[word] for word in words[place + 1 :] if word in OBJECTS), None)
    if thing is None:
        return _normal_form(text)
    negated = sum(word in NEGATIONS for word in words) % 2 == 1
    return " ".join(("not " * negated + VERBS[words[place]], thing, *sorted(set(kept_parts(masked)))))


def _normal_form(text: str) -> str:
    """The first few words that carry meaning, masked; negations, flags and codes of the whole line stay in."""
    masked = template(first_line(text))
    found = [word for word in _TOKEN.finditer(masked) if word.group().casefold() not in STOP_WORDS]
    shown = found[:_MAX_WORDS]
    rest = _protected(masked, after=shown[-1].end()) if shown else []
    words = [*(word.group() for word in shown), *rest]
    return " ".join(word if _FLAG_OR_CODE.fullmatch(word) else word.casefold() for word in words)


def _protected(masked: str, *, after: int) -> list[str]:
    """What a line may not lose by being cut there: its negations, flags and codes."""
    negations = [found.group().casefold() for found in _NEGATION.finditer(masked) if found.start() >= after]
    return [*negations, *kept_parts(masked, after=after)]
