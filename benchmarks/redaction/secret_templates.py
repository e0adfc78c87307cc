"""Texts with generated parts: every value is drawn from a seeded generator, so that git holds no credential.

A file of samples is a list of ``=== id`` lines, each followed by its text. ``<<name:size>>`` in a text is a secret
value of that shape, ``<<~name:size>>`` a random part that is none, and ``⟦…⟧`` marks what must remain of a harmless
text.
"""

from __future__ import annotations

import base64
import re
import string
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator
    from pathlib import Path

#: Letters that stand for themselves in shells, JSON, XML, URLs and regular expressions are left to each template.
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "dig": string.digits,
    "low": string.ascii_lowercase + string.digits,
    "up": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "b62": string.ascii_letters + string.digits,
    "b64": string.ascii_letters + string.digits + "+/",
    "b64u": string.ascii_letters + string.digits + "-_",
    "let": string.ascii_letters,
    "lowl": string.ascii_lowercase,
    "bech": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "BECH": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "crypt": string.ascii_letters + string.digits + "./",
}
#: Invisible characters that copied text carries: zero-width space and joiners, word joiner, byte order mark.
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"
#: Signs of generated passwords that neither HTML nor a string literal escapes.
_MANY_SIGNS = "$@():;,~|{}[]#?!=+*%^_-./"
_LEET = str.maketrans("aeiost", "431057")
_WORDS = """
    anchor apple arrow autumn badge barrel basket beacon blanket bottle bramble bridge bronze button cabin candle
    canyon castle cedar chapel cherry cinder clover cobalt comet copper coral cradle crystal daisy desert diamond
    dolphin dragon ember engine falcon feather fiddle forest fossil garden ginger glacier granite hammer harbor
    hazel hollow hunter island ivory jacket jasmine jungle kettle ladder lantern laurel lemon linen lizard magnet
    maple marble meadow melon mirror monkey mustard needle nickel oasis ocean olive onion orchid otter paddle
    panther pebble pepper pickle pigeon pilot planet pocket prairie puzzle quartz rabbit raven ribbon river rocket
    saddle saffron salmon shadow silver spider spruce staple summit sunset temple thunder timber tulip tunnel turtle
    valley velvet violet walnut willow winter zebra
""".split()  # noqa: SIM905  (a list of words as people read it)
#: The characters that people put between the parts of a password.
_SIGNS = "!_-+*%^"
_PLACE = re.compile(r"<<(~?)([A-Za-z0-9]+?)(?::(\d+))?>>")
_KEPT = re.compile(r"⟦(.*?)⟧", re.DOTALL)
#: What stands between two generated parts of one value: a sign or two, or an encoded one.
_WITHIN = re.compile(r"[^\s\"',]{1,3}")


