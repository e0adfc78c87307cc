"""Secrets that are known by their own shape: a service's prefix, a signed token's three parts, a key block's frame.

A prefix alone is no secret: ``sk-learn-pipelines`` is a name. So a key must have its service's length and letters, and
most must hold a digit besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.redaction.chance import has_digit, has_digit_or_both_cases, is_of_all_letters
from helix_episodes.redaction.rules import START, Cut, Hint, Rule, compiled, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

# How a service's keys of several kinds begin.
_GITHUB = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")
_GITLAB = ("glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-", "glsoat-")
_SHOPIFY = ("shpat_", "shpca_", "shppa_", "shpss_")
_SLACK = ("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-")

# Keys that a service begins with letters of its own; each must hold a digit besides.
_PREFIXED = (
    ("mailgun-key", ("key-",), r"(?<![_-])key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("databricks-token", ("dapi",), r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
    ("shopify-token", _SHOPIFY, r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}(?![A-Za-z0-9])"),
    ("figma-token", ("figd_", "figo_", "figu_"), r"fig[dou]_[A-Za-z0-9_-]{20,255}"),
    ("groq-key", ("gsk_",), r"gsk_[A-Za-z0-9]{20,255}"),
    ("xai-key", ("xai-",), r"xai-[A-Za-z0-9]{20,255}"),
    ("replicate-token", ("r8_",), r"r8_[A-Za-z0-9]{30,80}"),
    ("perplexity-key", ("pplx-",), r"pplx-[A-Za-z0-9]{20,255}"),
    ("atlassian-token", ("ATATT3", "ATCTT3"), r"AT[AC]TT3[A-Za-z0-9_=-]{20,500}"),
    ("doppler-token", ("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{20,80}"),
    ("newrelic-key", ("NRAK-",), r"NRAK-[A-Z0-9]{20,80}"),
    ("grafana-token", ("glsa_", "glc_"), r"gl(?:sa|c)_[A-Za-z0-9_+/=]{20,500}"),
    ("postman-key", ("PMAK-",), r"PMAK-[0-9a-f]{20,40}-[0-9a-f]{20,50}"),
    ("terraform-token", (".atlasv1.",), r"[A-Za-z0-9]{10,20}\.atlasv1\.[A-Za-z0-9_=-]{20,100}"),
    ("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{40,80}"),
    ("supabase-token", ("sbp_", "sb_secret_"), r"(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,80})"),
    ("planetscale-token", ("pscale_",), r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{30,80}"),
    ("rubygems-key", ("rubygems_",), r"rubygems_[0-9a-f]{48}(?![A-Za-z0-9])"),
    ("sentry-token", ("sntrys_", "sntryu_"), r"sntry[su]_[A-Za-z0-9_+/=-]{40,500}"),
    ("heroku-key", ("HRKU-",), r"HRKU-[A-Za-z0-9_-]{30,80}"),
)

# Keys of which the end was cut off with the text: the beginning of one is enough where nothing else begins so.
_CLIPPED = (
    ("github-token", _GITHUB, r"(?:gh[pousr]_[A-Za-z0-9]{6,29}|github_pat_[A-Za-z0-9_]{6,21})"),
    ("gitlab-token", _GITLAB, r"gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{6,19}"),
    ("slack-token", _SLACK, r"xox[abeoprs]-[A-Za-z0-9-]{6,9}"),
    ("stripe-key", ("_live_", "_test_"), r"[sr]k_(?:live|test)_[A-Za-z0-9]{6,15}"),
    ("anthropic-key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{6,15}"),
    ("openai-key", ("sk-proj-", "sk-svcacct-"), r"sk-(?:proj|svcacct)-[A-Za-z0-9_-]{6,14}"),
    ("aws-key", ("AKIA", "ASIA"), r"A[KS]IA[A-Z0-9]{6,15}"),
    ("google-key", ("AIza", "GOCSPX-"), r"(?:AIza[A-Za-z0-9_-]{6,34}|GOCSPX-[A-Za-z0-9_-]{6,19})"),
    ("npm-token", ("npm_",), r"npm_[A-Za-z0-9]{8,35}"),
    ("pypi-token", ("pypi-AgE",), r"pypi-AgE[A-Za-z0-9_-]{6,46}"),
    ("huggingface-token", ("hf_",), r"hf_[A-Za-z0-9]{8,29}"),
    ("sendgrid-key", ("SG.",), r"SG\.[A-Za-z0-9_-]{8,80}(?:\.[A-Za-z0-9_-]{0,29})?"),
    ("docker-token", ("dckr_pat_",), r"dckr_pat_[A-Za-z0-9_-]{6,19}"),
    ("vault-token", ("hvs.", "hvb."), r"hv[sb]\.[A-Za-z0-9_-]{8,19}"),
    ("digitalocean-token", ("_v1_",), r"do[opr]_v1_[a-f0-9]{6,63}"),
    ("shopify-token", _SHOPIFY, r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{6,31}"),
    ("notion-token", ("ntn_",), r"ntn_[A-Za-z0-9]{8,39}"),
    ("linear-key", ("lin_api_",), r"lin_api_[A-Za-z0-9]{6,29}"),
    ("jwt", ("eyJ",), r"eyJ(?:hbGci|0eXAi)[A-Za-z0-9_-]{4,512}(?:\.[A-Za-z0-9_-]{0,8192})?"),
)
_CUT_OFF = r"(?=\u2026|\.{3}|\Z)"

SHAPES = (
    Rule(
        "twilio-key",
        (),
        START + r"(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])",
        accept=has_digit,
        hints=(Hint("S", r"K[0-9a-f]{32}"), Hint("A", r"C[0-9a-f]{32}")),
    ),
    *(Rule(kind, needles, START + pattern, accept=has_digit) for kind, needles, pattern in _PREFIXED),
    Rule("docker-token", ("dckr_pat_",), START + r"dckr_pat_[A-Za-z0-9_-]{20,80}", accept=has_digit_or_both_cases),
    Rule("azure-secret", ("Q~",), START + r"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~-])"),
    # All that were ever seen begin with AA behind the colon.
    Rule(
        "telegram-token",
        (":AA",),
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
        accept=is_of_all_letters,
    ),
    # What stands before is looked at after the first letter: at every place of a text it would cost four times as much.
    Rule(
        "discord-token",
        (),
        r"[MNO](?<![A-Za-z0-9].)[A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])",
        accept=is_of_all_letters,
        hints=(Hint(".", r"[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"),),
    ),
    Rule("aws-key", ("AKIA", "ASIA"), r"(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Rule(
        "github-token",
        _GITHUB,
        START + r"(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255})",
    ),
    Rule("gitlab-token", _GITLAB, START + r"gl(?:pat|ptt|dt|rt|cbt|ft|soat)-[A-Za-z0-9_-]{20,255}"),
    # Older versions masked the numbers within before they cut.
    Rule("slack-token", (*_SLACK, "xapp-"), START + r"(?:xox[abeoprs]|xapp)-(?:[A-Za-z0-9-]|<id>|<n>){10,255}"),
    Rule(
        "stripe-key",
        ("_live_", "_test_", "whsec_"),
        START + r"(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9+/=]{16,255})",
    ),
    Rule("anthropic-key", ("sk-ant-",), START + r"sk-ant-[A-Za-z0-9_-]{16,255}"),
    Rule("openai-key", ("sk-",), START + r"sk-(?!ant-)[A-Za-z0-9_-]{20,255}", accept=has_digit),
    Rule(
        "google-key",
        ("AIza", "ya29.", "GOCSPX-"),
        START + r"(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,500}|GOCSPX-[A-Za-z0-9_-]{20,80})",
    ),
    Rule("npm-token", ("npm_",), START + r"npm_[A-Za-z0-9]{36,80}"),
    Rule("pypi-token", ("pypi-",), START + r"pypi-[A-Za-z0-9_-]{50,500}"),
    Rule("huggingface-token", ("hf_",), START + r"hf_[A-Za-z0-9]{30,80}"),
    Rule("sendgrid-key", ("SG.",), START + r"SG\.[A-Za-z0-9_-]{16,80}\.[A-Za-z0-9_-]{30,80}"),
    Rule("linear-key", ("lin_",), START + r"lin_(?:api|oauth)_[A-Za-z0-9]{30,80}"),
    Rule("digitalocean-token", ("_v1_",), START + r"do[opr]_v1_[a-f0-9]{64}"),
    Rule("vault-token", ("hvs.", "hvb."), START + r"hv[sb]\.[A-Za-z0-9_-]{20,300}"),
    Rule("age-key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[A-Z0-9]{20,80}"),
    Rule(
        "jwt",
        ("eyJ",),
        START + r"eyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{4,8192}(?:\.[A-Za-z0-9_-]{4,2048})?",
    ),
    *(
        Rule(kind, needles, START + pattern + _CUT_OFF, accept=has_digit_or_both_cases)
        for kind, needles, pattern in _CLIPPED
    ),
)

#: A PEM key of 4096 bits is about 3,300 characters; one of 16,384 bits, the longest in use, four times that.
_LONGEST_KEY_BLOCK = 16_384
_KEY_BLOCK = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_BLOCK_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# The block's body when its end is not in the text: lines of base64, possibly with their line ends spelled out.
_KEY_BODY = r"(?:\s|\\[nr])*+(?:[A-Za-z0-9+/=]{16,}+(?:\s|\\[nr])*+)++"


def key_blocks(text: str) -> Iterator[Cut]:
    """Private keys in their frames, from the first line to the last; without a last line, as far as the base64 goes."""
    if "-----BEGIN " not in text:
        return
    last = text.rfind("-----END ")
    for begin in compiled(_KEY_BLOCK).finditer(text):
        end = compiled(_KEY_BLOCK_END).search(text, begin.end(), min(begin.end() + _LONGEST_KEY_BLOCK, last + 80))
        body = end or compiled(_KEY_BODY).match(text, begin.end())
        if body is not None:
            yield cut("private-key", begin.start(), body.end())
