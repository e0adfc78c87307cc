"""The seeds' constants and arithmetic: how recall scores an insight, and how its effectiveness moves with outcomes.

The constants are two frozen sets: ``V6`` (the default) and the older ``V1``. One number per insight, *effectiveness*
(0 to 1, 0.5 at first), follows the outcomes of the tasks it was shown to. It is a moving average of raw outcomes, so
on easy tasks it rises for every insight that was shown; `helix_graph.insights.uplift` measures what that is worth.
Sources: `seeds/helix-feedback-mechanics.md` and `seeds/helix-memory-cli.md`, profiles ``v6`` and ``v1``.
"""

from __future__ import annotations

import math
import unicodedata

from helix_episodes.light_imports import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    import numpy as np
    from numpy.typing import NDArray

    #: One, or many at once.
    Shares = TypeVar("Shares", float, "NDArray[np.float64]")


class ScoringSettings(Value):
    """How insights are scored, kept apart, credited and let go.

    ``relevance``, ``effectiveness`` and ``recency`` are the weights of the score; they add up to 1.
    """

    name: str
    relevance: float
    effectiveness: float
    recency: float
    #: Days without use after which an insight counts half as recent.
    half_life_days: float
    #: A hit below this relevance is none; exactly this is one. 0 lets everything pass, as the older form does.
    min_relevance: float = 0.35
    #: From this cosine on two insights say the same.
    same: float = 0.85
    #: From this cosine on two insights say the same to `consolidate`, which looks at what is stored already.
    same_when_consolidating: float = 0.9
    #: Above this relevance a chunked approach is one that is known already.
    same_when_chunking: float = 0.85
    #: From this cosine with an outcome's text on, an insight that is not linked counts as causal.
    causal: float = 0.40
    #: The share of the way to the outcome that one feedback moves a causal insight.
    rate: float = 0.1
    #: The share of the way to neutral that one feedback moves an insight that was not causal.
    erosion: float = 0.10
    #: Where an insight begins, and where erosion and decay lead.
    neutral: float = 0.5
    #: Where a derived insight begins: nobody has said yet that it holds beyond its session. Two successes in which it
    #: had a hand (0.46, then 0.514) bring it before one that somebody told and nobody has tried.
    derived: float = 0.4
    #: From this cosine on a decision is held to follow an insight, and a label to be what its text speaks of.
    uptake: float = 0.60
    #: Effectiveness is multiplied by causal hits per use, but by no less than this, ...
    least_credit: float = 0.3
    #: ... and only from so many uses on.
    uses_to_adjust: int = 3
    #: Recency of an insight whose dates cannot be read.
    unknown_recency: float = 0.5
    #: One step of decay takes this share of an insight's distance from neutral.
    decay_step: float = 0.1
    #: Feedback within so many hours counts as recent to `health`.
    recent_hours: float = 1.0
    #: Effectiveness is the share of uses that helped, as in the older form, and not what the log was folded into.
    counts: bool = False
    #: Links of a lower score are not followed by `connected`.
    least_link: float = 0.5


V6 = ScoringSettings(name="v6", relevance=0.7, effectiveness=0.2, recency=0.1, half_life_days=14)
V1 = ScoringSettings(
    name="v1", relevance=0.5, effectiveness=0.3, recency=0.2, half_life_days=7, min_relevance=0.0, counts=True
)

#: The shortest insight, in Latin letters (`content_length`).
SHORTEST_CONTENT = 20
#: What an East Asian character says, in Latin letters: a sentence of English takes about as many times more of them.
_WIDE_CHARACTER = 2.5
#: The longest, in characters: as far as the seed's own embedding looked. Advice is a sentence; a page is a document.
LONGEST_CONTENT = 8000
#: The longest name, in characters.
LONGEST_NAME = 50
#: The longest account of where an insight comes from, in characters: a name, a path or an address.
LONGEST_SOURCE = 1000
#: This many tags, each so long: more are no tags but a text.
MOST_TAGS = 20
LONGEST_TAG = 80
#: The model reads so many tokens of a text (256, of which it uses two as marks). What comes behind them is compared
#: by words before two texts are taken for one.
READ_TOKENS = 254
#: A longer word is one unknown token to the model, whatever it says (``max_input_chars_per_word`` of its tokenizer).
LONGEST_KNOWN_WORD = 100
#: What a person gave is never merged away nor pruned.
USER_PROVIDED = "user-provided"
#: What a person said of the work against what the agent did, taken from a log.
CORRECTION = "correction"
#: What is tagged so is never withheld to be measured.
SAFETY_TAG = "safety"


