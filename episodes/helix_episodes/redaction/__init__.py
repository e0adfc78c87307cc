"""Redaction: cuts secrets and home folders from a text before it is written anywhere.

Secrets are recognised by their format (a service's prefix, the three parts of a signed token, a key block), by where
they are in a connection (an address, a header, a command), or by a random-looking value behind a name such as
``api_key =`` (:mod:`~helix_episodes.redaction.secret_formats`). The name alone proves nothing: "forgot password" is a
sentence, ``token = next(tokens)`` is code, and git hashes, UUIDs, paths and pictures are evidence that must stay.

A home folder loses its owner's name; the rest of the path is evidence. E-mail addresses are no secrets and often
evidence, so they are cut only on request (``cut: emails`` in ``.helixignore``), before anything is read out of a
session. A report names kinds and places, never values.

>>> redact_text("export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345")
'export GITHUB_TOKEN=[redacted:github-token]'
>>> redact_text("see /home/kim/shop/cart.py, the password is wrong")
'see ~/shop/cart.py, the password is wrong'
>>> without_addresses("write to kim@example.com, clone git@github.com:acme/shop.git")
'write to [redacted:email], clone git@github.com:acme/shop.git'

Every pattern is bounded, so the time grows linearly with the text; texts without any of the literal beginnings are
passed on after a few searches for plain strings. Redacting twice changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

import msgspec

from helix_episodes.redaction.credentials import CREDENTIAL_RULES
from helix_episodes.redaction.named_secrets import are_at_edges, named_secrets, places_of_names
from helix_episodes.redaction.rule_matching import (
    Cut,
    Sieve,
    SiftedText,
    Vocabulary,
    compiled_pattern,
    cuts_around,
    lines_around,
    make_cut,
    mentions,
)
from helix_episodes.redaction.secret_formats import BLOCK_WORDS, FORMAT_RULES, KEY_RULES, framed_keys, has_key_block
from helix_episodes.redaction.secret_names import NAME_PARTS, NAME_WORDS
from helix_episodes.redaction.tables import HEADING_WORDS, headed_secrets, may_be_headed
from helix_episodes.redaction.unnamed_secrets import SUBJECT_PARTS, SUBJECT_WORDS, unnamed_secrets
from helix_episodes.redaction.visible_text import without_escapes, without_frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from helix_episodes.redaction.visible_text import VisibleText
    from helix_episodes.session import Piece, Session, Step


#: What is in an address's place.
ADDRESS = "[redacted:email]"
# Local part and host as people have them (RFC 5321 allows 64 and 255), ending in a name of letters; behind a colon
# without a blank the whole is the remote of a repository. The look behind keeps the search from trying every letter.
_EMAIL_IN_TEXT = (
    r"(?<![\w.%+/:-])(?!git@)[\w%+-][\w.%+-]{0,63}@(?!\d+\.\d)(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}"
    r"(?![\w-]|\.\w|:[\w/~])"
)
_EMAIL_IN_LINK = r"(?<=mailto:)[\w%+-][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}"


def without_addresses(text: str) -> str:
    """The text with every e-mail address replaced by its mark."""
    if "@" not in text:
        return text
    return compiled_pattern(_EMAIL_IN_LINK).sub(ADDRESS, compiled_pattern(_EMAIL_IN_TEXT).sub(ADDRESS, text))


HOME = "home"

# What precedes it is checked behind the first stroke, so that the search can leap from one to the next.
_HOMES = (
    (
        ("/Users/", "/home/"),
        r"/(?<![\w.~-]/)(?:var/(?=home/))?(?:Users|home)/(?!Shared\b)[^/\s:;,\"'`<>|()\[\]{}\\*$]{1,64}",
    ),
    (("/root",), r"/root(?<![\w.~/-]/root)(?=/|$|[\s:\"'])"),
    (
        ("sers\\", "sers/", "ettings\\", "ettings/"),
        (
            r"(?i)(?<![\w])(?:\\{2,4}\?\\{1,2})?[a-z]:(?:\\{1,2}|/)(?:Users|Documents and Settings)(?:\\{1,2}|/)"
            r"(?!Public\b)[^\\/\s:\"'<>|]{1,64}"
        ),
    ),
    # The same folder as Git Bash and the Linux within Windows call it.
    (("/Users/", "/users/"), r"(?i)/(?<![\w.~-]/)(?:mnt/)?[a-z]/Users/(?!Public\b)[^/\s:;,\"'`<>|()\[\]{}\\*$]{1,64}"),
    # The folder names that Claude Code makes of paths.
    (("/-Users-", "/-home-"), r"(?<=/-)(?:Users|home)-[A-Za-z0-9]{1,64}"),
    (("--Users-",), r"(?<=[A-Za-z]--)Users-[A-Za-z0-9]{1,64}"),
    (("-Users-", "-home-"), r"(?<=-)(?:(?<![\w-]-)|(?<=-mnt-[a-z]-)|(?<=-var-))(?:Users|home)-[A-Za-z0-9]{1,64}(?=-)"),
)


#: Each of the rows' needles holds one of these.
_HOME_SIGNS = ("sers", "home", "ettings", "/root")


def home_folders(text: str) -> Sequence[Cut]:
    """Every home folder that a text names."""
    if not mentions(text, _HOME_SIGNS):
        return ()
    patterns = (pattern for needles, pattern in _HOMES if mentions(text, needles))
    return [make_cut(HOME, *found.span()) for pattern in patterns for found in compiled_pattern(pattern).finditer(text)]


# Of two that begin at one place the more telling comes first: a shape says more than a place, a place than a name.
_RULES = (*FORMAT_RULES, *KEY_RULES, *CREDENTIAL_RULES)
_SIEVE = Sieve(_RULES)
_VOCABULARY = Vocabulary(
    _SIEVE.words | NAME_WORDS | SUBJECT_WORDS | HEADING_WORDS | BLOCK_WORDS,
    _SIEVE.parts | NAME_PARTS | SUBJECT_PARTS,
)


class _FreeOfSecrets:
    """Texts in which nothing was found: each is cut when its session is read, when it is quoted, and in the episode.

    So many characters take 4 to 16 MB; when they are there, all are forgotten.
    """

    _MOST_CHARACTERS = 4_000_000

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forgets all of them."""
        self._texts: set[str] = set()
        self._room = self._MOST_CHARACTERS

    def __contains__(self, text: str) -> bool:
        return text in self._texts

    def add(self, text: str) -> None:
        """Remembers a text."""
        if self._room < len(text):
            self.clear()
        self._texts.add(text)
        self._room -= len(text)


