r"""What failed, under one name: diagnostics in an output, and the fingerprints by which they are met again.

A diagnostic is the line in which a tool says what is wrong; a banner, an echoed command, a total or "task failed" is
none and has no fingerprint. Its *fingerprint* names the issue without its location: a failing test by name and
exception, anything else by its message, in which numbers, hashes, times, folders and quoted sentences are masked and
names are kept. So one compile error is one issue whether the compiler, the test runner, a linter or the editor prints
it. The *group* of an issue, check and family, is what events had before.

>>> build = "# shop/cart\ncart.go:12:5: undefined: Total"
>>> lint = "store/sum.go:3:1: undefined: Total (typecheck)\n1 issues:\n* typecheck: 1"
>>> [one.fingerprint for one in diagnostics_in(build)] == [one.fingerprint for one in diagnostics_in(lint)]
True
"""

from helix_episodes.extraction.fingerprints.diagnostics import (
    diagnostics_in,
    diagnostics_of_finding,
    diagnostics_of_text,
    keys_of_text,
)
from helix_episodes.extraction.fingerprints.grammars import is_noise
from helix_episodes.extraction.fingerprints.model import Diagnostic, name_of_test

__all__ = [
    "Diagnostic",
    "diagnostics_in",
    "diagnostics_of_finding",
    "diagnostics_of_text",
    "is_noise",
    "keys_of_text",
    "name_of_test",
]