NEUTRAL = V6.neutral
#: Less relevant insights are not recalled at all, and outcomes with a smaller cosine are not an insight's own.
RELEVANCE_GATE = V6.min_relevance
CAUSAL_GATE = V6.causal


def ema(effectiveness: float, outcome: float, *, settings: ScoringSettings = V6) -> float:
    """The effectiveness after an outcome (0 blocked, 1 delivered) that the insight is held to have had a hand in.

    Ten deliveries from neutral make 0.826. (The seed's text says about 0.65, against its own formula.)

    >>> effectiveness = NEUTRAL
    >>> for _ in range(10):
    ...     effectiveness = ema(effectiveness, 1.0)
    >>> round(effectiveness, 3)
    0.826
    """
    return _share(effectiveness * (1 - settings.rate) + outcome * settings.rate)


def erode(effectiveness: float, *, settings: ScoringSettings = V6) -> float:
    """The effectiveness after an outcome that had nothing to do with the insight: a tenth of the way to neutral.

    >>> effectiveness = 0.75
    >>> for _ in range(11):
    ...     effectiveness = erode(effectiveness)
    >>> round(effectiveness, 3)
    0.578
    """
    return _share(effectiveness + (settings.neutral - effectiveness) * settings.erosion)


def causal_adjusted(effectiveness: float, *, causal_hits: int, use_count: int, settings: ScoringSettings = V6) -> float:
    """The effectiveness that recall counts: times the share of uses that were causal, never below 0.3 of it.

    It counts from three uses on.

    >>> round(causal_adjusted(0.99, causal_hits=0, use_count=20), 3)
    0.297
    >>> causal_adjusted(0.75, causal_hits=5, use_count=5), causal_adjusted(0.75, causal_hits=0, use_count=2)
    (0.75, 0.75)
    """
    if use_count < settings.uses_to_adjust:
        return effectiveness
    return effectiveness * max(settings.least_credit, causal_hits / use_count)


def recency(days: float, *, settings: ScoringSettings = V6) -> float:
    """1 for an insight used now, half of that every 14 days.

    >>> recency(0), recency(14), recency(28)
    (1.0, 0.5, 0.25)
    """
    return math.exp2(-days / settings.half_life_days)


def score(*, relevance: float, effectiveness: float, recency: float, settings: ScoringSettings = V6) -> float:
    """By what recall sorts; ``effectiveness`` is the adjusted one.

    >>> round(score(relevance=0.6, effectiveness=0.5, recency=1.0), 2)
    0.62
    """
    return settings.relevance * relevance + settings.effectiveness * effectiveness + settings.recency * recency


def combined_relevance(meaning: Shares, by_words: Shares) -> Shares:
    """Two shares of evidence as one: what either leaves open is settled by the other as far as that goes.

    >>> combined_relevance(0.6, 0.0), round(combined_relevance(0.6, 0.5), 2), combined_relevance(1.0, 0.3)
    (0.6, 0.8, 1.0)
    """
    return meaning + by_words - meaning * by_words


def _share(value: float) -> float:
    """Within 0 to 1: a sum of floats may come out just outside."""
    return min(1.0, max(0.0, value))


def content_length(text: str) -> float:
    """How much a text holds, in Latin letters: the minimum length of an insight counts what is said.

    >>> content_length("Run ruff before mypy"), content_length("提交前先运行测试再推送")
    (20.0, 27.5)
    """
    wide = 0 if text.isascii() else sum(unicodedata.east_asian_width(one) in {"W", "F"} for one in text)
    return len(text) - wide + _WIDE_CHARACTER * wide