@dataclass(frozen=True)
class Sample:
    """A text as it could stand in a log, with the places of its secrets."""

    text: str
    spans: tuple[tuple[int, int], ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The secret values, line by line: a key of several lines may be cut in one of them only."""
        return tuple(line.strip() for start, end in self.spans for line in self.text[start:end].split("\n"))


@dataclass(frozen=True)
class Template:
    """One kind of secret, or one harmless look-alike."""

    id: str
    group: str
    text: str

    def sample(self, draw: random.Random) -> Sample:
        parts: list[str] = []
        spans: list[tuple[int, int]] = []
        at = length = 0
        for place in _PLACE.finditer(self.text):
            literal = self.text[at : place.start()]
            value = _generated(draw, place[2], int(place[3] or 0))
            length += len(literal)
            if not place[1]:
                joined = spans and spans[-1][1] == length - len(literal) and _WITHIN.fullmatch(literal)
                spans.append((spans.pop()[0] if joined else length, length + len(value)))
            length += len(value)
            parts += [literal, value]
            at = place.end()
        parts.append(self.text[at:])
        return Sample("".join(parts), tuple(spans))

    def harmless(self, draw: random.Random) -> tuple[str, tuple[str, ...]]:
        """The text without its marks, and the parts of it that must remain."""
        text = self.sample(draw).text
        return text.replace("⟦", "").replace("⟧", ""), tuple(_KEPT.findall(text))


def read_templates(path: Path) -> Iterator[Template]:
    for block in re.split(r"^=== ", path.read_text(), flags=re.MULTILINE)[1:]:
        name, _, text = block.partition("\n")
        yield Template(name.strip(), path.stem.replace("-", " "), text.rstrip("\n"))


def _generated(draw: random.Random, name: str, size: int) -> str:
    if name in _ALPHABETS:
        return _letters(draw, name, size)
    return _SHAPES[name](draw, size)


def _letters(draw: random.Random, alphabet: str, size: int) -> str:
    return "".join(draw.choices(_ALPHABETS[alphabet], k=size))


def _words(draw: random.Random, size: int, between: str = " ") -> str:
    return between.join(draw.sample(_WORDS, size))


def _password(draw: random.Random, _: int) -> str:
    first, second = draw.sample(_WORDS, 2)
    number = _letters(draw, "dig", 3)
    sign, other = draw.choices(_SIGNS, k=2)
    return draw.choice(
        (
            f"{first.title()}{sign}{number}{second}",
            f"{_letters(draw, 'b62', 7)}{sign}{_letters(draw, 'b62', 5)}",
            f"{_letters(draw, 'b62', 14)}",
            f"{first[:4]}{number}{sign}{second.title()}{other}",
        )
    )


def _odd_password(draw: random.Random, _: int) -> str:
    return (
        f"{_letters(draw, 'b62', 4)}#{_letters(draw, 'b62', 4)}?{_letters(draw, 'b62', 3)}/{_letters(draw, 'b62', 4)}"
    )


def _word_and_year(draw: random.Random, _: int) -> str:
    return f"{draw.choice(_WORDS).title()}{_letters(draw, 'dig', 4)}{draw.choice(_SIGNS)}"


def _leet_password(draw: random.Random, _: int) -> str:
    first, second = draw.sample(_WORDS, 2)
    return f"{first.translate(_LEET)}{draw.choice(_SIGNS)}{second.translate(_LEET)}{_letters(draw, 'dig', 2)}"


def _password_of_signs(draw: random.Random, _: int) -> str:
    return "".join(_letters(draw, "b62", 2) + draw.choice(_MANY_SIGNS) for _ in range(6))


def _percent_encoded_password(draw: random.Random, _: int) -> str:
    return f"{_letters(draw, 'b62', 5)}%40{_letters(draw, 'b62', 5)}%2F{_letters(draw, 'b62', 4)}"


def _octets(draw: random.Random, size: int) -> list[str]:
    return [f"{draw.randrange(256):02x}" for _ in range(size)]


def _key_lines(draw: random.Random, size: int, *, alphabet: str = "b64", width: int = 64, between: str = "\n") -> str:
    return between.join(_letters(draw, alphabet, width) for _ in range(size))


def _in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _pem_in_base64(draw: random.Random, size: int) -> str:
    body = _key_lines(draw, size)
    return _in_base64(f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n")


def _json_web_token(draw: random.Random, _: int) -> str:
    claims = f'{{"sub":"{_letters(draw, "dig", 9)}","role":"service","exp":{_letters(draw, "dig", 10)}}}'
    parts = ('{"alg":"HS256","typ":"JWT"}', claims)
    encoded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*encoded, _letters(draw, "b64u", 43)])


_SHAPES: dict[str, Callable[[random.Random, int], str]] = {
    "pw": _password,
    "pwhash": _odd_password,
    "uuid": lambda draw, _: str(uuid.UUID(int=draw.getrandbits(128), version=4)),
    "words": _words,
    "Words": lambda draw, size: _words(draw, size).title(),
    "wordsd": lambda draw, size: _words(draw, size, "-"),
    "wordsp": lambda draw, size: _words(draw, size, "."),
    "pem": _key_lines,
    "pemi": lambda draw, size: _key_lines(draw, size, between="\n    "),
    "pem1": lambda draw, size: _key_lines(draw, size, between="\\n"),
    "hexl": lambda draw, size: _key_lines(draw, size, alphabet="hex", width=32),
    "b64pem": _pem_in_base64,
    "b64pw": lambda draw, _: _in_base64(_password(draw, 0)),
    "basic": lambda draw, _: _in_base64("eva:" + _password(draw, 0)),
    "jwt": _json_web_token,
    "bytes": lambda draw, size: ", ".join(str(draw.randrange(256)) for _ in range(size)),
    "cbytes": lambda draw, size: ",".join(_octets(draw, size)),
    "xbytes": lambda draw, size: ", ".join(f"0x{octet}" for octet in _octets(draw, size)),
    "chex": lambda draw, size: ":".join(_octets(draw, size)),
    "year": _word_and_year,
    "leet": _leet_password,
    "pwsign": _password_of_signs,
    "pwuri": _percent_encoded_password,
    "hexpw": lambda draw, _: _password(draw, 0).encode().hex(),
    "b64url": lambda draw, _: _in_base64(f"postgres://app:{_password(draw, 0)}@db:5432/shop"),
    "b64env": lambda draw, _: _in_base64(f"DB_PASSWORD={_password(draw, 0)}\nDEBUG=0\n"),
    "b64plain": lambda draw, _: _in_base64(f"\0eva\0{_password(draw, 0)}"),
    "b64docker": lambda draw, _: _in_base64(
        f'{{"auths":{{"registry.acme.io":{{"auth":"{_in_base64("eva:" + _password(draw, 0))}"}}}}}}'
    ),
    "zwc": lambda draw, _: draw.choice(_INVISIBLE),
    "shy": lambda _draw, _: "\u00ad",
    "nbsp": lambda _draw, _: "\u00a0",
    "wsp": lambda _draw, _: "\u3000",
    "esc": lambda _draw, size: f"\x1b[{size}m",
}
