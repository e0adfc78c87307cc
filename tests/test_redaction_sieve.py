"""Is a secret ever passed over because nobody looked for it, wherever in a text it stands?"""

from __future__ import annotations

import pytest

from helix_episodes.redaction import redact_text, without_secrets
from secret_samples import Sample, true_samples

# What comes before and behind holds signs by which the sieve looks, so that no place is the only one of its sign.
BEFORE = "see my-notes_v2.md: A = S.x ~ "
BEHIND = " - _old_ value: A-S.T=~"


@pytest.mark.parametrize("sample", list(true_samples(rounds=1)), ids=lambda sample: sample.kind)
def test_a_secret_goes_from_among_other_words_as_it_does_alone(sample: Sample) -> None:
    assert sample.secret not in without_secrets(f"{BEFORE}\n{sample.text}\n{BEHIND}")


@pytest.mark.parametrize("beginning", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"])
def test_of_every_kind_of_github_token_a_beginning_is_enough(beginning: str) -> None:
    cut_off = beginning + "A1b2C3d4E5"
    assert redact_text(f"export TOKEN_OF={cut_off}") == "export TOKEN_OF=[redacted:github-token]"


@pytest.mark.parametrize("word", ["Bearer", "BEARER", "bearer"])
def test_capitals_hide_nothing(word: str) -> None:
    assert "abc123def456ghi" not in redact_text(f"{word} abc123def456ghi")
