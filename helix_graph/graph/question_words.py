"""Which words of a question count, what stands for each in a log, what a misspelt one means, and what each weighs."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from helix_graph.graph.passed_or_failed import ANY_CHANGE, SHORT_NAMES, plainly
from helix_graph.word_search import idf, query_words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

#: Words that a question has beside what it is about.
_QUESTION_WORDS = frozenset(
    """a an the this that these those it its we i you they my our your is are was were be been being to of in on at for
    with by from as and or so then did do does why how what which when where who me show tell explain get got into up
    each every have has had same again still always ever once twice time times day keep keeps happen happened cause
    caused led lead leads such between through can cannot could would should will won may might must not say says said
    everything something anything
    """.split()  # noqa: SIM905  (one line of words is easier to read)
)
#: What else a word may be called in a log. The key finds the others, not they the key.
_ALSO = {
    word: others.split()
    for words, others in (
        ("fail failure red broken broke break complain", "fail error broken broke"),
        ("error", "fail"),
        ("pass green works clean ok okay", "pass success ok"),
        ("fixed", "pass fix success edit"),
        ("success", "pass"),
        ("autofix", "fix"),
        ("lint linter style", "lint linter ruff eslint golangci clippy format"),
        ("gofmt rustfmt prettier fmt format formatting formatter", "fmt format gofmt prettier"),
        ("golint", "golangci"),
        ("clippy eslint ruff golangci", "lint"),
        ("audit", "audit deny advisory"),
        ("test", "pytest jest vitest"),
        ("typecheck", "mypy pyright tsc typecheck check"),
        ("compile compiler", "compile build"),
        ("bug problem trouble issue", "error fail bug issue problem"),
        ("exception traceback", "error exception panic"),
        ("permission denied forbidden", "permission denied refused"),
        ("connection network", "connection network fetch"),
        ("unused dead", "unused dead used"),
        ("unneeded unnecessary redundant", "unnecessary redundant unused"),
        ("duplicate duplicated copy", "duplicate dupl"),
        ("flaky intermittent random", "flaky race"),
        ("config configuration setting", "config setting"),
        ("dependency library module", "dependency package module requirement"),
        ("upgrade bump", "upgrade bump update"),
        ("add new", "add create"),
        ("invalid wrong incorrect bad", "invalid wrong incorrect bad"),
        ("large big huge long", "large big long"),
        ("newest latest recent", "new newest latest recent last"),
        ("several multiple many", "several multiple multi"),
        ("garbled jumbled mangled", "garbled jumbled mangled weird broken"),
        ("log logging", "log"),
        ("database db", "database db sql"),
        ("auth login", "auth login token"),
        ("secret credential", "secret credential token key"),
        ("typo misspelling misspelled", "typo spell"),
        ("reject refuse deny decline block no", "reject refuse deny block fail error"),
        ("404", "found missing"),
        ("403 401", "forbidden denied unauthorized permission"),
        ("429", "rate limit"),
        ("127", "command found"),
        ("undo revert", "undo revert restore reset checkout"),
        ("slow delay latency", "slow delay latency"),
        ("hang hung stuck", "hang hung stuck timeout"),
        ("crash panic", "crash panic"),
        ("remove delete", "remove delete"),
        ("vanish missing lost absent nonexistent", "missing lost undefined found such exist"),
        ("change touch modify write", "edit create"),
        ("rename", "move rename"),
        ("pr", "pr pull"),
        ("pull", "pr"),
        ("open", "create"),
        ("dispatch trigger start launch", "run start dispatch trigger"),
        ("body description", "body description"),
        ("ci", "workflow"),
        ("docs documentation", "readme doc"),
        ("argument arg flag parameter", "argument flag option parameter"),
        ("directory folder dir", "directory folder dir"),
        ("repository repo", "repository repo"),
        ("environment env", "environment env"),
        ("package pkg", "package pkg"),
        ("message msg", "message msg"),
        ("screen display render show", "render display show"),
        ("install installation setup", "install setup"),
        ("bash zsh terminal", "shell bash zsh"),
        ("encoding unicode utf", "encoding unicode utf"),
        ("import", "import module"),
        ("branch", "branch checkout switch"),
        ("publish release ship", "publish release tag"),
    )
    for word in words.split()
}
#: Words that people use for each other, and long words with their short forms: each may stand for the others of its
#: line, with less certainty than the table's.
_SYNONYMS = (
    *("remove removal delete drop discard prune", "reject refuse refusal decline deny"),
    *("split chunk segment divide", "join merge combine reassemble concatenate", "move migrate relocate"),
    *("replace substitute swap", "simplify shorten shorter simpler trim reduce", "verify validate"),
    *("retry attempt", "parallel concurrent simultaneous", "detect recognize recognise discover", "plan proposal"),
    *("increase raise bump grow", "decrease lower reduce", "skip ignore omit", "save store persist", "parse read load"),
    *("start begin launch boot", "stop abort kill cancel interrupt", "null nil none", "empty blank"),
    *("old previous former legacy outdated obsolete stale", "ticket issue linear jira", "review feedback comment"),
    *("mismatch mismatched differ unexpected", "lock deadlock", "port address", "sign signing signature notarize"),
    *("certificate cert tls ssl", "url link uri", "response reply answer", "marshal serialize encode"),
    *("unmarshal deserialize decode", "conflict clash collide", "push upload", "fetch download pull"),
    *("worktree workspace", "delegate subagent agent", "approve approval accept allow permit", "copy duplicate clone"),
    *("helper util utility function", "spec test", "cover coverage test", "upstream remote origin tracking"),
    *("complain complaint report", "explanation explain description", "wording text message", "tidy clean cleanup"),
    *("whitespace indent indentation trailing", "hide hidden secret", "authenticate authentication auth"),
    *("context ctx", "parameter param", "command cmd", "library lib", "variable var", "function func fn"),
    *("implement implementation impl", "initialize initialise init", "identifier id", "number num count", "string str"),
    *("temporary temp tmp", "reference ref", "maximum max", "minimum min", "statistics stats", "regex regexp pattern"),
    *("performance perf", "application app", "production prod", "development dev", "synchronize sync"),
    *("assertion assert", "credential token secret key password", "timeout timed deadline expired", "exit quit exited"),
    *(
        "version release",
        "database db",
        "type types typing",
        "warn warning",
        "tests suite",
        "wait pause sleep",
        "limit cap",
        "rule policy",
    ),
)
_SAME = {
    word: [other for line in _SYNONYMS if word in line.split() for other in line.split() if other != word]
    for words in _SYNONYMS
    for word in words.split()
}
#: The words that stand for others.
TABLE_WORDS = frozenset(_ALSO) | frozenset(_SAME)
#: Forms of a verb that no ending gives. Each stands for the others.
_FORMS = (
    *("find found", "break broke broken", "run ran", "write wrote written", "lose lost", "forget forgot forgotten"),
    *("make made", "build built", "send sent", "keep kept", "throw threw thrown", "show shown", "choose chose chosen"),
    *("take took taken", "hide hid hidden", "freeze froze frozen", "hang hung", "stick stuck", "begin began begun"),
    *("give gave given", "leave left", "read reading", "catch caught", "hold held", "know knew known", "use used"),
)
_OTHER_FORMS = {word: [other for other in forms.split() if other != word] for forms in _FORMS for word in forms.split()}
#: "In the telemetry package" is about telemetry.
_KIND_OF_PLACE = re.compile(
    r"\b(?:in|of|from|under|inside|within|for|to|touch\w*|edit\w*|chang\w*)\s+(?:the\s+)?([\w./-]+)\s+"
    r"(?:packages?|modules?|files?|folders?|director(?:y|ies)|crates?|components?|classe?s?|functions?|methods?|commands?)\b",
    re.IGNORECASE,
)
#: "A commit is made" is about the commit.
_CAME_ABOUT = re.compile(r"(?<=\w )(?:(?:is|was|are|were|gets?|got|been|being) )(?:created|made|done)\b", re.IGNORECASE)
_CONTRACTED = frozenset("doesn don didn isn wasn aren weren won couldn wouldn shouldn hasn haven".split())  # noqa: SIM905
#: What a word found by its usual name or a synonym weighs.
_USUAL_NAME, _SYNONYM = 0.8, 0.7
#: Endings in the order in which they are tried; at least so many letters must remain.
_ENDINGS = (
    *(
        "ations",
        "ation",
        "ating",
        "ated",
        "ates",
        "ate",
        "ically",
        "ions",
        "ion",
        "ally",
        "ings",
        "ing",
        "ures",
        "ure",
        "ies",
        "ied",
        "ers",
        "er",
        "ed",
        "ly",
    ),
    *("es", "s", "y", "e"),
)
_SHORTEST_STEM = 3


#: Words of the tables that mean something else in another form: to *fix* is no success, *work* is anything.
_AS_WRITTEN = frozenset({"fixed", "works", "no", "red", "dead", "copy"})


@cache
def _by_stem() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The table and the synonyms by stems, so that *changed* is found as *change* is."""
    also = {stem(word): others for word, others in _ALSO.items() if word not in _AS_WRITTEN}
    return also, {stem(word): others for word, others in _SAME.items()}


