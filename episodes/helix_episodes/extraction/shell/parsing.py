"""Splits shell text into simple commands.

A log gives the text that was typed: ``cd api && FOO=1 go test ./... 2>&1 | tail -20``. Some parts only look like
commands: a commit message in quotes, the lines of a here-document, the inside of ``$(…)``. This module knows just
enough of the grammar to distinguish them. It runs nothing, expands nothing and never fails: for text that no shell
would accept it returns what can be recognised, in time proportional to the text.

>>> [(part.joiner, part.words) for part in split_shell("cd api && go test ./... 2>&1 | tail -20")]
[('', ('cd', 'api')), ('&&', ('go', 'test', './...')), ('|', ('tail', '-20'))]
"""

from __future__ import annotations

import re

from helix_episodes.light_imports import Regex, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Joiner = Literal["", "&&", "||", ";", "|"]


class SimpleCommand(Value):
    """One simple command: its words without quotes, and how it is joined to its neighbours.

    ``target`` is the file that its output goes into, empty for none; ``hidden`` that something around it (a
    loop, a condition, a group that is piped on, ``!``) keeps its exit status from being seen.
    """

    text: str
    words: tuple[str, ...]
    joiner: Joiner
    target: str = ""
    hidden: bool = False


class _Token:
    """A word, an operator, a redirection or the end of a line, and its place in the text."""

    __slots__ = ("end", "kind", "start", "value")

    def __init__(
        self, kind: Literal["word", "operator", "redirect", "newline"], value: str, start: int, end: int
    ) -> None:
        self.kind = kind
        self.value = value
        self.start = start
        self.end = end


# A quoted string may hold $(…), which may hold quotes, and so on. No one writes 20 levels; text that does is noise,
# and stopping there keeps the recursion bounded.
_DEEPEST = 20

_BLANK = Regex(r"(?:[ \t\r]|\\\r?\n)+|#[^\n]*")
_REDIRECT = Regex(r"\d*(?:<<<|<<-?|&>>|&>|>>|>\||>&|<&|<>|<|>)(?!\()")
_OPERATOR = Regex(r"&&|\|\||;;|;|\|&|\||&|\(|\)")
#: A word without quotes that ends where every reader sees it, as nearly all do; digits may belong to a redirection.
_WHOLE_WORD = Regex(r"(?!#|\d+[<>&])[^\s\\'\"`$|&;()<>]++(?=[\s|&;()]|[<>](?!\()|\Z)")
_PLAIN = Regex(r"[^\s\\'\"`$|&;()<>]+")
_PLAIN_QUOTED = Regex(r'[^"\\$`]+')
_PLAIN_SUBSTITUTED = Regex(r"[^'\"\\`()<\n]+")
_ANSI_QUOTE = Regex(r"\$'(?:[^'\\]|\\.)*'?", re.DOTALL)
_PARAMETER = Regex(r"\$\{[^}]*\}?")
_BACKTICKS = Regex(r"`(?:[^`\\]|\\.)*`?", re.DOTALL)
_DELIMITER = Regex(r"[ \t]*(?:'([^'\n]+)'|\"([^\"\n]+)\"|\\?([\w.-]+))")
_ESCAPE = Regex(r"\\(.)", re.DOTALL)


def split_shell(text: str) -> tuple[SimpleCommand, ...]:
    r"""The simple commands of a shell text, in order. Never raises.

    Here-documents, comments and the inside of substitutions are no commands; redirections and keywords are dropped.

    >>> split_shell("cat > a.go <<'EOF'\nrm -rf /\nEOF")[0].target
    'a.go'
    """
    builder = _CommandBuilder(text)
    for token in _tokens(text):
        builder.take(token)
    builder.finish()
    return tuple(builder.done)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    pending: list[str] = []
    at = 0
    while at < len(text):
        if word := _WHOLE_WORD.match(text, at):
            tokens.append(_Token("word", word[0], at, word.end()))
            at = word.end()
        elif blank := _BLANK.match(text, at):
            at = blank.end()
        elif text[at] == "\n":
            tokens.append(_Token("newline", "\n", at, at + 1))
            at = _skip_documents(text, at + 1, pending)
        elif redirect := _REDIRECT.match(text, at):
            tokens.append(_Token("redirect", redirect[0].lstrip("0123456789"), at, redirect.end()))
            at = _note_document(text, redirect, pending)
        elif operator := _OPERATOR.match(text, at):
            tokens.append(_Token("operator", operator[0], at, operator.end()))
            at = operator.end()
        else:
            end, value = _word(text, at)
            tokens.append(_Token("word", value, at, end))
            at = end
    return tokens


