r"""Pages and reports as files: templates that their content cannot break.

Every text that a template puts in is escaped by the template engine, in elements and in attributes alike; only
`markupsafe.Markup` is not. Characters that a screen obeys instead of showing them (controls, marks that turn the
direction of writing) are shown as boxes. In Markdown every character that Markdown or HTML would interpret is escaped,
and line breaks become blanks, so that no label begins a heading or closes a table.

The page of a memory has everything: style, script and data. Its content-security policy starts from
``default-src 'none'`` and names the only style and script that may run by their SHA-256, so even a browser that was
tricked into reading data as a script would not run it. The report has no script at all. The data is in *packs*, each
deflated and in Base64, in which no text of a log can end an element or be a tag; the page unpacks one when it is looked
at.

jinja2 takes 40 ms to load, so only what writes a page loads it.
"""

from __future__ import annotations

import base64
import hashlib
import re
import textwrap
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, TypeGuard

import helix_graph.web.report_text as say
from helix_graph.insights.safe_quoting import is_open_quotation
from helix_graph.quoted_answers import quoted_answer
from helix_graph.web.report_model import CitedEvidence, PeriodReport, rate_of

if TYPE_CHECKING:
    import jinja2


#: Marks that identify our pages and reports.
PAGE_MARK = '<meta name="generator" content="helix-graph view">'
REPORT_MARK = '<meta name="generator" content="helix-graph report">'
CARD_MARK = "<!-- helix-graph report -->"
#: In this order they make one script: each may use what those before it define.
_SCRIPTS = (
    *("elements.js", "words.js", "packs.js", "charts.js", "filters.js", "issues.js", "places.js", "rules.js"),
    *("sessions.js", "trace.js", "compare.js", "graph.js", "main.js"),
)
_ANSWER_SCRIPTS = ("elements.js", "words.js", "answer.js")
#: More makes the page a tenth smaller and takes three times as long.
_COMPRESSION = 6
#: As in the page of the memory (``static/elements.js``).
_OBEYED = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
#: What fits on a card.
_LONGEST_ON_CARD, _CARD_COLUMNS = 340, 86
#: The longest text in Markdown.
_LONGEST = 500
#: A forge looks for names in what is rendered, where an escape is gone; an empty comment still parts them.
_AT = re.compile(r"@(?=\w)")
_ADDRESS = re.compile(r"(\bwww(?=\.)|(?:https?|ftp)(?=://))", re.IGNORECASE)
_MARK_WITHIN = re.compile(r'(?<!\\)((?:\\\\)*)\\"')
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|~#&!])")


def visible(text: str) -> str:
    """A text with every character in it that cannot be seen shown as a box."""
    return _OBEYED.sub("\u25a1", text.replace("\r\n", "\n").replace("\r", "\n"))


def short(text: str, length: int) -> str:
    """A text on one line, cut to a length: behind a word where there is one near the end.

    >>> short("one   two three", 10), short("one-two-three", 9)
    ('one two…', 'one-two-…')
    """
    line = " ".join(visible(text).split())
    if len(line) <= length:
        return line
    kept = line[: length - 1]
    blank = kept.rfind(" ")
    return kept[: blank if blank > length / 2 else length] + "\u2026"


def plain(text: str) -> str:
    r"""A text of a log on one line, without a meaning in Markdown.

    Names after an ``@`` and addresses are kept from becoming a message to somebody and a link: a forge does so with
    bare ones too.

    >>> print(plain("a | <b>\n# [x](y)"))
    a \| \<b\> \# \[x\](y)
    >>> print(plain(r'"say \"now\" and go"'))
    "say 'now' and go"
    >>> print(plain("@fixture https://a.example www.b.example"))
    @<!-- -->fixture https\://a.example www\.b.example
    """
    # Who reads the text itself and not what is drawn of it would take an escaped mark for the end of its quotation.
    line = short(text, _LONGEST)
    line = _MARK_WITHIN.sub(r"\1'", f'{line}"' if is_open_quotation(line) else line)
    escaped = _MARKDOWN.sub(r"\\\1", line)
    return _AT.sub("@<!-- -->", _ADDRESS.sub(r"\1\\", escaped))


def page_html(title: str, packs: Mapping[str, bytes]) -> bytes:
    """The page as the bytes of an HTML file; the same content gives the same bytes."""
    return _rendered(
        "view.html.j2",
        shown=_in_html,
        **_drawn_by(_SCRIPTS, ("colours.css", "page.css")),
        mark=PAGE_MARK,
        title=f"{title} · helix-graph",
        packs=[(name, _packed(data)) for name, data in packs.items()],
    )