class Others(NamedTuple):
    """What may stand for a word: the stems that logs have for it, and synonyms, which are less certain."""

    usual: tuple[str, ...]
    synonyms: tuple[str, ...] = ()


def words_asked(text: str) -> dict[str, Others]:
    """The stems of the words of a question, each with other stems that may stand for it."""
    plain = "edit source" if ANY_CHANGE.fullmatch(text) else plainly(text)
    for phrase, short in SHORT_NAMES:
        plain = phrase.sub(short, plain)
    plain = _CAME_ABOUT.sub("", plain)
    plain = _KIND_OF_PLACE.sub(lambda found: found[0][: found.end(1) - found.start()], plain)
    words = [word for word in query_words(plain) if word not in _QUESTION_WORDS and word not in _CONTRACTED]
    joined = dict(zip(words, [f"{one}{other}" for one, other in pairwise(words)], strict=False))
    joined_before = {other: f"{one}{other}" for one, other in pairwise(words)}
    also, same = _by_stem()
    found: dict[str, Others] = {}
    for word in words:
        others = [*_ALSO.get(word, also.get(stem(word), ())), *_OTHER_FORMS.get(word, ())]
        others += [
            name
            for pair in (joined.get(word), joined_before.get(word))
            if pair
            for name in (pair, *_ALSO.get(pair, ()))
        ]
        usual = tuple(dict.fromkeys(map(stem, others)))
        synonyms = dict.fromkeys(map(stem, same.get(stem(word), ())))
        found[stem(word)] = Others(usual, tuple(other for other in synonyms if other not in usual))
    return found


