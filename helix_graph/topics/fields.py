"""The fields of an entry, checked and normalised: its text, topic, tags and source.

Texts are stored as they are, whatever their characters; only secrets are removed, and half a surrogate pair, which no
file can hold, is refused. Names of topics and tags have one spelling each, so that what was stored as ``My Topic`` is
found as ``my-topic`` and ``Gotchas`` as ``gotcha``.

>>> topic_name("topic", "Build Gotchas"), topic_name("topic", "My Topic/Sub_X")
('build-gotchas', 'my-topic-sub-x')
>>> tag_names("tags", "Gotchas, p0, status,, APIs")
('api', 'gotcha', 'p0', 'status')

Tags are in the singular. The seed's rule drops a plural's ending; words that it would spoil are exceptions. Only the
last word counts, and the singular of a singular is itself, so that an export read back has the same tags.

>>> [singular(word) for word in ("gotchas", "classes", "entries", "data-flows", "patches")]
['gotcha', 'class', 'entry', 'data-flow', 'patch']
>>> [singular(word) for word in ("series", "apis", "status", "analysis", "redis", "https")]
['series', 'api', 'status', 'analysis', 'redis', 'https']
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

from helix_episodes.errors import InvalidArgument
from helix_episodes.normalization import shorten
from helix_graph.errors import NO_TEXT
from helix_graph.validation import as_str, as_tuple

#: Shorter words are names more often than plurals: dns, aws, ios.
_SHORTEST_PLURAL = 4
#: Of words in -ies: shorter ones are ties and dies, whose singular keeps the e.
_SHORTEST_IES = 5
#: Names that end in s, words that are their own plural, and plurals that the rule would spoil, with their singulars.
_EXCEPTIONS = """
    alias atlas bias canvas devops emacs gas gitops https ios js kubernetes lens macos mlops news nodejs nextjs pandas
    postgres rails sass series species windows
    aliases:alias analyses:analysis apis:api approaches:approach axes:axis biases:bias branches:branch buses:bus
    caches:cache canvases:canvas clis:cli cookies:cookie gases:gas guis:gui heroes:hero hypotheses:hypothesis
    indices:index leaves:leaf lenses:lens matrices:matrix quizzes:quiz regexes:regex searches:search statuses:status
    uris:uri vertices:vertex
