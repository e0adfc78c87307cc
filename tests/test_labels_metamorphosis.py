"""Does a label stay the same when only a place or a number changes, and change when the meaning does?

Each test takes a sentence, puts a part into it at any place, and puts another part of its kind into the same place.
The same sentences are tried as a decision in words, as a stated choice, and as the message and the family of an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helix_episodes.model import Action, Decision, Event
from helix_graph.graph.node_labels import decision_key, event_key
from thoroughness import few

if TYPE_CHECKING:
    from collections.abc import Callable

#: Verbs and things of the vocabulary, and words that are neither; none that makes a code of the number behind it.
WORDS = (
    *("add", "use", "run", "keep", "remove", "replace", "check", "cache", "test", "config", "hooks", "database"),
    *("parser", "retry", "request", "order", "tax", "rounding", "upstream", "response", "memory", "total", "found"),
    *("the", "a", "of", "in", "for", "when", "after", "before", "slow", "new", "wrong", "missing", "expected"),
)
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=18)


def as_words(text: str) -> str | None:
    return decision_key(Decision(id="d", timestamp=None, type="design", chosen=text))


def as_choice(text: str) -> str | None:
    action = Action(verb="choose", object=text)
    return decision_key(Decision(id="d", timestamp=None, type="design", chosen=text, action=action))


def as_message(text: str) -> str | None:
    return event_key(Event(id="e", timestamp=None, type="error", content="", check="tool", message=text))


def as_family(text: str) -> str | None:
    return event_key(Event(id="e", timestamp=None, type="error", content="", check="tool", family=text))


labels = st.sampled_from([as_words, as_choice, as_message, as_family])

letters = st.text("abcdefgh", min_size=1, max_size=8)
hexadecimal = st.text("0123456789abcdef", min_size=7, max_size=40).filter(
    lambda text: not text.isdigit() and not text.isalpha()  # of digits alone it is a number, of letters alone a word
)
PLACES = {
    "hash": hexadecimal,
    "hash in capitals": hexadecimal.map(str.upper).filter(lambda text: len(text) > 12),  # ABC123 is a code
    "address": st.integers(0, 2**48).map(hex),
    "id": st.uuids().map(str),
    "path": st.lists(letters, min_size=2, max_size=5).map(lambda parts: "/" + "/".join(parts) + ".py"),
    "relative path": st.lists(letters, min_size=2, max_size=5).map(lambda parts: "/".join(parts) + ".go"),
    "place in a file": st.tuples(letters, st.integers(1, 9999)).map(lambda pair: f"{pair[0]}.ts:{pair[1]}"),
    "whole number": st.integers(-(10**9), 10**9).map(str),
    "decimal number": st.floats(0.001, 10**6).map(lambda number: f"{number:.3f}"),
    "exponent": st.floats(0.001, 10**6).map(lambda number: f"{number:.2e}"),
    "grouped number": st.integers(1000, 10**9).map(lambda number: f"{number:,}"),
    "version": st.tuples(*[st.integers(0, 99)] * 3).map(lambda parts: "v{}.{}.{}".format(*parts)),
    "duration": st.integers(0, 999).map(lambda number: f"{number}ms"),
    "time": st.datetimes().map(lambda at: f"{at:%H:%M:%S}"),
    "url": letters.map(lambda text: f"https://{text}.example/{text}"),
    "quotation": st.text("abc not E501 --x 12", min_size=1, max_size=30).map(lambda text: f'"{text}"'),
    "single quotation": letters.map(lambda text: f"'{text} not'"),
    "typographic quotation": letters.map(lambda text: f"“{text} not”"),
    "compiler's quotation": letters.map("\N{LEFT SINGLE QUOTATION MARK}{}\N{RIGHT SINGLE QUOTATION MARK}".format),
}
MEANINGS = {
    "long flag": st.sampled_from(["--force", "--no-verify", "--verify", "--dry-run", "--write"]),
    "short flag": st.sampled_from(["-f", "-n", "-v", "-V", "-x", "-X"]),
    "rule's code": st.sampled_from(["E501", "E999", "F401", "SC2086", "TS2345", "TS2339", "C0116"]),
    "vulnerability": st.sampled_from(["CVE-2024-1234", "CVE-2024-1235", "CVE-2023-1234"]),
    "status": st.sampled_from(["HTTP 404", "HTTP 500", "status 404", "status code: 500", "Status code: 404"]),
    "exit code": st.sampled_from(["exit code 1", "exit code 2", "exited with code 1", "Exit code 137", "signal 9"]),
    "system's error": st.sampled_from(["[Errno 2]", "[Errno 13]", "errno: 98"]),
}
#: Put into a sentence, these make it say the opposite.
NEGATIONS = [
    "not",
    "never",
    "don't",
    "don\N{RIGHT SINGLE QUOTATION MARK}t",
    "without",
    "cannot",
    "isn't",
    "wasn\N{RIGHT SINGLE QUOTATION MARK}t",
]


def put(sentence: list[str], place: int, part: str) -> str:
    place %= len(sentence) + 1
    return " ".join((*sentence[:place], part, *sentence[place:]))


@pytest.mark.parametrize("kind", few([*PLACES], 8))
@given(data=st.data(), sentence=sentences, place=st.integers(0, 18), label=labels)
def test_another_place_or_number_is_the_same_label(
    kind: str, data: st.DataObject, sentence: list[str], place: int, label: Callable[[str], str]
) -> None:
    one, other = (put(sentence, place, data.draw(PLACES[kind])) for _ in range(2))
    assert label(one) == label(other)


@pytest.mark.parametrize("kind", MEANINGS)
@given(data=st.data(), sentence=sentences, place=st.integers(0, 18), label=labels)
def test_another_flag_code_or_rule_is_another_label(
    kind: str, data: st.DataObject, sentence: list[str], place: int, label: Callable[[str], str]
) -> None:
    one, other = data.draw(MEANINGS[kind]), data.draw(MEANINGS[kind])
    assume(one.casefold() != other.casefold() or one.startswith("-"))
    assume(one != other)
    assert label(put(sentence, place, one)) != label(put(sentence, place, other))


@given(sentence=sentences, place=st.integers(0, 18), negation=st.sampled_from(NEGATIONS), label=labels)
def test_the_opposite_is_another_label(
    sentence: list[str], place: int, negation: str, label: Callable[[str], str]
) -> None:
    assert label(put(sentence, place, negation)) != label(" ".join(sentence))


@given(sentence=sentences, place=st.integers(0, 18), part=st.one_of(*MEANINGS.values()), label=labels)
def test_a_flag_or_code_that_is_left_out_is_another_label(
    sentence: list[str], place: int, part: str, label: Callable[[str], str]
) -> None:
    assert label(put(sentence, place, part)) != label(" ".join(sentence))


@pytest.mark.parametrize(
    "typed",
    [
        "don't",
        "don\N{RIGHT SINGLE QUOTATION MARK}t",
        "won\N{RIGHT SINGLE QUOTATION MARK}t",
        "couldn\N{RIGHT SINGLE QUOTATION MARK}t",
    ],
)
def test_an_apostrophe_is_one_however_it_is_typed(typed: str) -> None:
    assert as_words(f"we {typed} use the cache") == "not use cache"


flags = st.sets(st.sampled_from(["--force", "--no-verify", "-D", "-d", "--hard"]), max_size=3).map(sorted).map(tuple)


@given(flags, flags)
def test_a_command_is_told_by_its_flags_and_not_by_their_order(one: tuple[str, ...], other: tuple[str, ...]) -> None:
    def run(given: tuple[str, ...]) -> str:
        action = Action(verb="run", program="git", subcommand="push", flags=given, command="git push origin main")
        return decision_key(Decision(id="d", timestamp=None, type="implementation", chosen="", action=action))

    assert (run(one) == run(other)) == (set(one) == set(other))
    assert run(one) == run(tuple(reversed(one)))


@given(letters, letters)
def test_an_edit_is_told_by_the_kind_of_file_and_not_by_its_path(one: str, other: str) -> None:
    def edit(path: str, *, suppresses: bool = False) -> str:
        action = Action(verb="edit", role="source", path=path, suppresses=suppresses)
        return decision_key(Decision(id="d", timestamp=None, type="implementation", chosen="", action=action))

    assert edit(f"{one}/{other}.py") == edit(f"{other}.py") != edit(f"{one}.go")
    assert edit(f"{one}.py", suppresses=True) != edit(f"{one}.py")
