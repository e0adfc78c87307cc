"""What may be asked of the search: the seed's rules, with a sentence for each way to break them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import WrongType
from helix_graph.search.model import checked

#: As `seeds/reflexion-memory-api.md` writes it.
SEED = re.compile(r"^[a-zA-Z0-9\s\-.,_()&:]+$")


@pytest.mark.parametrize("query", ["a", "x" * 500, "pytest fails: (shop.cart) & more", "tab\tand\nline", "a-b_c.d,e"])
def test_the_seeds_queries_are_allowed(query: str) -> None:
    assert checked(query) == query


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "it is empty"),
        ("  \n", "it is empty"),
        ("x" * 501, "it has 501 characters, and 500 are allowed"),
        ("a; rm -rf /", "character 2 is ';'"),
        ("naïve", "character 3 is 'ï'"),
        ("say \x00", "character 5"),
    ],
)
def test_others_are_refused_with_the_seeds_words_and_the_place(query: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match="Cannot validate argument on parameter 'Query'") as refused:
        checked(query)
    assert said in str(refused.value)


@pytest.mark.parametrize("query", ["十进制", "über", "C++"])
def test_a_refusal_says_truly_what_is_taken_and_what_takes_the_rest(query: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        checked(query)
    said = str(refused.value)
    assert "letters, digits" not in said, "these are letters as well"
    assert "A to Z" in said
    assert "`insight recall`" in said


def test_a_query_that_is_no_text_is_named() -> None:
    with pytest.raises(WrongType, match="query must be a text"):
        checked(None)  # type: ignore[arg-type]  # what a program may hand in


@given(st.text(max_size=30))
def test_what_the_seeds_pattern_takes_is_taken_unless_blank(query: str) -> None:
    taken = bool(query.strip()) and SEED.fullmatch(query) is not None
    try:
        assert checked(query) == query
        assert taken
    except InvalidArgument:
        assert not taken