"""
_SINGULARS = {word: one or word for word, _, one in (pair.partition(":") for pair in _EXCEPTIONS.split())}
#: Endings in which the e belongs to the plural.
_WITH_E = re.compile(r"(?:ss|sh|tch|nch|rch|x|zz)es$")
#: Endings in s that are no plural's.
_NO_PLURAL = ("ss", "us", "is", "js")
_LAST_WORD = re.compile(r"[^\W_]+$")


def singular(tag: str) -> str:
    """The tag with its last word in the singular, as far as the rule knows it; the tag is in lower case already."""
    word = _LAST_WORD.search(tag)
    return tag[: word.start()] + _singular_word(word[0]) if word else tag


def _singular_word(word: str) -> str:
    if word in _SINGULARS:
        return _SINGULARS[word]
    if len(word) < _SHORTEST_PLURAL or not word.endswith("s") or word.endswith(_NO_PLURAL):
        return word
    if word.endswith("ies") and len(word) >= _SHORTEST_IES:
        return word[:-3] + "y"
    return word[:-2] if _WITH_E.search(word) else word[:-1]


#: An entry is a note; a hundred thousand characters are a long document, and searching reads every word.
LONGEST_TEXT = 100_000
#: Names stand in lists and headings; the original's own limit was 255 bytes, and beyond it lost everything.
LONGEST_NAME = 128
LONGEST_TAG = 64
MOST_TAGS = 32
LONGEST_SOURCE = 1_000
#: The file format of the memory is UTF-8, which has no room for these.
_HALVES = re.compile("[\ud800-\udfff]")
#: What separates tags, and what stands around them in a list.
_NOT_IN_TAGS = dict.fromkeys(map(ord, ",[]"), " ")
_LINE_BREAKS = re.compile(r"\s+")


def sound(option: str, value: str, *, longest: int) -> str:
    """A text of whole characters, without secrets.

    Raises:
        InvalidArgument: It holds half a surrogate pair. It is longer than ``longest`` characters.
    """
    from helix_episodes.redaction import for_disk

    cut: str = for_disk(plain(option, value, longest=longest))
    return cut


def plain(option: str, value: str, *, longest: int = LONGEST_TEXT) -> str:
    """A text of whole characters, as it was given: what is only looked for is not kept, and needs no cutting.

    Raises:
        InvalidArgument: It holds half a surrogate pair. It is longer than ``longest`` characters.
    """
    as_str(option, value)
    half = _HALVES.search(value)
    if half:
        problem = f"contains half a character, U+{ord(half[0]):04X}, at place {half.start() + 1}; send the whole one"
        raise InvalidArgument(option, f"{problem} (an emoji is two halves), or leave it out")
    check_size(option, len(value), largest=longest, unit="characters")
    return value


def check_size(option: str, size: int, *, largest: int, unit: str) -> None:
    """Refuses what is too long, or too many, to be stored in one piece."""
    if size > largest:
        raise InvalidArgument(option, f"has {size} {unit}; at most {largest} are taken: split it")


def looked_for(option: str, value: str) -> str:
    """A text that an entry is to hold: every text holds nothing, so nothing would name whichever entry comes first.

    Raises:
        InvalidArgument: There is nothing in it. It holds half a surrogate pair. It is too long.
    """
    text = plain(option, value)
    if not text.strip():
        raise InvalidArgument(option, NO_TEXT)
    return text


def entry_text(option: str, value: str) -> str:
    """The text of an entry.

    Raises:
        InvalidArgument: There is nothing in it. It holds half a surrogate pair. It is too long.
    """
    text = sound(option, value, longest=LONGEST_TEXT)
    if not text.strip():
        raise InvalidArgument(option, NO_TEXT)
    return text


def topic_name(option: str, value: str) -> str:
    """The one spelling of a topic's name: in lower case, each character that is no letter or digit a hyphen.

    Raises:
        InvalidArgument: There is no letter or digit in it, or it is too long; it holds half a surrogate pair.
    """
    name = hyphened(sound(option, value, longest=LONGEST_TEXT))
    if not any(map(str.isalnum, name)):
        raise InvalidArgument(option, f"{value[:80]!r} names no topic: it needs a letter or a digit")
    if len(name) > LONGEST_NAME:
        problem = f"it has {len(name)} characters, and at most {LONGEST_NAME} fit"
        raise InvalidArgument(option, f"{value[:80]!r} names no topic: {problem}")
    return name


def hyphened(value: str, *, keep: str = "") -> str:
    """In lower case, with a hyphen for each character that is no letter, no digit, and none of ``keep``."""
    lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", value.strip()).lower())
    return "".join(character if character.isalnum() or character in keep else "-" for character in lowered)


def tag_names(option: str, value: str | Iterable[str]) -> tuple[str, ...]:
    """Tags of a comma-separated text or a list: each in its one spelling, in order of the alphabet, each once.

    Raises:
        InvalidArgument: One holds half a surrogate pair. There are too many, or one is too long.
    """
    values = (value,) if isinstance(value, str) else as_tuple(option, value)
    parts = (part for one in values for part in (one.split(",") if isinstance(one, str) else (one,)))
    names = sorted({name for part in parts if (name := tag_name(option, part))})
    check_size(option, len(names), largest=MOST_TAGS, unit="tags")
    return tuple(names)


def tag_name(option: str, value: str) -> str:
    """The one spelling of a tag: in lower case, its last word in the singular, on one line; maybe empty.

    Raises:
        InvalidArgument: It holds half a surrogate pair. It is too long.
    """
    clean = sound(option, value, longest=LONGEST_TEXT).translate(_NOT_IN_TAGS)
    name = singular(_LINE_BREAKS.sub(" ", unicodedata.normalize("NFC", clean).lower()).strip())
    check_size(option, len(name), largest=LONGEST_TAG, unit="characters")
    return name


def source_name(option: str, value: str | None) -> str | None:
    """Where an entry comes from, on one line; None where it is not said.

    Raises:
        InvalidArgument: It holds half a surrogate pair. It is too long.
    """
    if value is None:
        return None
    return _LINE_BREAKS.sub(" ", sound(option, value, longest=LONGEST_SOURCE)).strip() or None


def first_line(text: str, *, width: int | None = None) -> str:
    r"""The first line that has something in it, cut to so many characters.

    >>> first_line("  \n arm64 only for FFI bridge", width=10)
    'arm64 onl…'
    """
    return clipped(next(content_lines(text), ""), width=width)


def content_lines(text: str) -> Iterator[str]:
    """The lines that have something in them, without the blanks around it."""
    return (line.strip() for line in text.splitlines() if line.strip())


def clipped(line: str, *, width: int | None) -> str:
    """A line of at most so many characters; where it was cut an ellipsis says so."""
    return line if width is None else shorten(line, limit=width)
