"""What may be asked of the search: the seed's rules, with a sentence for each way to break them."""

from __future__ import annotations

import re
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_episodes.errors import InvalidArgument
from helix_graph.errors import WrongType
from helix_graph.search.model import checked

#: As `seeds/reflexion-memory-api.md` writes it.
SEED = re.compile(r"^[a-zA-Z0-9\s\-.,_()&:]+$")


@pytest.mark.parametrize(
    "query",
    [
        "a",
        "x" * 500,
        "pytest fails: (shop.cart) & more",
        "tab\tand\nline",
        "a-b_c.d,e",
        "naïve",
        "连接池",
        "결제 재시도",
        "接続プール",
        "हिन्दी",
    ],
)
def test_the_seeds_queries_and_letters_of_any_script_are_allowed(query: str) -> None:
    assert checked(query) == query


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "it is empty"),
        ("  \n", "it is empty"),
        ("x" * 501, "it has 501 characters, and 500 are allowed"),
        ("a; rm -rf /", "character 2 is ';'"),
        ("na\u202eive", "character 3"),
        ("say \x00", "character 5"),
    ],
)
def test_others_are_refused_with_the_seeds_words_and_the_place(query: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match="Cannot validate argument on parameter 'Query'") as refused:
        checked(query)
    assert said in str(refused.value)


@pytest.mark.parametrize("query", ["C++", "don't", "shop/cart.py", "価格→小数"])
def test_a_refusal_says_truly_what_is_taken_and_what_takes_the_rest(query: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        checked(query)
    said = str(refused.value)
    assert "it takes letters, digits, blanks and - . , _ ( ) & : only" in said
    assert "`insight recall`" in said


def test_a_query_that_is_no_text_is_named() -> None:
    with pytest.raises(WrongType, match="query must be a text"):
        checked(None)  # type: ignore[arg-type]  # what a program may hand in


@given(st.text(max_size=30))
def test_of_ascii_what_the_seeds_pattern_takes_is_taken_unless_blank(query: str) -> None:
    ascii_only = "".join("a" if category(one)[0] in "LMN" and not one.isascii() else one for one in query)
    taken = bool(query.strip()) and SEED.fullmatch(ascii_only) is not None
    try:
        assert checked(query) == query
        assert taken
    except InvalidArgument:
        assert not taken
