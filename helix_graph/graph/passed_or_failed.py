"""Does a text ask for what passed, for what failed or for an edit, and of which program?

Who asks for what failed never means what passed, nor the other way round, nor another program than the one named. What
several words say ("did not go through", "no failing tests") is first said in one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection

_NOT = r"(?:(?:does|do|did|is|was|are|were|wo|ca|could|would)(?:n['\u2019]?t| not)|never|not|no longer"
_WORKING = (
    r"(?:work(?:s|ing)?|pass(?:es|ed|ing)?|succeed(?:s|ed)?|compil(?:es?|ed|ing)|green|happy|ok(?:ay)?|go through)"
)
#: What says in several words that something passed or failed, and the one that says the same; in this order.
_PLAINLY = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), plain)
    for pattern, plain in (
        (r"(un|mis)?formatt?(ed|ing|er)", r"\1formatt\2"),
        (r"pas+(e[sd]|ing)", r"pass\1"),
        (r"(?:(?:could|did)(?:n['\u2019]?t| not)|unable to) (push|commit)(?=\W*$)", r"\1 fails"),
        (r"unformatted|misformatted", "not formatted"),
        (
            rf"(?:(?:the |my )?code )?{_NOT}|badly|wrongly)\s+(?:properly )?formatted(?: (?:properly|correctly))?",
            "formatting fails",
        ),
        (rf"{_NOT})\s+installed", "missing"),
        (r"(?:is|was|are|were|went|go(?:es)?|looks?) (?:all )?wrong(?=\W*$)", "fails"),
        (r"(?:no|without(?: any)?|zero) (?:more )?(?:failing|failed|broken|red) (\w+)", r"\1 passes"),
        (r"(?:no|without(?: any)?|zero) (?:more )?((?:\w+ )?)(?:failures?|errors?)(?=\W*$)", r"\1passes"),
        (
            rf"{_NOT}|nothing|stop(?:s|ped)?)\s+(?:fail(?:s|ed|ing)?|broken?|breaks?|breaking|red|crash(?:es|ing)?)",
            "passes",
        ),
        (
            rf"{_NOT}|cannot|nothing|no \w+)\s+{_WORKING}|stop(?:s|ped)? (?:work|pass|compil)ing",
            "fails",
        ),
        (r"(?:(?:could|can|would)(?:n['\u2019]?t| not)|cannot) be(?= \w+ed\b)|unable to", "fails"),
    )
)
#: Words that say that something passed, where nothing follows that is passed on: not "passes the wrong argument".
_PASSING = re.compile(
    r"(?:\b(?:works|working|pass(?:es|ed|ing)?|green|ok(?:ay)?|succeed(?:s|ed)?|success|successful)"
    r"|\b(?:all|everything|\w+s) work)\b(?=\W*(?:$|(?:again|now|finally|locally|after|before|in|on|with|without|when|if"
    r"|and|because|since)\b))",
    re.IGNORECASE,
)
_FAILING = re.compile(
    r"\b(?:fail(?:s|ed|ing|ures?)?|breaks?|broken?|crash(?:es|ed)?|red(?=\W*$| (?:ci|builds?|tests?|checks?)\b)"
    r"|tim(?:ed?|es) out)\b",
    re.IGNORECASE,
)
#: Words that say that something failed where the text ends or begins with them; within it they may be of anything.
_WRONG = re.compile(
    r"\b(?:wrong|missing|rejected|refused|timeouts?|errors?)(?=\W*(?:$|(?:again|in|on|by|when|after|because)\b))"
    r"|^\W*(?:(?:the|an?) )?(?:missing|rejected|wrong)\b",
    re.IGNORECASE,
)
_OF_A_CHECK = re.compile(r" fails\b| passes$")
_CHANGING = re.compile(
    r"^\W*(?:add|handl|correct|increas|rais|chang|edit|set|updat|remov|avoid|catch)\w*", re.IGNORECASE
)
_REPAIRED = re.compile(r"\b(?:fix|repair)\w*", re.IGNORECASE)
#: A text that says no more than that something was changed.
ANY_CHANGE = re.compile(
    r"\s*(?:(?:an?|the|some|any|my|our|your|code|source|file) )*"
    r"(?:changes?|changing|changed|edit(?:s|ed|ing)?)(?: (?:to|of|in))?"
    r"(?: (?:an?|the|some|any|my|our|your|code|source|files?))*\s*",
    re.IGNORECASE,
)
#: Phrases that have a short name.
SHORT_NAMES = (
    (re.compile(r"\bend[ -]to[ -]end\b", re.IGNORECASE), "e2e"),
    (re.compile(r"\b(?:pull|merge) requests?\b", re.IGNORECASE), "pr"),
    (re.compile(r"\bunit tests\b", re.IGNORECASE), "tests"),
    (re.compile(r"\bno such\b", re.IGNORECASE), "missing"),
    (re.compile(r"\bcontinuous integration\b", re.IGNORECASE), "ci"),
    (
        re.compile(r"\bsessions? (?:that )?(?:end|went|go)\w* (?:well|fine|ok|good|successful)\w*", re.IGNORECASE),
        "success",
    ),
    (re.compile(r"\bsessions? (?:that )?(?:end|went|go)\w* (?:bad|wrong|unsuccessful)\w*", re.IGNORECASE), "failure"),
)


Leaning = Literal["pass", "fail", "edit"]


def leaning(text: str) -> Leaning | None:
    """Whether a text asks for what passed, for what failed, or for any edit; None where it says neither or both.

    >>> leaning("it works"), leaning("tests no longer pass"), leaning("a code change"), leaning("passes a wrong flag")
    ('pass', 'fail', 'edit', None)
    >>> leaning("no failing tests"), leaning("the push was rejected"), leaning("add a missing test")
    ('pass', 'fail', None)
    """
    if ANY_CHANGE.fullmatch(text):
        return "edit"
    plain = plainly(text)
    passing = _PASSING.search(plain)
    failing = _FAILING.search(plain) or (None if _CHANGING.match(plain) else _WRONG.search(plain))
    if passing and not failing:
        return "pass"
    return "fail" if failing and not passing and not _REPAIRED.search(plain) else None


def plainly(text: str) -> str:
    """A text with what says in several words that something passed or failed in one word."""
    for several, one in _PLAINLY:
        text = several.sub(one, text)
    return text


class Wanted(NamedTuple):
    """What a label must agree with: what is asked for passed or failed, and of which programs it may be."""

    leaning: Leaning | None
    programs: frozenset[str] = frozenset()
    #: Whether the text says no more than that the program failed.
    alone: bool = False

    def excludes(self, label: str) -> bool:
        """Whether a label says the opposite, or is another program's: nobody who asks for a pass means what fails."""
        check, fails, _ = label.partition(" fails")
        passes = label.endswith(" passes")
        if self.programs and (fails or passes):
            check = check.removesuffix(" passes")
            if not any(f"{check} ".startswith(f"{one} ") for one in self.programs):
                return True
        if self.leaning == "pass":
            return label == "failure" or bool(fails)
        if self.leaning == "fail":
            return passes or label in {"success", "commit"} or (self.alone and not fails)
        return self.leaning == "edit" and not label.startswith(("edit ", "create "))