def answer_html() -> str:
    """The page on which a client shows an answer of a tool (MCP Apps): it draws what the client hands to it."""
    drawn_by = _drawn_by(_ANSWER_SCRIPTS, ("colours.css", "page.css", "answer.css"))
    return _rendered("answer.html.j2", shown=_in_html, **drawn_by, mark="").decode()


def _drawn_by(scripts: Iterable[str], styles: Iterable[str]) -> dict[str, str]:
    """The one script and the one style of a page, and the policy by which nothing else runs."""
    script = '"use strict";\n(() => {\n' + "\n".join(map(_static, scripts)) + "})();\n"
    style = "".join(map(_static, styles))
    policy = f"default-src 'none'; script-src {_hash_of(script)}; style-src {_hash_of(style)};"
    return {
        "policy": f"{policy} img-src data:; base-uri 'none'; form-action 'none'",
        "script": script,
        "style": style,
    }


def report_html(report: PeriodReport, *, pages: Mapping[str, str]) -> bytes:
    """The report as the bytes of an HTML file; ``pages`` are addresses of sessions on the memory's page, by episode."""
    style = _static("colours.css") + _static("report.css")
    sessions: dict[str, list[CitedEvidence]] = {}
    for one in report.evidence:
        sessions.setdefault(one.episode, []).append(one)
    return _rendered(
        "report.html.j2",
        shown=_in_html,
        policy=f"default-src 'none'; style-src {_hash_of(style)}; base-uri 'none'; form-action 'none'",
        mark=REPORT_MARK,
        style=style,
        report=report,
        pages=pages,
        evidence={one.number: one for one in report.evidence},
        sessions=[sorted(of, key=lambda one: (one.log, one.line or 0, one.number)) for of in sessions.values()],
    )


def report_markdown(report: PeriodReport) -> bytes:
    """The report as Markdown, which agents read as well: the words of others are quoted."""
    return _rendered("report.md.j2", shown=_in_markdown, report=quoted_answer(report).answer)


def report_card(report: PeriodReport) -> bytes:
    """The report as a card for a README: an SVG image with the period's counts and what stands out most."""
    rate, period = report.outcomes.period.rate if report.outcomes else rate_of(0, 0), report.outcomes
    first = report.highlights[0].text if report.highlights else say.NOTHING_STANDS_OUT
    figures = (
        ("sessions", f"{report.sessions:,}", f"of {report.sessions_in_all:,} in the memory"),
        ("succeeded", f"{rate.successes} of {rate.n}", "of those with a known outcome" if period else say.NO_DATE),
        ("errors seen fixed", f"{report.fixed.successes} of {report.fixed.n}", ""),
    )
    lines = textwrap.wrap(short(first, _LONGEST_ON_CARD), _CARD_COLUMNS)
    return _rendered("card.svg.j2", shown=_in_html, report=report, figures=figures, lines=lines)


def _rendered(name: str, *, shown: Callable[[object], object], **content: object) -> bytes:
    return _environment(shown).get_template(name).render(content).encode()


@cache
def _environment(shown: Callable[[object], object]) -> jinja2.Environment:
    """The templates' environment; ``shown`` is applied to whatever a template puts in, before it is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _text_of("templates", name)),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["short"] = short
    environment.globals.update(say=say, rate_of=rate_of)
    return environment


def _in_html(value: object) -> object:
    """What a template of HTML shows of a value; places in a drawing are numbers to a tenth: nobody sees more."""
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return visible(value) if _is_text(value) else value


def _in_markdown(value: object) -> object:
    """What a template of Markdown shows of a value: a text as `plain` text, which is not escaped for HTML as well."""
    from markupsafe import Markup

    return Markup(plain(value)) if _is_text(value) else value  # noqa: S704  (`plain` leaves no tag)


def _is_text(value: object) -> TypeGuard[str]:
    """Whether a value is text that is no markup of ours."""
    return isinstance(value, str) and not hasattr(value, "__html__")


def _packed(data: bytes) -> str:
    """Data as the page has it: raw deflate in Base64."""
    deflate = zlib.compressobj(_COMPRESSION, wbits=-zlib.MAX_WBITS)
    return base64.b64encode(deflate.compress(data) + deflate.flush()).decode()


def _hash_of(text: str) -> str:
    """A script or style sheet as a content-security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _static(name: str) -> str:
    return _text_of("static", name)


def _text_of(folder: str, name: str) -> str:
    return files("helix_graph.web").joinpath(folder, name).read_text(encoding="utf-8")
