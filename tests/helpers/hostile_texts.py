"""Texts that would run, break a page or call somebody, if they were shown as anything but text."""

from __future__ import annotations

import re

HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "javascript:alert(4)",
    "<!--<script>",
    "@@helix-graph:data@@ {{data}} ${alert(5)}",
    "a\u2028b\u2029c",
    "\u202egnp.exe\u2066 turned round",
    "\x1b[31m red \x00 nothing \x07",
    "long " * 4000,
    "\U0001d56c 🧨 é ﷽ שלום مرحبا",
    "url(https://example.invalid/x.png)",
    "__proto__ constructor toString",
)


def outside_of_quotations(text: str) -> str:
    """The text without quotations, and without what marks the memory's block."""
    return re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
