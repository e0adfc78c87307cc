"""What the words around a command or a path say of it: asked for, warned of, only mentioned, and when.

Words are those of one line with its code masked (`masked`), so that nothing in a command is read as a word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from helix_graph.rules.model import Sense

_SPAN = re.compile(r"`([^`]+)`")
#: Where another thought begins. A span is judged by the words of its own.
_CLAUSE = re.compile(
    r"(?<=[a-z`*)\d])[.;:!?](?=\s|$)|[()]|\s[\u2013\u2014-]\s|,\s(?=(?:not|never|instead|rather|but|always|use|run)\b)"
)
_SENTENCE = re.compile(r"(?<=[a-z`*)\d])[.;!?](?=\s|$)")
_NOT = r"(?:never|do not|don['\u2019]t|must not|mustn['\u2019]t|should not|shouldn['\u2019]t|may not|cannot|avoid)"
_AVOID = re.compile(
    rf"\b(?:{_NOT}|no longer|forbidden|prohibited)\b|(?<!does )\bnot(?: \w+)?\s*$",
    re.IGNORECASE,
)
#: "Never commit without running `x`", "do not skip `x`": the second no turns the first.
_TWICE = re.compile(
    rf"\b{_NOT}\W+(?:\w+\W+)*?(?:(?:without|until|unless|before)(?:\W+(?:first|running|executing|having|you|have|run|ran|a|the"
    r"|successful|passing|clean))*|(?:forget|fail|neglect|omit)(?:\W+to)?(?:\W+(?:run|execute|use|call))?|skip(?:\W+running)?)"
    r"(?:\W+the)?\W*$",
    re.IGNORECASE,
)
#: "Do not run `x` without asking": there are cases in which it is right.
_EXCEPTED = re.compile(r"\b(?:without|unless|except|until|before|while|when|if|other than|only)\b", re.IGNORECASE)
#: What a command is named after that another is to be used in place of.
_INSTEAD = re.compile(
    r"(?:\b(?:instead of|rather than|in place of)\b|[,;\u2013\u2014-]\s*(?:not|never)\b"
    r"|\bprefer\b[^.;]*`[^.;]*\bover\b)[^`]*$",
    re.IGNORECASE,
)
#: What stands between the commands of a list.
_LIST = re.compile(r"(?:`x*`\s*(?:,\s*(?:or|and)?|or|and|/)\s*)+$")
_RUNS = r"(?:runs|executes|calls|invokes|uses|(?:will|also|automatically|already) (?:run|execute|call|invoke))"
_MENTIONED = re.compile(
    rf"\b(?:CI|hooks?|pre-commit|actions?|workflows?|pipelines?|jobs?|bots?|scripts?|it|which|that)\W+(?:\w+\W+){{0,2}}?{_RUNS}\W*"
    r"(?:the\W+)?$|\b(?:hooks|actions|workflows|pipelines|jobs|scripts) (?:run|execute|call|use)\W*(?:the\W+)?$",
    re.IGNORECASE,
)
_MENTIONED_AFTER = re.compile(
    r"^\W*(?:is|are|gets?)?\s*(?:\w+ )?(?:run|executed|called|invoked)(?: automatically)? (?:by|in|on) "
    r"(?:the |a )?(?:CI|hooks?|pre-commit|actions?|workflows?|pipelines?|jobs?|GitHub)",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(
    r"\boptional(?:ly)?\b|\b(?:you|we|one|agents?) (?:can|may|could|might)\b(?! ?not)|\bno need to\b"
    r"|\bnot (?:necessary|needed|required|have|need)\b|n['\u2019]t (?:have|need) to\b|\bneedn['\u2019]t\b"
    r"|\b(?:only )?if (?:you )?(?:want|like|prefer)\b|\b(?:mentally|in your head)\b",
    re.IGNORECASE,
)
_OPTIONAL_AFTER = re.compile(
    r"^\W*(?:optional\b|if (?:needed|necessary|desired|applicable|you (?:want|like)))", re.IGNORECASE
)
_EXAMPLE = re.compile(r"(?:\be\.?g\b\.?|\bfor (?:example|instance)\b|\bsuch as\b|\blike\b)[,:]?\W*$", re.IGNORECASE)
#: What follows is shown to be wrong, up to what is shown to be right.
_WRONG = re.compile(
    r"(?:[\u274c\u2717\u2718\U0001f6ab]|\b(?:bad|wrong|incorrect|anti-?pattern)\b\W*:)"
    r"(?:(?![\u2705\u2713\u2714]|\b(?:good|right|correct)\b).)*$",
    re.IGNORECASE,
)

_COMMIT = re.compile(
    r"\b(?:before|prior to|ahead of|until after)\b[^.;]{0,40}?\b(?:commit|push|pull request|PR|merg|submit)"
    rf"|\b{_NOT}\s+(?:commit|push|merge|submit|open a)\b[^.;]{{0,40}}?\b(?:without|until|unless|before)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:after|when|whenever|while|once|every time|if)\b[^.;]{0,30}?"
    r"\b(?:chang|edit|modif|updat|touch|writ|implement|add|code)|\b(?:at )?the end of (?:any|each|every|a|the)\b"
    r"|\bbefore\b[^.;]{0,40}?\b(?:finish|complet|mark|done|conclud|declar|respond|hand)"
    r"|\b(?:task|work|change)s?\b[^.;]{0,20}?\b(?:complete|done|finished)\b"
    r"|\b(?:complet|finish|end)ing\s+(?:(?:a|the|any|your|each|every)\s+)?(?:work|tasks?|changes?)\b",
    re.IGNORECASE,
)
#: What has to be changed is said in words: "when changing integration test code", "after schema changes".
_TRIGGER = re.compile(
    r"\b(?:when|if|whenever|while|after|once|every time)\s+(?:you(?:['\u2019]ve| have)?\s+)?"
    r"(?P<verb>chang|edit|modif|updat|touch|add|creat|introduc|writ|implement|remov|renam|delet|mak)\w*"
    r"(?P<what>[^.;:,()\u2013\u2014`]*?)"
    r"(?=[.;:,()\u2013\u2014`]"
    r"|\s(?:always|you|make sure|must|run|use|ensure|and|or|to verify|to ensure|to check|before)\b|\s*$)",
    re.IGNORECASE,
)
_NOUN = re.compile(
    r"\b(?:after|on|upon|for)\s+(?P<what>(?:[\w-]+\s+){0,3})(?:changes?|edits?|modifications?)\b", re.IGNORECASE
)
_COMMITTED = re.compile(
    r"\b(?:commit|push)\w*\s+(?:(?:any|your|the)\s+)?(?:changes?\s+(?:to|in|of)\s+(?:the\s+)?"
    r"(?P<to>(?:[\w-]+ ?){1,3})(?=[.;:,()`]|$)|(?P<sort>[\w-]+)\s+(?:changes?|code|files?)\b)",
    re.IGNORECASE,
)
#: Parts of a file whose lines hold at another time, for others, or show how not to do it.
_ELSEWHERE = re.compile(
    r"\b(?:examples?|troubleshooting|releas(?:e|es|ing)|publish(?:ing)?|deploy(?:ment|ing)?|maintainers?|debugging|faq|CI"
    r"|(?:pre|post)-?(?:commit|push) hooks?|automated|automatic(?:ally)?)\b"
    r"|\b(?:hooks?|workflows?|pipelines?|husky|lefthook)\b.*\bruns?\b"
    r"|^\W*(?:don['\u2019]?ts?|do not|never|avoid|anti-?patterns?|bad|wrong|forbidden|prohibited|what not to)\b",
    re.IGNORECASE,
)
_EDITED = frozenset({"chang", "edit", "modif", "updat", "touch"})
_ANYTHING = frozenset(
    [
        "a",
        "an",
        "the",
        "any",
        "each",
        "every",
        "all",
        "some",
        "new",
        "your",
        "our",
        "existing",
        "code",
        "file",
        "files",
        "anything",
        "something",
        "source",
        "sources",
        "it",
        "them",
        "this",
        "change",
        "changes",
        "edit",
        "edits",
        "module",
        "modules",
        "feature",
        "features",
        "functionality",
        "implementation",
        "implementations",
        "work",
        "task",
        "tasks",
        "significant",
        "major",
        "substantial",
        "meaningful",
        "larger",
        "large",
        "making",
        "nontrivial",
        "non-trivial",
        "production",
        "logic",
        "codebase",
        "project",
        "repository",
        "repo",
        "in",
        "to",
        "of",
        "from",
        "with",
        "step",
        "set",
        "series",
        "batch",
        "fix",
        "fixes",
        "function",
        "functions",
        "behavior",
        "behaviour",
    ]
)
#: The files of a language by its name.
_LANGUAGES = {
    "go": ("*.go",), "golang": ("*.go",), "python": ("*.py",), "rust": ("*.rs",), "shell": ("*.sh",),
    "typescript": ("*.ts", "*.tsx"), "javascript": ("*.js", "*.jsx", "*.mjs"), "markdown": ("*.md", "*.mdx"),
    "css": ("*.css",), "ruby": ("*.rb",), "java": ("*.java",), "kotlin": ("*.kt",), "swift": ("*.swift",),
}  # fmt: skip
_MOST_WORDS = 3
#: A condition that no session shows. What is a matter of course is none, nor is what a rule says when of.
_CONDITION = re.compile(
    r"\b(?:if|when|whenever|unless|in case)\b(?!\s+(?:possible|done|finished|complete|you['\u2019]?(?: a)?re done"
    r"|you(?:['\u2019]re| are)? (?:run|test|lint|build|format|commit|push|check)"
    r"|(?:running|invoking|executing|testing|linting|formatting|building|committing|pushing|checking)))"
    r"(?P<what>[^,.;:()\u2013\u2014]*)",
    re.IGNORECASE,
)
#: What a session does not show: what the work is for, or whether somebody runs it that way at all.
_PURPOSE = re.compile(
    r"^\W*for\s+(?:\w+\s+){2,}[^`]{0,30},|\b(?:if|when) you (?:run|use)\b"
    r"|`\W*for (?:a |the |your |any )?(?:production|releases?|deploy\w*|local|development|debug\w*)\b"
    r"|\bexceptions?\W{0,3}:"
    r"|^\W*to (?!verify|check|validate|ensure|confirm|make sure|test|lint|format|build|catch|keep|typecheck|type-check)"
    r"\w+[^`,.;]*,",
    re.IGNORECASE,
)

_HAS_TO_PASS = re.compile(
    r"\b(?:must|should|until|ensure|make sure|verify|has to|have to|needs? to)\b(?! not)[^.;]*\b(?:pass|succeed|green)",
    re.IGNORECASE,
)
_WHEN = re.compile(r"\W*(?:before|after|for|while|during|upon)\b", re.IGNORECASE)
#: Something is asked for at every single change: one run at the end does not do it.
_EACH_CHANGE = re.compile(
    r"\b(?:each|every|any)\s+(?:[\w-]+\s+){0,3}?(?:changes?|edits?|modifications?|steps?|updates?|refactorings?)\b"
    r"|\b(?:(?:each|every|any) time|whenever)\b[^.;:]{0,30}?\b(?:chang|edit|modif|updat|touch|writ|implement|add)",
    re.IGNORECASE,
)
#: What has gone wrong when a line is to be obeyed.
_TROUBLE = (
    r"(?:failures?|failed|failing|fails?|errors?|differences?|violations?|warnings?|problems?|crash(?:es)?)\b(?!-)"
)
_GONE_WRONG = re.compile(r"\b(?:fail(?:s|ed|ing|ures?)?|br(?:eaks?|oken?)|crash(?:es|ed)?)\b", re.IGNORECASE)
#: "Test failures: `x`", "on a lint error, `x`".
_LED_BY_TROUBLE = re.compile(
    r"^\W*(?!(?:run|use|fix|find|see|show|list|check|catch|detect|report|look|ensure|verify|make"
    r"|treat|resolve|address|avoid|prevent|no|zero)\b)"
    rf"(?:[\w-]+\W+){{0,3}}?{_TROUBLE}\W*[:,\u2013\u2014-]|\bon\s+(?:[\w-]+\s+){{0,3}}?{_TROUBLE}",
    re.IGNORECASE,
)
_AFTER_TROUBLE = re.compile(rf"\b(?:upon|after|following|in case of)\s+(?:[\w-]+\s+){{0,3}}?{_TROUBLE}", re.IGNORECASE)
_LED_TO = re.compile(r"(?P<from>.*?)(?:\u2192|\u21d2|[-=]>)(?=.*`)")
_ANY_TROUBLE = re.compile(rf"\b{_TROUBLE}", re.IGNORECASE)
#: On the left of an arrow this names what the command is, or the command before it, and no situation.
_LABEL = re.compile(
    r"\W*(?:[\w-]+\s+)?(?:tests?|testing|lint\w*|builds?|building|format\w*|type-?check\w*|types|checks?|ci)?\W*"
    r"|.*\b(?:run|use|execute)\b.*",
    re.IGNORECASE,
)


def masked(text: str) -> str:
    """A text with its code made unreadable, letter for letter.

    >>> masked("run `make lint` first")
    'run `xxxxxxxxx` first'
    """
    return _SPAN.sub(lambda one: "`" + "x" * (len(one[0]) - 2) + "`", text)


def clauses(words: str) -> list[str]:
    """The thoughts of a line."""
    return _CLAUSE.split(words)


def sense_of(before: str, after: str, *, is_path: bool) -> Sense | None:
    """Whether the words before and after a span ask for it or warn of it; None where they only mention it.

    >>> sense_of("Always run ", " before you commit", is_path=False), sense_of("Never run ", "", is_path=False)
    ('do', 'avoid')
    >>> sense_of("CI runs ", " on each push", is_path=False), sense_of("Never run ", " without asking", is_path=False)
    (None, None)
    """
    clause, rest = clauses(before)[-1], clauses(after)[0]
    if is_path:
        avoided = _AVOID.search(clause)
        return None if avoided and _EXCEPTED.search(rest) else "avoid" if avoided else "do"
    if _MENTIONED.search(clause) or _MENTIONED_AFTER.search(after) or _OPTIONAL.search(clause):
        return None
    if _OPTIONAL_AFTER.search(after) or _EXAMPLE.search(before) or _WRONG.search(before):
        return None
    if _TWICE.search(clause):
        return "do"
    if stands_aside(before) or _AVOID.search(clause):
        return None if _EXCEPTED.search(rest) else "avoid"
    return "do"


def stands_aside(before: str) -> bool:
    """Whether a span that follows these words is what others are to be used in place of.

    >>> stands_aside("Use `xxxx` instead of "), stands_aside("Use ")
    (True, False)
    """
    return bool(_INSTEAD.search(_LIST.sub("", before)))


def are_alternatives(between: str) -> bool:
    """Whether the words between two spans leave the choice.

    >>> are_alternatives(" or "), are_alternatives(" and ")
    (True, False)
    """
    return re.fullmatch(r"\W*or\W*", between, re.IGNORECASE) is not None


def is_before_commit(words: str) -> bool:
    """Whether something is asked for before commits or pushes."""
    return bool(_COMMIT.search(words))


def is_before_push(words: str) -> bool:
    """Whether it is asked for before pushes, pull requests or merges, and nothing is said of commits.

    >>> is_before_push("before opening a PR"), is_before_push("before pushing or committing")
    (True, False)
    """
    return is_before_commit(words) and not re.search(r"\b(?:commit|submit)", words, re.IGNORECASE)


def is_after_change(words: str) -> bool:
    """Whether something is asked for after changes, or at the end of the work."""
    return bool(_CHANGE.search(words))


def is_conditional(words: str) -> bool:
    """Whether the sentences with code hold only under a condition that no session shows.

    >>> is_conditional("If a test is flaky, run `xxxx`."), is_conditional("When you change a file, run `xxxx`.")
    (True, False)
    """
    if _PURPOSE.search(words):
        return True
    return any(_has_condition(one) for one in _SENTENCE.split(words) if "`" in one)


def is_situation(title: str) -> bool:
    """Whether a heading, or a line that leads to others, names a situation that no session shows.

    >>> is_situation("When the build is stuck"), is_situation("When modifying the schema"), is_situation("Checks")
    (True, False, False)
    """
    unseen = _WHEN.match(title) is not None and not _is_when(title)
    return unseen or _has_condition(title) or _GONE_WRONG.search(title) is not None


def _has_condition(words: str) -> bool:
    said = (found[0] for found in _CONDITION.finditer(words))
    return any(_GONE_WRONG.search(one) or not _is_when(one) for one in said)


def _is_when(words: str) -> bool:
    return bool(_COMMIT.search(words) or _CHANGE.search(words))


def has_to_pass(words: str) -> bool:
    """Whether a run that fails does not do.

    >>> has_to_pass("`xxxx` MUST pass before commit"), has_to_pass("Run `xxxx` and report what does not pass")
    (True, False)
    """
    return bool(_HAS_TO_PASS.search(words))


def is_at_each_change(words: str) -> bool:
    """Whether something is asked for at every single change, of which a session does not show where one ends.

    >>> is_at_each_change("Run it after each code change"), is_at_each_change("Run it after changes")
    (True, False)
    """
    return bool(_EACH_CHANGE.search(words))


def is_for_trouble(words: str) -> bool:
    """Whether code is what to do in a situation, such as a failure: the command's other runs say nothing of the rule.

    >>> is_for_trouble("Test failures → run `xxxx`"), is_for_trouble("Unit tests → `xxxx`")
    (True, False)
    """
    for one in _SENTENCE.split(words):
        if "`" not in one:
            continue
        situation = _LED_TO.match(one)
        left = _SPAN.sub("", situation["from"]) if situation else ""
        labelled = _LABEL.fullmatch(left) or is_before_commit(left) or is_after_change(left)
        led = _LED_BY_TROUBLE.search(one.partition("`")[0]) or _AFTER_TROUBLE.search(one)
        if _ANY_TROUBLE.search(left) or not labelled or led:
            return True
    return False


def changed_files(words: str) -> tuple[str, ...] | None:
    """The files whose change asks for something, as patterns; none where it is any change, None where nobody can tell.

    >>> changed_files("After each change, run it"), changed_files("When you edit the schema, run it")
    ((), ('*schema*',))
    >>> changed_files("When adding a migration, run it") is None
    True
    """
    found = _TRIGGER.search(words) or _NOUN.search(words)
    if found is None:
        return ()
    named = _names(found["what"])
    if not named:
        return ()
    if (files := _LANGUAGES.get(named[0])) is not None and len(named) == 1:
        return files
    if len(named) > _MOST_WORDS or found.groupdict().get("verb", "edit").casefold() not in _EDITED:
        return ("*test*",) if named in (["test"], ["tests"]) else None
    return (f"*{'?'.join(map(_singular, named))}*",)


def committed_files(words: str) -> tuple[str, ...] | None:
    """The files whose commit asks for something, as patterns; none where it is any commit, None where nobody can tell.

    >>> committed_files("before committing"), committed_files("before committing Go code")
    ((), ('*.go',))
    >>> committed_files("before committing changes to the docs")
    ('*doc*',)
    """
    found = _COMMITTED.search(words)
    named = _names(found["to"] or found["sort"]) if found is not None else []
    if not named:
        return ()
    files = _LANGUAGES.get(named[0])
    return files if files is not None else (f"*{'?'.join(map(_singular, named))}*",)


def holds_elsewhere(heading: str) -> bool:
    """Whether what stands below a heading holds at another time, for others, or shows how not to do it.

    >>> holds_elsewhere("Releasing"), holds_elsewhere("Checks")
    (True, False)
    """
    return bool(_ELSEWHERE.search(heading))


def _singular(word: str) -> str:
    """The letters that a word has in the singular and in the plural."""
    return word.removesuffix("ies").removesuffix("s")


def _names(words: str) -> list[str]:
    return [one for one in words.casefold().replace("-", " ").split() if one not in _ANYTHING]
