"""Texts on which tokenizers and networks differ, if they differ anywhere."""

from __future__ import annotations

from random import Random

_WORDS = ("the", "graph", "of", "a", "test", "fails", "when", "its", "cache", "reads", "one", "line", "more", "than")


def _many_words(count: int) -> str:
    """A fixed draw of words: long texts are cut off, and where must not matter to the millionth."""
    draw = Random(1)  # noqa: S311  (a text, not a secret)
    return " ".join(draw.choice(_WORDS) for _ in range(count))


HARD_TEXTS = {
    "empty": "",
    "blanks": "   \t \n ",
    "one letter": "x",
    "punctuation": "?!",
    "sentence": "ModuleNotFoundError: No module named 'respx' when the tests import shop.shipping.",
    "capitals and accents": "ÇA MARCHE À NOUVEAU, naïve Straße, İstanbul, Ångström",
    "combining marks": "e\u0301 n\u0303 a\u0308 "
    "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031ealgo",
    "emoji": "the build is green \U0001f389 and fast \U0001f680\U0001f680",
    "emoji families": "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466 "
    "\U0001f3f3\ufe0f\u200d\U0001f308 \U0001f1e9\U0001f1ea",
    "Chinese": "依赖没有安装，所以测试失败了。",  # noqa: RUF001  (its own punctuation)
    "Japanese and Korean": "テストが失敗しました 테스트가 실패했습니다",
    "rare ideographs": "\U00020000\U0002a6d6 \uf900",
    "Arabic": "فشل الاختبار لأن المكتبة غير مثبتة",
    "Devanagari": "परीक्षण विफल रहा",
    "control characters": "a\x00b\x07c\x1b[31md\x7f e\u200bf\ufeffg\u00adh\u202ei",
    "odd blanks": "one\u00a0two\u2003three\u3000four\u2028five\x85six",
    "private use and unassigned": "\ue000\U000e0001\U0010ffff word \u0378",
    "replacement": "cut off here \ufffd",
    "code": 'def f(x: dict[str, int]) -> None:\n    return x["a"] if x else {**x}  # O(n^2)\n\n\nassert f({}) != None',
    "paths and hashes": "/work/main/.venv/lib/python3.11/site-packages 53aa51172d142c89d9012cce15ae4d6cc0ca6895",
    "special tokens": "[CLS] this [MASK] is [SEP] no [PAD] end [UNK]",
    "one long word": "x" * 150,
    "no blank for long": "ab" * 2000,
    "253 words": _many_words(253),
    "255 words": _many_words(255),
    "ten thousand words": _many_words(10_000),
    "ten thousand ideographs": "错误" * 5_000,
}
#: What sentence-transformers ends in a TypeError on, each with the text that is embedded in its place.
BROKEN_TEXTS = {
    "cut in the middle of an emoji \ud83d": "cut in the middle of an emoji \ufffd",
    "\udc80 a byte that was no text": "\ufffd a byte that was no text",
    "in two halves \ud83d\ude00": "in two halves \U0001f600",
}