def _note_document(text: str, redirect: re.Match[str], pending: list[str]) -> int:
    """Remember the delimiter of a here-document (its word stays a token); return where to go on."""
    if redirect[0].lstrip("0123456789") in {"<<", "<<-"} and (word := _DELIMITER.match(text, redirect.end())):
        pending.append(word[1] or word[2] or word[3])
    return redirect.end()


def _skip_documents(text: str, at: int, pending: list[str]) -> int:
    """Past the bodies of the here-documents that begin on this line; one that never ends takes the rest."""
    for delimiter in pending:
        # ")" after the delimiter: people close $(cat <<EOF … EOF) on the same line and shells accept it.
        closing = Regex(rf"^\t*{re.escape(delimiter)}[ \t\r]*(?=\)|$)", re.MULTILINE).search(text, at)
        at = closing.end() if closing else len(text)
    pending.clear()
    return at


def _word(text: str, start: int) -> tuple[int, str]:
    """One word from ``start``: where it ends and its value without quotes (substitutions stay as written)."""
    pieces: list[str] = []
    at = start
    while at < len(text):
        end, piece = _piece(text, at)
        if end == at:
            break
        pieces.append(piece)
        at = end
    if at == start:  # a character that fits nowhere, such as a stray "<(": taken alone so that reading goes on
        return start + 1, text[start]
    return at, "".join(pieces)


def _piece(text: str, at: int) -> tuple[int, str]:  # noqa: PLR0911  (one line per kind of quote)
    """One evenly quoted piece of a word; an empty one where the word ends."""
    if plain := _PLAIN.match(text, at):
        return plain.end(), plain[0]
    match text[at]:
        case "'":
            end = _closing(text, "'", at + 1)
            return end, text[at + 1 : end].removesuffix("'")
        case '"':
            end = _quoted(text, at + 1, depth=0)
            return end, _ESCAPE.sub(r"\1", text[at + 1 : end].removesuffix('"'))
        case "\\":
            return min(at + 2, len(text)), text[at + 1 : at + 2].replace("\n", "")
        case "$" | "`":
            end = _dollar(text, at, depth=0)
            return end, text[at:end]
        case "<" | ">" if text[at + 1 : at + 2] == "(":
            end = _substituted(text, at + 2, depth=0)
            return end, text[at:end]
    return at, ""


def _closing(text: str, mark: str, at: int) -> int:
    """Just after the next ``mark``; the end of the text when it is missing."""
    found = text.find(mark, at)
    return len(text) if found < 0 else found + 1


def _dollar(text: str, at: int, *, depth: int) -> int:
    """Past what a dollar sign or a backtick begins."""
    if text.startswith("$(", at) and depth < _DEEPEST:
        return _substituted(text, at + 2, depth=depth)
    for pattern in (_ANSI_QUOTE, _PARAMETER, _BACKTICKS):
        if found := pattern.match(text, at):
            return found.end()
    return at + 1


def _quoted(text: str, at: int, *, depth: int) -> int:
    """Past the double quote that closes the string around ``at``."""
    while at < len(text):
        if plain := _PLAIN_QUOTED.match(text, at):
            at = plain.end()
        elif text[at] == '"':
            return at + 1
        elif text[at] == "\\":
            at += 2
        elif text.startswith("$'", at):  # means nothing inside double quotes
            at += 1
        else:
            at = _dollar(text, at, depth=depth)
    return len(text)


