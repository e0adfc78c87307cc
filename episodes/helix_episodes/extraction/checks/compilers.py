"""Families of compile errors, from the compilers' own wording.

The family says what kind of slip it was, in the same words whatever the compiler, because the remedy is of the same
kind: an undefined name wants an import, a rename or a declaration wherever it happens.

>>> compile_family('declared and not used: total')
'unused variable'
"""

from __future__ import annotations

from helix_episodes.regex import Regex

#: Families and the wordings they are known by, checked in order.
_WORDINGS: tuple[tuple[str, ...], ...] = (
    ("missing method", r"missing method|does not implement|not all trait items implemented|does not override"),
    ("unused import", r"imported and not used|unused import"),
    ("unused variable", r"declared and not used|declared but not used|unused variable"),
    ("redeclared", r"redeclared|already declared|redefinition of|duplicate (?:case|method|field|definition)"),
    ("import cycle", r"import cycle"),
    (
        "missing package",
        r"no required module provides package|is not in (?:std|GOROOT)|cannot find (?:package|module)|could not import",
        r"unresolved import|No such file or directory|file not found|package .* does not exist",
    ),
    ("wrong arguments", r"not enough arguments|too many arguments|wrong number of arguments|takes \d+ arguments?"),
    (
        "type mismatch",
        r"cannot use|mismatched types|cannot convert|incompatible types?|assignment mismatch|invalid operation",
        r"type mismatch|impossible type|cannot infer|must be (?:a )?type|not assignable",
    ),
    ("missing return", r"missing return"),
    (
        "undefined name",
        r"undefined|undeclared|not declared|cannot find symbol|unresolved reference|not found in this scope",
        r"unknown field|has no (?:field|member)",
    ),
    (
        "syntax error",
        r"syntax error|expected .*(?:found|got|before|after)|expected [';{}()\[\]]|unexpected|illegal character",
        r"unterminated|not terminated|non-declaration statement",
    ),
)
_FAMILIES = tuple((family, Regex("|".join(wordings))) for family, *wordings in _WORDINGS)


def compile_family(message: str) -> str:
    """The family of a compiler's message; ``does not compile`` when the wording says nothing more."""
    return next((family for family, pattern in _FAMILIES if pattern.search(message)), "does not compile")
