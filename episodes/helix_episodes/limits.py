"""Limits: how much of a log is taken in at all, each with its reason.

A log may be anything: cut off, overwritten, made to hurt. What lies beyond these limits is reported by place and left
out, so that time and memory are bounded whatever a file holds. No log that an agent has written comes near them.
"""

from __future__ import annotations

#: The longest line that is read, in bytes. The largest request that a model's service takes is 32 MB, pictures and
#: documents included, so no message can be longer; the longest line of the corpora has 0.34 MB.
LONGEST_LINE = 32 << 20
#: The largest log that is one document and has to be read whole, in bytes. The largest of the corpora has 1.9 MB.
LARGEST_DOCUMENT = 64 << 20
#: How deep JSON may be nested, in levels. orjson stops at 1,024; Python's own stack, on which values are walked, holds
#: about 1,000 calls, of which some walks need two or three a level. The deepest record of the corpora has 11 levels.
DEEPEST_NESTING = 300
#: How much of a log is looked at to tell its format, in bytes: the longest preamble seen (52 lines of snapshots and
#: hook records) has a fifth of it.
HEAD = 256 << 10
#: A shell command is read this far, in characters: the longest of the 703 in the Claude Code corpus has 9,000,
#: here-documents included. What is longer is data, and reading it must not take minutes.
LONGEST_COMMAND = 50_000
#: So many parts of a shell command are looked at.
MOST_PARTS = 200
#: So many damaged lines of a log are named; the rest is counted. Nobody reads more, and a log of two million lines
#: that are all damaged would otherwise take a gigabyte to report.
MOST_NAMED = 1000
#: So many different unknown types of record are counted apart, and their names are cut to this length: a log in
#: which each line is of another type is not made of types.
MOST_TYPES = 100
LONGEST_TYPE = 80
