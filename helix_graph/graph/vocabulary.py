"""The closed vocabulary of prose labels: which verbs and which things we tell apart.

A decision written in words ("We'll go with Redis for the session cache") has no structured action. Its label is a verb
and a class of things, both from the tables below, so that two sessions that say the same in other words meet. The
tables are part of the grammar: any change to them is a new `labels.LABEL_VERSION`.
"""

from __future__ import annotations

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
