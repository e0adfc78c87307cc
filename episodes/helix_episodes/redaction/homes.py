"""Home folders: their owner's name is cut, the rest of the path is evidence and stays.

>>> [cut.kind for cut in home_folders("cd /home/kim/shop")]
['home']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.redaction.rules import Cut, compiled, cut, mentions

if TYPE_CHECKING:
    from collections.abc import Iterator

KIND = "home"

# What stands before is asked behind the first stroke, so that the search can leap from one to the next.
_HOMES = (
    (
        ("/Users/", "/home/"),
        r"/(?<![\w.~-]/)(?:var/(?=home/))?(?:Users|home)/(?!Shared\b)[^/\s:;,\"'`<>|()\[\]{}\\*$]{1,64}",
    ),
    (("/root",), r"/root(?<![\w.~/-]/root)(?=/|$|[\s:\"'])"),
    (
        ("sers\\", "sers/", "ettings\\", "ettings/"),
        (
            r"(?i)(?<![\w])(?:\\{2,4}\?\\{1,2})?[a-z]:(?:\\{1,2}|/)(?:Users|Documents and Settings)(?:\\{1,2}|/)"
            r"(?!Public\b)[^\\/\s:\"'<>|]{1,64}"
        ),
    ),
    # The same folder as Git Bash and the Linux within Windows call it.
    (("/Users/", "/users/"), r"(?i)/(?<![\w.~-]/)(?:mnt/)?[a-z]/Users/(?!Public\b)[^/\s:;,\"'`<>|()\[\]{}\\*$]{1,64}"),
    # The folder names that Claude Code makes of paths.
    (("/-Users-", "/-home-"), r"(?<=/-)(?:Users|home)-[A-Za-z0-9]{1,64}"),
    (("--Users-",), r"(?<=[A-Za-z]--)Users-[A-Za-z0-9]{1,64}"),
    (("-Users-", "-home-"), r"(?<=-)(?:(?<![\w-]-)|(?<=-mnt-[a-z]-)|(?<=-var-))(?:Users|home)-[A-Za-z0-9]{1,64}(?=-)"),
)


#: Each of the rows' needles holds one of these.
_SIGNS = ("sers", "home", "ettings", "/root")


def home_folders(text: str) -> Iterator[Cut]:
    """Every home folder that a text names."""
    if not mentions(text, _SIGNS):
        return
    for needles, pattern in _HOMES:
        if mentions(text, needles):
            yield from (cut(KIND, *found.span()) for found in compiled(pattern).finditer(text))
