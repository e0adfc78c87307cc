"""A diagnostic: what one line of a tool says is wrong, and the keys under which it is recognised."""

from __future__ import annotations

from functools import cached_property, lru_cache

from helix_episodes.light_imports import Regex, Value, blake2b
from helix_episodes.normalization import is_telling, message_template

#: 64 bits: two of a million different issues share a fingerprint with a chance of one in 37 million.
_BYTES = 8
#: The same words of one compiler in the order of its older versions.
_REORDERED = (
    (Regex(r"^\"?([\w.]+)\"? declared (?:and|but) not used$"), r"declared and not used: \1"),
    (Regex(r"^\"([^\"]+)\" imported and not used$"), r'imported and not used: "\1"'),
)
#: How loud a line is says nothing of what is wrong; the same message comes with and without it.
_SEVERITY = Regex(
    r"(?:E {3,}|\W*(?:npm )?(?:ERR!|\[?(?:fatal )?(?:[Ee]rror|ERROR|[Ff]atal|FATAL|[Ww]arning|WARN)\]?)(?:\[\w+\])?"
    r"(?::|\s)\s*)+"
)
#: The sign before a complaint, which only some lines of one tool have.
_MARKS = ("\u00d7", "\u2716", "\u2717", "\u2718", "\u2a2f")
_MARK = Regex(rf"[{''.join(_MARKS)}]\s+")
_NAME = Regex(
    r"[\"'`\u2018\u201c]([A-Za-z_$@][\w.$@/:-]{0,79})[\"'`\u2019\u201d]"
    r"|\b(?:undefined|not used|symbol|reference): (\w[\w.]*)"
)
_PARAMETERS = Regex(r"\[.*\]$")
#: A test's place in its suite: the parts of the name, whichever sign a runner puts between them.
_JOINTS = Regex(r" (?:>|\u203a|\u2023|»|→) |::|#")
_TIMED = Regex(r"\s*[\[(]?\d[\d.,]* ?(?:ms|s)[\])]?$")
_WORD = Regex(r"[^\W\d_]{3,}")
_LINTER = Regex(r" \([a-z][a-z0-9]{2,20}\)$")
#: Tools that print the rule on a line without the message.
_RULE_SAYS_ALL = frozenset({"biome", "pre-commit", "shellcheck"})
#: An exception that says no more than that an expectation was not met.
_EXPECTATIONS = frozenset({"AssertionError", "Error", "Failed", "test failed"})


class Diagnostic(Value):
    """What is wrong, as far as the text says.

    ``message`` is without its location and without the name of its rule. ``test`` is the failing test, ``raised`` the
    exception that ended it; ``rule`` is the linter's rule or the compiler's code. ``scope`` is set where the message is
    a fixed sentence that is said of anything, and then belongs to it. ``alone`` is a line that someone pasted by
    itself: its words may be those of a test's name.
    """

    tool: str = ""
    message: str = ""
    file: str | None = None
    test: str | None = None
    raised: str | None = None
    rule: str | None = None
    scope: str = ""
    alone: str = ""

    @property
    def symbol(self) -> str | None:
        """The first name that is quoted in the message, or that follows one of compilers' fixed words."""
        named = _NAME.search(self.message)
        return (named[1] or named[2]) if named else None

    @property
    def fingerprint(self) -> str | None:
        """The name of the issue; None when the text says no more than that something failed."""
        return next(iter(self.keys), None)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The fingerprint, then the fingerprints of texts that say less of the same failure."""
        found = [*(_test_keys(self) if self.test else ()), *_message_keys(self)]
        if self.rule and (not found or self.tool in _RULE_SAYS_ALL):
            found.append(_key("rule", self.rule))
        if self.alone:
            # A linter's message without its place: its name stays at the end, or a rule's code before it.
            found += _message_keys(Diagnostic(message=_LINTER.sub("", self.alone)))
            found.append(_test_keys(Diagnostic(test=self.alone))[0])
        return tuple(dict.fromkeys(found))


def _key(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=_BYTES).hexdigest()


def _message_keys(one: Diagnostic) -> list[str]:
    core = message_core(one.message)
    # One word may be said by any program, of anything.
    scope = one.scope or (one.tool if len(_WORD.findall(core)) == 1 else "")
    return [_key("message", core, scope)] if core else []


@lru_cache(maxsize=8192)  # asked for a label, for a thing and for each of a diagnostic's keys
def message_core(message: str) -> str:
    """The part of a message that stays the same when it is met again; empty when it says nothing.

    >>> message_core("error: cannot open '/srv/a/b/cart.py', line 3.")
    'cannot open b/cart.py, line <n>'
    """
    message = _MARK.sub("", message) if message.startswith(_MARKS) else message
    text = _SEVERITY.sub("", message.strip()) if _SEVERITY.match(message.strip()) else message.strip()
    for pattern, words in _REORDERED:
        text = pattern.sub(words, text)
    if text.endswith(")") and text.count(")") > text.count("("):  # a nested report closed its own
        text = text[:-1]
    core = message_template(text).rstrip(" .:;")
    return core if is_telling(core) else ""


def name_of_test(name: str) -> str:
    """A test's name as every runner and report gives it: without parameters, subtests, file and time.

    >>> name_of_test("tests/test_cart.py::TestSum::test_add[3-4]"), name_of_test("TestPut/empty_key")
    ('TestSum > test_add', 'TestPut')
    """
    plain = _PARAMETERS.sub("", _TIMED.sub("", name.strip()))
    if plain.startswith("Test") and "/" in plain:  # a part of a Go test
        plain = plain.partition("/")[0]
    parts = [part.strip() for part in _JOINTS.split(plain)]
    if len(parts) > 1 and "." in parts[0] and " " not in parts[0]:  # the file, or the module
        parts = parts[1:]
    if len(parts) == 1 and " " not in parts[0]:
        parts = parts[0].split(".")[-2:]  # a class and its method
    return " > ".join(parts)


def _test_keys(one: Diagnostic) -> list[str]:
    name = name_of_test(one.test or "")
    last = name.rpartition(" > ")[2]
    stem = (one.file or "").replace("\\", "/").rpartition("/")[2]
    raised = one.raised if one.raised and one.raised not in _EXPECTATIONS else ""
    ways = [(stem, name, raised), ("", name, raised), (stem, name, ""), ("", name, ""), ("", last, "")]
    return [_key("test", *way) for way in ways]