#: What a subcommand is of, where a text says no more than that it failed.
_PROGRAMS = {"push": "git push", "commit": "git commit", "create": "gh pr create", "open": "gh pr create"}
_OPENED = {"commits": "commit", "pushes": "push", "created": "create", "opened": "open", "creation": "create"}
#: Words that say no more than that it failed: to be missing says how.
_ALONE = re.compile(r"fail\w*|break|breaks|broken?|wrong|rejected|refused|errors?|crash\w*")
_ITS_WORDS = frozenset("git gh to an the my pr push commit create open".split())  # noqa: SIM905


#: Names of checks that are plain words too.
_PLAIN = frozenset("lint test tests build check format types work diagnostics make go".split())  # noqa: SIM905


def wanted(text: str, labels: Collection[str] = ()) -> Wanted:
    """What a label must agree with to be meant by a text, where these ``labels`` are known.

    A text names a check when it has all the words of its name, and the check is no plain word.

    >>> wanted("cargo-deny missing", ["cargo deny fails: banned", "cargo test passes"])
    Wanted(leaning='fail', programs=frozenset({'cargo deny'}), alone=False)
    >>> wanted("push was rejected").programs, wanted("push the button").programs
    (frozenset({'git push'}), frozenset())
    """
    asks = leaning(text)
    plain = plainly(text)
    for phrase, short in SHORT_NAMES:
        plain = phrase.sub(short, plain)
    found: list[str] = re.findall(r"\w+", plain.casefold())
    words = [word for word in found if word not in {"is", "was"}]
    said = f" {' '.join(words)} "
    checks = {label.partition(" fails")[0].removesuffix(" passes") for label in labels if _OF_A_CHECK.search(label)}
    passing = {label.removesuffix(" passes") for label in labels if label.endswith(" passes")}
    names = {one: re.findall(r"\w+", one.casefold()) for one in checks}
    programs = frozenset(
        one
        for one, name in names.items()
        if f" {' '.join(name)} " in said and (len(name) > 1 or (one in passing and one not in _PLAIN))
    )
    left: set[str] = {_OPENED.get(word, word) for word in words if not _ALONE.fullmatch(word)}
    if not programs and left <= _ITS_WORDS and ("pr" in left or not left & {"create", "open"}):
        programs = frozenset(_PROGRAMS[word] for word in left & set(_PROGRAMS))
        alone = asks == "fail" and len(programs) == 1
        return Wanted(asks, programs if alone else frozenset(), alone=alone)
    alone = asks == "fail" and any(left == set(names[one]) for one in programs)
    return Wanted(asks, programs, alone)


def labels_of_checks(connection: sqlite3.Connection) -> list[str]:
    """What says that a check or program failed, and what says that it passed."""
    return [label for (label,) in connection.execute("SELECT label FROM node WHERE type IN ('error', 'event')")]