_FREE_OF_SECRETS = _FreeOfSecrets()


class Redacted(msgspec.Struct, frozen=True, kw_only=True):
    """A text that may be written, and what was cut from it, in order."""

    text: str
    cuts: tuple[Cut, ...] = ()


def redact(text: str) -> Redacted:
    """The text with each secret replaced by ``[redacted:<kind>]`` and each home folder by ``~``.

    >>> redact("AKIAQ3EGRV7ZT5NPLMWB").cuts
    (Cut(kind='aws-key', start=0, length=20),)
    """
    return _cut(text, _secrets_and_homes_in)


def _secrets_and_homes_in(text: str) -> Sequence[Cut]:
    secrets, homes = _secrets_in(text), home_folders(text)
    return [*secrets, *homes] if homes else secrets


def without_secrets(text: str) -> str:
    """The text without its secrets, home folders left in: those are needed as they are to tell where a file lies."""
    return text if text in _FREE_OF_SECRETS else _cut(text, _secrets_in).text


def _cut(text: str, find: Callable[[str], Sequence[Cut]]) -> Redacted:
    found = find(text)
    found = _without_overlaps(_outside_marks(found, text)) if found else []
    if not found:
        return Redacted(text=text)
    cuts: list[Cut] = []
    # Cutting one thing can lay the beginning of another bare; each round leaves less of the original, so this ends.
    while found:
        cuts += found
        pieces = list(_pieces(text, found))
        text = "".join(pieces)
        marks = accumulate(map(len, pieces))
        spans = lines_around([end - 1 for end in islice(marks, 1, None, 2)], text)
        found = _without_overlaps(
            make_cut(cut.kind, start + cut.start, start + cut.start + cut.length)
            for start, end in spans
            for cut in _outside_marks(find(text[start:end]), text[start:end])
        )
    return Redacted(text=text, cuts=tuple(cuts))


