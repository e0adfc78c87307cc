"""Inputs that are nearly right: a seeded mutator, and rounds that end when their time is over.

``FUZZ_SECONDS`` is how long each fuzzer goes on, ``FUZZ_SEED`` where it begins. What fails is shown with its seed and
its input; `FUZZ_SEED=N FUZZ_SECONDS=0` makes that one round again, and the input can be kept as a test.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Eight fuzzers in under a minute of CI.
_SECONDS = 3.0
#: A single input takes milliseconds; after this long it hangs.
PATIENCE = 30
_ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1 << 63, 1 << 64, 10**400, 1e308, 0.5, "", " ", "\0", "\x1b[31m", "../../x", "/etc/passwd"),
    *("x" * 5000, "9" * 5000 + " passed", "99999999999999999999 failed", "9999-12-31T23:59:59+00:00", "not a time"),
    *("\u202e", "é" * 300, "episode-x", [], {}, [[]], {"": None}, ["a", 1, None], {"id": "episode-../x"}),
)
_PIECES = (
    *(
        b"\0",
        b"\xff\xfe",
        b"\xc3",
        b"\r\n",
        b"\n\n",
        b"{",
        b"}",
        b'"',
        b"[" * 2000,
        b"\\ud83d",
        b"\\u0000",
        b"\xef\xbb\xbf",
    ),
    *(b"1e999", b"-0", b"NaN", b"18446744073709551616", b"null", b"\xf0\x9f\x98\x80", b"%s%n", b"' OR 1=1 --"),
)


def rounds() -> Iterator[random.Random]:
    """A source of chance for each round, until the time is over; at least one."""
    seed, until = (
        int(os.environ.get("FUZZ_SEED", "0")),
        time.monotonic() + float(os.environ.get("FUZZ_SECONDS", _SECONDS)),
    )
    done = 0
    while not done or time.monotonic() < until:
        yield Chance(seed + done)
        done += 1
    print(f"{done} rounds")  # noqa: T201  (shown with `pytest -s`: how much was tried)


class Chance(random.Random):
    """Remembers its seed."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.first = seed


@contextmanager
def named(chance: random.Random, tried: object) -> Iterator[None]:
    """Within, what fails or takes too long names the seed and the input."""

    def hangs(*_: object) -> None:
        message = f"nothing came of it in {PATIENCE} seconds"
        raise TimeoutError(message)

    before = signal.signal(signal.SIGALRM, hangs)
    signal.alarm(PATIENCE)
    try:
        yield
    except Exception as error:
        error.add_note(f"FUZZ_SEED={getattr(chance, 'first', '?')}, on this input:\n{tried!r}")
        raise
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The data with one to four changes: to its JSON where it is some, to its lines, or to its bytes."""
    for _ in range(chance.randint(1, 4)):
        data = chance.choice((_in_json, _in_json, _in_json, _in_lines, _in_bytes))(data, chance)
    return data


def _in_bytes(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    kind = chance.randrange(4)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + chance.choice(_PIECES) + data[at:]
    if kind == 2:
        return data[:at] + data[at + chance.randint(1, 40) :]
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _in_lines(data: bytes, chance: random.Random) -> bytes:
    lines = data.split(b"\n")
    one, other = (chance.randrange(len(lines)) for _ in range(2))
    kind = chance.randrange(3)
    if kind == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 1:
        lines.insert(one, lines[other])
    else:
        del lines[one]
    return b"\n".join(lines)


def _in_json(data: bytes, chance: random.Random) -> bytes:
    """A value of the document, or of one of its lines, replaced, dropped, doubled or named otherwise."""
    lines = [data] if data.lstrip()[:2] in {b"{\n", b"{\r"} else data.split(b"\n")
    at = chance.randrange(len(lines))
    try:
        value = json.loads(lines[at])
    except (ValueError, RecursionError):
        return _in_bytes(data, chance)
    lines[at] = json.dumps(odd(value, chance)).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def odd(value: Any, chance: random.Random) -> Any:  # noqa: ANN401  (JSON)
    """The value with one change somewhere in it."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.1:
        return chance.choice(_ODD)
    place = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    kind = chance.random()
    if kind < 0.1:
        del changed[place]
    elif kind < 0.15 and isinstance(changed, dict):
        changed[chance.choice(["", "x", "id", "type", "+"])] = changed.pop(place)
    else:
        changed[place] = odd(changed[place], chance)
    return changed