def _substituted(text: str, at: int, *, depth: int) -> int:
    """Past the bracket that closes ``$(`` ; quotes and here-documents inside are skipped whole."""
    open_brackets = 1
    pending: list[str] = []
    while at < len(text) and open_brackets:
        if plain := _PLAIN_SUBSTITUTED.match(text, at):
            at = plain.end()
            continue
        match text[at]:
            case "(" | ")":
                open_brackets += 1 if text[at] == "(" else -1
                at += 1
            case "\n":
                at = _skip_documents(text, at + 1, pending)
            case "<":
                redirect = _REDIRECT.match(text, at)
                at = _note_document(text, redirect, pending) if redirect else at + 1
            case _:
                at = _skip_quote(text, at, depth=depth + 1)
    return at


def _skip_quote(text: str, at: int, *, depth: int) -> int:
    match text[at]:
        case "'":
            return _closing(text, "'", at + 1)
        case '"' if depth < _DEEPEST:
            return _quoted(text, at + 1, depth=depth)
        case "`":
            return _dollar(text, at, depth=depth)
        case "\\":
            return at + 2
    return at + 1


_OPENS_BLOCK = {"if", "while", "until", "for", "case", "select"}
_CLOSES_BLOCK = {"fi", "done", "esac"}
_KEYWORDS = _OPENS_BLOCK | _CLOSES_BLOCK | {"then", "elif", "else", "do", "!", "{", "}", "function"}
# After these the rest of the line names values, not a command.
_NO_COMMAND = {"for", "case", "select", "function"}
_JOINERS: dict[str, Joiner] = {"&&": "&&", "||": "||", "|": "|", "|&": "|"}
_NO_FILE = {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "-"}


class _CommandBuilder:
    """Takes tokens one by one and puts finished commands into ``done``."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.done: list[SimpleCommand] = []
        self.words: list[str] = []
        self.start = self.end = -1
        self.joiner: Joiner = ""
        self.redirect = ""
        self.target = ""
        self.inverted = self.skipping = False
        self.blocks = 0
        self.groups: list[int] = []
        self.closed: int | None = None  # first command of the group that has just ended

    def take(self, token: _Token) -> None:
        if token.kind == "redirect":
            self.redirect = token.value
        elif token.kind == "word":
            self._word(token)
        elif token.value in {"(", ")"}:
            self._bracket(opens=token.value == "(")
        else:
            self._join(token.value)

    def finish(self) -> None:
        self._finish_command()

    def _word(self, token: _Token) -> None:
        if self.redirect:
            to_file = self.redirect in {">", ">>", ">|", "&>", "&>>", ">&"}
            if to_file and token.value not in _NO_FILE and not token.value.isdigit():
                self.target = token.value
            self.redirect = ""
        elif not self.words and token.value in _KEYWORDS:
            self._keyword(token.value)
        elif not self.skipping:
            self.start = token.start if not self.words else self.start
            self.end = token.end
            self.words.append(token.value)

    def _keyword(self, word: str) -> None:
        self.blocks = max(0, self.blocks + (word in _OPENS_BLOCK) - (word in _CLOSES_BLOCK))
        self.skipping = word in _NO_COMMAND
        self.inverted |= word == "!"
        if word == "{":
            self.groups.append(len(self.done))
        elif word == "}":
            self.closed = self.groups.pop() if self.groups else None

    def _bracket(self, *, opens: bool) -> None:
        if opens:
            self._finish_command()
            self.groups.append(len(self.done))
        elif self.groups:
            self._finish_command()
            self.closed = self.groups.pop()
        else:  # the pattern of a case branch
            self.skipping = False
            self._reset()

    def _join(self, operator: str) -> None:
        self._finish_command()
        self.skipping = False
        if operator in {"|", "|&"} and self.closed is not None:
            self.done[self.closed :] = [part._replace(hidden=True) for part in self.done[self.closed :]]
        self.closed = None
        # A newline after an operator continues it; "a && \n b" is one list.
        if operator != "\n" or self.joiner not in {"&&", "||", "|"}:
            self.joiner = _JOINERS.get(operator, ";") if self.done else ""

    def _finish_command(self) -> None:
        if self.words:
            part = SimpleCommand(
                text=self.text[self.start : self.end],
                words=tuple(self.words),
                joiner=self.joiner,
                target=self.target,
                hidden=self.blocks > 0 or self.inverted,
            )
            self.done.append(part)
            self.joiner = ";"
        self._reset()

    def _reset(self) -> None:
        self.words = []
        self.redirect = ""
        self.target = ""
        self.inverted = False