def _outside_marks(cuts: Sequence[Cut], text: str) -> Iterator[Cut]:
    """The cuts that take neither a part of the mark of an earlier one nor no more than that mark."""
    marks = [found.span() for found in _CUT_MARK.finditer(text)] if cuts and "[redacted:" in text else []
    for cut in cuts:
        start, end = cut.start, cut.start + cut.length
        if not any(
            first < start < last or first < end < last or (first, last) == (start, end) for first, last in marks
        ):
            yield cut


def redact_text(text: str) -> str:
    """The text alone, as :func:`redact` leaves it."""
    return redact(text).text


def redact_beginning(text: str, length: int, *, is_part: bool = False) -> str:
    """As `redact_text`, of the beginning of a text; of one that is known to have no secret only home folders go.

    What was looked at as a whole has none in a part of it (``is_part``) either.
    """
    beginning = text[:length].strip()
    if not is_part and text not in _FREE_OF_SECRETS:
        return redact_text(beginning)
    return _cut(beginning, home_folders).text if mentions(beginning, _HOME_SIGNS) else beginning


def remember_free(text: str) -> str:
    """The text, which was made by cutting a longer one that has no secret, and is not looked at again."""
    _FREE_OF_SECRETS.add(text)
    return text


def for_disk(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """The value as it may be written: no text in it, and no key, holds a secret, a home folder or half a character.

    Every store calls it before anything that a person, an agent or a log said reaches the disk.

    >>> for_disk({"note": ["see /home/kim/shop"], "count": 3})
    {'note': ['see ~/shop'], 'count': 3}
    """
    if isinstance(value, str):
        return redact_text(value if value.isascii() else value.encode("utf-8", "replace").decode())
    if isinstance(value, dict):
        return {for_disk(str(key)): for_disk(each) for key, each in value.items()}
    return [for_disk(each) for each in value] if isinstance(value, list | tuple) else value


#: What logs number and date their records with: half of their texts are nothing else.
_ID_OR_TIME = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.+Z-]{0,24}|(?:toolu|msg|req)_[A-Za-z0-9]{24}"
)
_LONGEST_ID = 40


def _secrets_in(text: str) -> Sequence[Cut]:
    if text in _FREE_OF_SECRETS or (len(text) <= _LONGEST_ID and _ID_OR_TIME.fullmatch(text)):
        return ()
    found = tuple(_secrets(text))
    if not found:
        _FREE_OF_SECRETS.add(text)
    return found


def _secrets(text: str) -> Iterable[Cut]:
    forms = list(without_escapes(text))
    sifted = asked = SiftedText(forms[-1].text if forms else text, _VOCABULARY)
    names = places_of_names(sifted)
    is_headed, is_framed = may_be_headed(sifted), has_key_block(sifted)
    # What is on several lines must be read without what a listing puts between them.
    if is_headed or is_framed or "\\\n" in sifted.text or (names and are_at_edges(sifted, names)):
        frames = list(without_frames(sifted.text))
        if frames:
            forms += frames
            sifted = SiftedText(frames[-1].text, _VOCABULARY)
            names = places_of_names(sifted)
            is_headed, is_framed = may_be_headed(sifted), has_key_block(sifted)
    cuts: list[Cut] = []
    for number, needles in _SIEVE.passed_by(asked, sifted):
        cuts += cuts_around(_RULES[number], needles, sifted)
    if is_headed:
        cuts += headed_secrets(sifted)
    if names:
        cuts += named_secrets(sifted, names)
    if is_framed:
        cuts += framed_keys(sifted)
    cuts += unnamed_secrets(sifted, _secrets_in)
    return _in_source(cuts, forms) if forms and cuts else cuts


def _in_source(cuts: Iterable[Cut], forms: list[VisibleText]) -> Iterator[Cut]:
    """The cuts where they are in the text of which these forms were made, one of the other."""
    for cut in cuts:
        start, end = cut.start, cut.start + cut.length
        for form in reversed(forms):
            start, end = form.span(start, end)
        yield make_cut(cut.kind, start, end)


def _without_overlaps(cuts: Iterable[Cut]) -> list[Cut]:
    """In order of place; of two that overlap the one that begins first, then the one of the more telling rule.

    What only has a name ends where the other ends: its own end is less sure than that of a format.
    """
    selected: list[Cut] = []
    end = 0
    # sorted() is stable, so that at one place the rule named first stays first.
    for cut in sorted(cuts, key=lambda cut: cut.start):
        last = cut.start + cut.length
        if cut.start >= end:
            selected.append(cut)
            end = last
        elif last > end and cut.start > selected[-1].start and selected[-1].kind == "secret" and cut.kind != HOME:
            selected[-1] = make_cut(selected[-1].kind, selected[-1].start, last)
            end = last
    return selected


