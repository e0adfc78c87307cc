"""The constants of the seeds, as two frozen sets with names: ``V6`` (the default) and the older ``V1``.

Each number stands once, here, and each has a test that fails when it changes. Where a seed is silent the reason stands
beside the number.
"""

from __future__ import annotations

from helix_episodes.values import Value


class Settings(Value):
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
    #: Idle so many days, an insight decays by one step ...
    decay_days: int = 30
    #: ... which takes this share of its distance from neutral.
    decay_step: float = 0.1
    #: Pruned is what is below this effectiveness ...
    prune_below: float = 0.25
    #: ... after so many uses or more.
    prune_uses: int = 3
    #: Feedback within so many hours counts as recent to `health`.
    recent_hours: float = 1.0
    #: Effectiveness is the share of uses that helped, as in the older form, and not what the log was folded into.
    counts: bool = False
    #: Links of a lower score are not followed by `connected`.
    least_link: float = 0.5


V6 = Settings(name="v6", relevance=0.7, effectiveness=0.2, recency=0.1, half_life_days=14)
V1 = Settings(
    name="v1", relevance=0.5, effectiveness=0.3, recency=0.2, half_life_days=7, min_relevance=0.0, counts=True
)

#: The shortest insight, in characters once stripped.
SHORTEST = 20
#: The longest, in characters: as far as the seed's own embedding looked. Advice is a sentence; a page is a document.
LONGEST = 8000
#: The longest name, in characters.
LONGEST_NAME = 50
#: The longest account of where an insight comes from, in characters: a name, a path or an address.
LONGEST_SOURCE = 1000
#: So many tags, each so long: more are no tags but a text.
MOST_TAGS = 20
LONGEST_TAG = 80
#: The model reads so many tokens of a text (256, of which it uses two as marks). What stands behind them is compared
#: by words before two texts are taken for one.
READ_TOKENS = 254
#: A longer word is one unknown token to the model, whatever it says (``max_input_chars_per_word`` of its tokenizer).
LONGEST_KNOWN_WORD = 100
#: What a person gave is never merged away nor pruned.
USER_PROVIDED = "user-provided"
