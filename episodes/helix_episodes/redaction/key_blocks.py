"""Private keys in their frames: whole, cut at either end, in base64 as a whole, and in the form of PuTTY."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.redaction.rule_matching import Cut, compiled_pattern, make_cut, mentions, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from helix_episodes.redaction.rule_matching import SiftedText


#: A PEM key of 4096 bits is about 3,300 characters; one of 16,384 bits, the longest in use, four times that.
_LONGEST = 65_536
_TITLE = r" (?![A-Za-z0-9 -]{0,40}(?:PUBLIC|CERTIFICATE|SIGNATURE|REQUEST))[A-Za-z0-9 -]{0,40}(?i:KEY|SEED|SECRET)[A-Za-z0-9 ]{0,10} ?-{4,6}"  # noqa: E501
_BEGIN, _END = r"-{4,6} ?BEGIN" + _TITLE, r"-{4,6} ?END" + _TITLE
_BREAK = r"(?:\s|\\{1,2}[nr]|\d{1,7}(?=[\t→|:])|[|:>#*→\"'+,;.&-])"
#: Atomic groups: before Python 3.11.5 a possessive repetition loses matches where its group has alternatives.
_BREAKS = rf"(?>{_BREAK}*)"
# The block's body when its end is not in the text: lines of base64, possibly with their line ends spelled out.
_BODY = rf"{_BREAKS}(?:[A-Z][A-Za-z-]{{2,20}}: [^\n]{{0,100}}{_BREAKS}){{0,4}}(?>(?:[A-Za-z0-9+/=]{{16,}}+{_BREAKS})+)"
#: What stands before and behind the base64 of a line: numbers and marks of listings and diffs, quotes of code.
_LINE = r"[\s\d:|>#*→+\-\"',]{0,24}(?:[A-Za-z0-9+/]{16,}={0,2}[\"'\s+,;\\]{0,8})?"
_LINE_BREAK = r"\r?\n|\\{1,2}n"
# What the base64 of an encoded private key begins with: RSA, the general form, elliptic curves, OpenSSH.
_ENCODED = (
    r"(?<![A-Za-z0-9/])(?<![A-Za-z0-9+/]\+)(?:MII[A-Za-z0-9+/]{2}[AQgw]IBA[ADSz]|RWR(?:TY0Iy|CSw)[A-Za-z0-9+/]{40}|MHcCAQEE|MHQCAQEE|MIG[A-Za-z0-9+/]AgEA|M[CFG4][A-Za-z0-9]CAQAwBQYDK2V"
    r"|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/=]{12,}+(?>(?:" + _BREAKS + r"[A-Za-z0-9+/=]{16,}+)*)"
)
#: ``-----BEGIN`` in base64, but for certificates and public keys.
_WHOLE = r"LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM)[A-Za-z0-9+/=]{16,}+(?>(?:" + _BREAKS + r"[A-Za-z0-9+/=]{16,}+)*)"
_PUTTY = r"(?i)private-lines: ?\d{1,3}" + _BODY + r"(?:private-mac: ?[0-9a-f]{32,64})?"
#: One of these is in each block, in a text and among its words.
_SIGNS = (
    "-BEGIN ", "-END ", "- BEGIN ", "- END ", "rivate-Lines", "rivate-lines", "privateExponent", "priv:",
)  # fmt: skip
_WORDS = frozenset(("priv", "privateexponent", "private", "secret", "key", "seed"))
#: What is known without its frame.
KEY_RULES = rules_of(
    r"""
private-key drawn spans_lines: IBA…[ADSz][A-Za-z0-9+/=]{12} ¦ RWRTY0Iy ¦ RWRCSw ¦ CAQEE ¦ AgEAM ¦ YDK2V ¦ C1rZXktdjE
    {ENCODED}
# What openssl prints of a key: octets in rows, behind the name of a secret part.
private-key folded spans_lines: priv ¦ privateexponent ¦ prime1 ¦ prime2 ¦ exponent1 ¦ exponent2 ¦ coefficient
    (?i)\b(?:priv|privateExponent|prime[12]|exponent[12]|coefficient):\s*((?:{BREAK}{0,20}(?:[0-9a-f]{2}:){4,40}
    (?:[0-9a-f]{2})?)+(?:{BREAK}{0,20}(?:[0-9a-f]{2}:){0,3}[0-9a-f]{2}(?=\s*(?:\Z|\n|\\|pub)))?)
# The name of a key over one line of base64, as Tor and signify write it.
private-key folded: secret key ¦ secret: ¦ privatekey ¦ private.key ¦ secret.key
    (?i)(?:secret key|secret: type\d ==|private_?\.?key|secret\.key)\W{0,8}\n
    [^\n]{0,60}?(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{42,140}={0,2})(?![A-Za-z0-9+/])
private-key drawn spans_lines: LS0tLS1CRUdJTi
    {WHOLE}
private-key spans_lines: Private-Lines ¦ private-lines
    {PUTTY}
""",
    parts={"ENCODED": _ENCODED, "BREAK": _BREAK, "WHOLE": _WHOLE, "PUTTY": _PUTTY},
)


def has_key_block(sifted: SiftedText) -> bool:
    """Whether a text may hold a private key of several lines."""
    return not sifted.words.isdisjoint(_WORDS) and mentions(sifted.text, _SIGNS)


def framed_keys(sifted: SiftedText) -> Iterator[Cut]:
    """Private keys, from the first line to the last; where one of these is missing, as far as the base64 goes."""
    if not has_key_block(sifted):
        return
    text = sifted.text
    last, covered = text.rfind("END "), 0
    for begin in compiled_pattern(_BEGIN).finditer(text):
        end = compiled_pattern(_END).search(text, begin.end(), min(begin.end() + _LONGEST, last + 80))
        body = end or compiled_pattern(_BODY).match(text, begin.end())
        if body is not None:
            covered = body.end()
            yield make_cut("private-key", begin.start(), covered)
    for end in compiled_pattern(_END).finditer(text, covered):
        start = _tail(text, max(covered, end.start() - _LONGEST), end.start())
        covered = end.end()
        if start < end.start():
            yield make_cut("private-key", start, covered)


def _tail(text: str, first: int, end: int) -> int:
    """Where the lines of base64 before a key's last line begin."""
    start = end
    breaks = [first, *(found.end() for found in compiled_pattern(_LINE_BREAK).finditer(text, first, end))]
    for begin in reversed(breaks):
        line = text[begin:start].strip()
        if line and not compiled_pattern(_LINE).fullmatch(line.removesuffix("\\n").removesuffix("\\")):
            part = compiled_pattern(r"[A-Za-z0-9+/]{40,}={0,2}\\{0,2}n?\s*\Z").search(text, begin, start)
            return part.start() if part else start
        start = begin
    return start