class Weight(NamedTuple):
    """What a word of the question weighs where a synonym of it is, its usual name, or the word itself."""

    absent: float
    synonym: float
    usual: float
    own: float


def levels_in(words: dict[str, Others], texts: Sequence[str]) -> dict[str, bytes]:
    """How each text may have each word, as the place in `Weight`: a stem may also be found within another word."""
    return {word: bytes(_level(text, word, others) for text in texts) for word, others in words.items()}


def _level(text: str, word: str, others: Others) -> int:
    if word in text:
        return 3
    for other in others.usual:  # loops take half as long as `any`, and this runs for every text
        if other in text:
            return 2
    for other in others.synonyms:
        if other in text:
            return 1
    return 0


def weights_of(levels: dict[str, bytes]) -> dict[str, Weight]:
    """A word weighs more the fewer texts have it; a synonym is no rarer than both together."""
    found: dict[str, Weight] = {}
    for word, each in levels.items():
        having = each.count(3)
        own = idf(len(each), having)
        synonym = _SYNONYM * (own + idf(len(each), having + each.count(1))) / 2
        found[word] = Weight(0.0, synonym, _USUAL_NAME * own, own)
    return found


def stem(word: str) -> str:
    """A word without its ending; what is not ASCII stays as it is."""
    if not word.isascii():
        return word
    for ending in _ENDINGS:
        if (
            word.endswith(ending)
            and not (ending == "s" and word.endswith("ss"))
            and len(word) - len(ending) >= _SHORTEST_STEM
        ):
            left = word.removesuffix(ending)
            return left[:-1] if len(left) > _SHORTEST_STEM and left[-1] == left[-2] and left[-1] not in "ls" else left
    return word


#: A word of so many letters has too many neighbours by other letters, and a shorter one by their order.
_SWAPPED = 4
#: From so many letters on two changes are allowed.
_LONG = 8


def near_words(word: str, known: Collection[str]) -> tuple[str, ...]:
    """The known words nearest to one that is not known, in order; none for a short word or one with digits.

    Two words are near when one becomes the other by one change, or by two from eight letters on: a letter too many, too
    few or another one, or two neighbours in each other's place. Of four letters two may only have changed places. The
    first letter must agree: it is seldom mistyped. Words that differ in the last letter alone are forms, or of two
    languages.

    >>> near_words("lokfile", {"lockfile", "profile", "lock"})
    ('lockfile',)
    >>> near_words("gorelaeser", {"goreleaser"}), near_words("fial", {"fail", "file"}), near_words("teat", {"test"})
    (('goreleaser',), ('fail',), ())
    >>> near_words("falla", {"falls"})
    ()
    """
    if len(word) == _SWAPPED:
        known = [other for other in known if sorted(other) == sorted(word)]
    if len(word) < _SWAPPED or not word.isalpha():
        return ()
    most = 2 if len(word) >= _LONG else 1
    found: dict[str, int] = {}
    for other in known:
        if other[:1] == word[:1] and abs(len(other) - len(word)) <= most and other[:-1] != word[:-1]:
            changes = _changes(word, other)
            if changes <= most:
                found[other] = changes
    least = min(found.values(), default=0)
    return tuple(sorted(other for other, changes in found.items() if changes == least))


def _changes(one: str, other: str) -> int:
    """How many changes make one word the other (optimal string alignment)."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        earlier, before, row = before, row, [place]
        for at, theirs in enumerate(other, 1):
            least = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (letter != theirs))
            if place > 1 and at > 1 and letter == other[at - 2] and one[place - 2] == theirs:
                least = min(least, earlier[at - 2] + 1)
            row.append(least)
    return row[-1]