def _pieces(text: str, cuts: list[Cut]) -> Iterator[str]:
    position = 0
    for cut in cuts:
        yield text[position : cut.start]
        yield "~" if cut.kind == HOME else f"[redacted:{cut.kind}]"
        position = cut.start + cut.length
    yield text[position:]


def without_emails(session: Session) -> Session:
    """The session with the e-mail addresses cut from all it says."""
    return _session(session, without_addresses)


def redacted_session(session: Session) -> Session:
    """The session with the secrets cut from all it says, each text as a whole; home folders stay until the end."""
    return _session(session, without_secrets)


def _session(session: Session, change: Callable[[str], str]) -> Session:
    if declared := session.declared_outcome:
        words = msgspec.structs.replace(declared.words, text=change(declared.words.text))
        declared = msgspec.structs.replace(declared, words=words)
    return msgspec.structs.replace(
        session,
        steps=tuple(_step(step, change) for step in session.steps),
        root=session.root and change(session.root),
        task=session.task and change(session.task),
        declared_outcome=declared,
    )


def _step(step: Step, change: Callable[[str], str]) -> Step:
    text, arguments, pieces = change(step.text), _changed(step.arguments, change), step.pieces
    if text == step.text and arguments is step.arguments:
        return step
    changed = tuple(msgspec.structs.replace(piece, text=change(piece.text)) for piece in pieces)
    if pieces and _joined(pieces) == step.text and _joined(changed) != text:
        # A secret that goes on in the next piece is seen in the whole alone.
        changed = (msgspec.structs.replace(pieces[-1], text=text),)
    return msgspec.structs.replace(step, text=text, arguments=arguments, pieces=changed)


def _joined(pieces: Iterable[Piece]) -> str:
    return "".join(piece.text for piece in pieces)


def _changed(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401  (a call's arguments are JSON)
    """The value with each of its texts changed; the same one where none is."""
    if isinstance(value, str):
        return change(value)
    changed: dict[str, Any] | list[Any]
    if isinstance(value, dict):
        changed = {change(key): _changed(each, change) for key, each in value.items()}
    elif isinstance(value, list | tuple):
        changed = [_changed(each, change) for each in value]
    else:
        return value
    return value if changed == value else changed


_CUT_MARK = re.compile(r"\[redacted:([a-z][a-z-]{0,40})\]|(?<![\w.~-])(~)(?=[/\\])")

# The ids of decisions and events; a quotation's id is the log's own and says nothing to a reader.
_PART = re.compile(r"[de]\d{3,9}")


class CutIn(msgspec.Struct, frozen=True, kw_only=True):
    """How often something of a kind was cut in one place: ``task``, ``d003 rationale``, ``e012 evidence``."""

    kind: str
    place: str
    count: int


def cuts_in(value: msgspec.Struct) -> tuple[CutIn, ...]:
    """The cuts in an episode (or any other value), in the order of its fields."""
    texts: list[tuple[str, str]] = []
    _find_marked(value, "", texts)
    counted = Counter((cut[1] or HOME, place) for place, text in texts for cut in _CUT_MARK.finditer(text))
    return tuple(CutIn(kind=kind, place=place, count=count) for (kind, place), count in counted.items())


def _find_marked(value: Any, place: str, found: list[tuple[str, str]]) -> None:  # noqa: ANN401  (whatever a field holds)
    """Adds the texts that may have a mark, each with its place: the nearest part that has an id, and the field."""
    if isinstance(value, str):
        if "~" in value or "[redacted:" in value:
            found.append((place, value))
    elif isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            _find_marked(each, place, found)
    elif isinstance(value, msgspec.Struct):
        part = getattr(value, "id", None)
        is_part = isinstance(part, str) and _PART.fullmatch(part)
        for name in value.__struct_fields__:
            if each := getattr(value, name):
                # ``d003 chosen`` for a field of a decision; deeper ones belong to the same field.
                _find_marked(each, (f"{part} {name}" if is_part else place) if place else name, found)
