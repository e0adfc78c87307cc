"""What many sessions say together, and how far to trust it.

``patterns``, ``anti-patterns``, ``comparisons``, ``claims``, ``without``, ``placebo`` and ``repeats``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from helix_cli.app import open_for_question, open_memory
from helix_cli.output import count, fields, json_option, percent, points, prints, say, show, table, warn_of_more
from helix_cli.terminal import Part, verdict
from helix_graph.graph.mentions import of_several
from helix_graph.graph.patterns import (
    AT_EACH_LOOK,
    NOTHING_TO_COMPARE,
    POWER_AT,
    RUN_LEVELS,
    RUN_STANDINGS,
    Effect,
    EffectReport,
    Pattern,
    StepCounts,
)

if TYPE_CHECKING:
    from helix_graph.causality.check_patterns import ReadableRows
    from helix_graph.causality.contrast import OutcomeRate, WithoutAnswer
    from helix_graph.causality.edge_support import ClaimReport
    from helix_graph.causality.effects import Placebo
    from helix_graph.causality.pattern_survey import Survey
    from helix_graph.causality.repeated_errors import Repeats
    from helix_graph.stats.intervals import Interval


_PATTERN_COLUMNS = (
    "says", "succeeded", "rate", "95 %", "without it", "adjusted", "q", "in the situation", "doing", "success means",
)  # fmt: skip
_NUMBERS = _PATTERN_COLUMNS[1:7]
all_option = click.option(
    "--all", "everything", is_flag=True, help="Show every row, including rows that are too early."
)


@click.command
@click.option("--min-success-rate", type=float, default=0.0, show_default=True, help="From 0 to 1.")
@click.option("--min-occurrences", type=int, default=1, show_default=True, help="From 1 to 1000 uses.")
@all_option
@json_option
def patterns(*, min_success_rate: float, min_occurrences: int, everything: bool, as_json: bool) -> None:
    """Show what was done in a situation and how often it worked."""
    survey = open_for_question().causality.survey()
    found = survey.best(min_success_rate=min_success_rate, min_occurrences=min_occurrences)
    show(found, as_json=as_json, render=lambda rows: render_patterns(rows, survey, works=None if everything else True))


@click.command("anti-patterns")
@click.option("--max-success-rate", type=float, default=0.3, show_default=True, help="From 0 to 1.")
@click.option(
    "--evidence",
    type=click.Choice(["associated"]),
    help="Only patterns that stay associated with failure after comparing similar sessions.",
)
@all_option
@json_option
def anti_patterns(*, max_success_rate: float, evidence: str | None, everything: bool, as_json: bool) -> None:
    """Show changes and answers that rarely worked."""
    survey = open_for_question().causality.survey()
    found = survey.worst(max_success_rate=max_success_rate, evidence=evidence)
    show(found, as_json=as_json, render=lambda rows: render_patterns(rows, survey, works=None if everything else False))


def render_patterns(found: Sequence[Pattern], survey: Survey, *, works: bool | None) -> None:
    """Print one row per pattern: what is said of it, its counts, then what they are about.

    ``works`` chooses the rows worth reading of those that work (or fail); with None every row is printed.
    """
    from helix_graph.causality.check_patterns import readable

    chosen = None if works is None else readable(found, works=works, tools=survey.tools)
    rows = found if chosen is None else chosen.rows
    table(
        _PATTERN_COLUMNS,
        [_pattern_row(one) for one in rows],
        numbers=_NUMBERS,
        empty="None yet.",
    )
    say()
    named = [one for one in rows if one.where and (len(one.where) > 1 or of_several(one.action) == one.action)]
    if named:
        say("The files that rows count, or their folders, where these are at most three:")
    for one in named:
        say(f"  {one.trigger}, {of_several(one.action)}: {', '.join(one.where)}")
    for line in _notes(rows, survey, chosen):
        say(line)


def _notes(found: Sequence[Pattern], survey: Survey, chosen: ReadableRows | None) -> list[str]:
    """What a reader has to know to read the rows right."""
    notes = [MEANING_OF_RUNS] if any(one.level in RUN_LEVELS for one in found) else []
    if chosen is None or not notes or chosen.too_early or any(one.effect for one in found):
        notes.append(_compared(survey))
    strengths = [one.effect.e_value for one in found if one.effect and one.standing == "associated"]
    weakest = min((each for each in strengths if each is not None), default=None)
    if strengths:
        enough = f" Tied to both by a risk ratio of {weakest:.1f}, it would explain the weakest row." if weakest else ""
        notes.append(f"{NOT_TESTED}{enough}")
    notes += [meaning for said, meaning in MEANINGS.items() if any(one.standing == said for one in found)]
    if chosen is None and any(one.too_early for one in found):
        notes.append('"Too early" rows have fewer than 10 uses; the counts are exact, but too small for a rate.')
    if survey.shared:
        notes.append(
            f"{count(survey.shared, 'session')} came with the repository or from the team: what they count is shown "
            'apart, as "shared".'
        )
    if survey.silenced:
        sessions = count(max(survey.silenced.values()), "session")
        notes.append(
            f"In {sessions} an edit silenced a check (noqa, nolint, skip and the like), which repairs nothing."
        )
    if chosen is not None and chosen.too_early:
        hidden = f"{count(chosen.too_early, 'row')} about outcomes of sessions hidden"
        notes.append(f"{hidden}: not compared (--all shows them).")
    return notes


#: What is counted in rows of runs, and what they do not say.
MEANING_OF_RUNS = (
    "Rows of checks count runs: after a change only fresh ones (the check's first run, or after one that passed). "
    '"Without it" is the same check\'s other runs. "Passed more" and "failed more" compare the two. '
    "These are counts, not explanations."
)


def _compared(survey: Survey) -> str:
    if survey.too_early:
        return f"Too early to compare: {survey.too_early}."
    if not survey.tested:
        return f"Nothing to compare: {NOTHING_TO_COMPARE}."
    return (
        f"{count(survey.tested, 'comparison')} over {count(survey.compared, 'judged session')}; adjusted: the "
        "difference in success rate (percentage points) between similar sessions with and without the step."
        f"{_power(survey.power)}{_copies(survey.copies)}"
    )


def _power(power: float | None) -> str:
    """How much these sessions could show at all, in a sentence; nothing where nothing is compared."""
    if power is None:
        return ""
    found = 100 * power
    shown = "fewer than 1" if found < 1 else f"about {found:.0f}"
    return f" With these sessions {shown} of 100 true differences of {100 * POWER_AT:.0f} points would be associated."


def _copies(copies: int) -> str:
    if not copies:
        return ""
    are = "is a copy" if copies == 1 else "are copies"
    return f" {count(copies, 'session')} that {are} of another {'does' if copies == 1 else 'do'} not count."


def _shared(one: Pattern) -> str:
    """What shared sessions add to the counts, or that the counts are theirs."""
    if one.shared:
        return " (shared)"
    return f" (shared: {one.shared_successes} of {one.shared_occurrences})" if one.shared_occurrences else ""


def _pattern_row(one: Pattern) -> tuple[Part, ...]:
    if one.interval is None:  # added by a person: there is nothing to count
        rate = percent(one.success_rate) if one.measured else "not measured"
        counts = f"{one.occurrences} x"
        return verdict(one.standing), counts, rate, "-", "-", "-", "-", one.trigger, of_several(one.action), one.basis
    interval = f"{one.interval.low:.0%}-{one.interval.high:.0%}".replace("%-", "-").replace("%", " %")
    hidden = one.too_early or one.standing in RUN_STANDINGS
    rate, spread = ("-", "-") if hidden else (percent(one.success_rate), interval)
    without = f"{percent(one.base_rate)} of {one.base_n}" if one.base_n else "-"
    counts = f"{one.successes} of {one.occurrences}{_shared(one)}"
    adjusted, q = "-", "-"
    if one.effect:
        adjusted, q = f"{points(one.effect.difference)} ({span(one.effect.interval)})", f"{one.effect.q:.2f}"
    doing = of_several(one.action, one.where if len(one.where) == 1 else ())
    return verdict(one.standing), counts, rate, spread, without, adjusted, q, of_several(one.trigger), doing, one.basis


#: Nothing that sessions show rules these out: `comparisons.md` says how far each was measured.
NOT_TESTED = (
    "Associated is a correlation and not tested: both may go with something else, such as a harder task, and a step "
    "may itself follow a failure."
)


#: What falls short of associated, and why.
MEANINGS = {
    "provisional": (
        f"Provisional: it stands out at this look, but with q above {AT_EACH_LOOK} (less where so few sessions "
        "could show little), or not in the newer half of them. Repeated looks find such rows by chance."
    ),
    "comes last": "Comes last: mostly done at the end of a session, so it may be done because of how the "
    "session went. It is not compared.",
}


def span(interval: Interval) -> str:
    """The differences that the sessions are compatible with, in points of a hundred."""
    return f"{points(interval.low)} to {points(interval.high)}"


_STATUSES = ("supported", "contradicted", "asserted")
_ROWS_SHOWN = 20
_LAST_SHOWN = 5
_EFFECT_COLUMNS = ("adjusted", "range", "newer half", "q", "with", "without", "in the situation", "doing", "says")
_CLAIM_COLUMNS = ("status", "said in", "adjusted", "range", "q", "from", "logs say", "to", "logs also say")


def _render_effects(found: EffectReport) -> None:
    if found.too_early:
        say(f"Too early: {found.too_early}.")
    elif not found.effects:
        say(f"Nothing to compare: {NOTHING_TO_COMPARE}.")
    if found.last:
        say(f"Not compared, since mostly done at the end, perhaps because of how it went: {_last(found.last)}.")
        say()
    if not found.effects:
        return
    shown = found.effects[:_ROWS_SHOWN]
    table(_EFFECT_COLUMNS, [_effect_row(one) for one in shown], numbers=_EFFECT_COLUMNS[:6])
    say()
    say(
        f"{count(found.tested, 'comparison')} over {count(found.trials, 'judged session')}; adjusted: the success rate "
        "with it minus the rate without, in percentage points, among similar tasks after similar steps; range: 95 %, "
        "wider for rows that stand out; newer half: the same in the newer sessions; q: of rows up to this one, the "
        "share expected to be chance."
        f"{_power(found.power)}{_copies(found.copies)} {NOT_TESTED}"
    )
    for said, meaning in MEANINGS.items():
        if any(one.verdict == said for one in shown):
            say(meaning)
    if found.repeated:
        say(f"Left out: {count(found.repeated, 'sequence')} whose last step is notable by itself.")
    warn_of_more(len(found.effects) - len(shown), "comparison")


def _last(steps: Sequence[StepCounts]) -> str:
    """The steps that come last, with the successes of sessions with and without each."""
    shown = [
        f"{f'{one.trigger}, ' if one.kind == 'sequence' else ''}{one.action} ({one.successes} of {one.uses} succeeded, "
        f"without it {one.successes_of_others} of {one.others})"
        for one in steps[:_LAST_SHOWN]
    ]
    more = [f"{len(steps) - _LAST_SHOWN} more"] if len(steps) > _LAST_SHOWN else []
    return ", ".join(shown + more)


@click.command
@prints(_render_effects)
def comparisons() -> EffectReport:
    """Compare similar tasks: what goes with success and failure?"""
    return open_memory().causality.comparisons()


@click.command
@click.option("--status", type=click.Choice(_STATUSES), help="Only edges of this status.")
@json_option
def claims(*, status: str | None, as_json: bool) -> None:
    """Check the links that logs state against all sessions."""
    found = open_memory().causality.claims(status=status)
    show(found, as_json=as_json, render=lambda report: _render_claims(report, status=status))


def _render_without(found: WithoutAnswer) -> None:
    alike = (
        "-" if found.comparable is None else f"{percent(found.comparable)} (over {count(found.compared, 'session')})"
    )
    rows = [
        ("step", found.label),
        ("sessions with it", _rate(found.with_it)),
        ("sessions without it", _rate(found.without_it)),
        ("… on the same mix of tasks", alike),
    ]
    if found.effect:
        adjusted = f"{points(found.effect.difference)} ({span(found.effect.interval)}), {found.effect.verdict}"
        rows.append(("adjusted difference", adjusted))
    fields(rows)
    if found.not_compared:
        say()
        say(f"No comparison: {found.not_compared}. The rates above may differ by chance alone.")
    if found.alternatives:
        say()
        table(
            ("succeeded", "answer instead", "to", "success means"),
            [(_rate(one.rate), one.action, one.trigger, one.basis) for one in found.alternatives[:_ROWS_SHOWN]],
        )


@click.command
@click.argument("label")
@prints(_render_without)
def without(*, label: str) -> WithoutAnswer:
    """Show how comparable sessions went without a step."""
    return open_memory().causality.without(label)


def _render_placebo(found: Placebo) -> None:
    if found.too_early:
        say(f"Too early: {found.too_early}.")
    elif not found.tested:
        say(f"Nothing to compare: {NOTHING_TO_COMPARE}.")
    if not found.tested:
        return
    shuffles = f"on average over {count(found.rounds, 'shuffle')}"
    table(
        ("rule", "with the real outcomes", f"with shuffled ones, {shuffles}"),
        [
            ("adjusted comparisons called associated", str(found.found), f"{found.found_in_noise:.1f}"),
            ("plain success rate at most 30 %", str(found.plain), f"{found.plain_in_noise:.1f}"),
        ],
    )
    say()
    say(
        f"{count(found.tested, 'comparison')} over {count(found.trials, 'judged session')}. Shuffled outcomes have "
        "nothing to do with what was done; the adjusted rule found anything in "
        f"{percent(found.any_in_noise)} of the shuffles."
    )


@click.command
@click.option("--rounds", type=int, default=20, show_default=True, help="How often to shuffle, 1 to 1000.")
@prints(_render_placebo)
def placebo(*, rounds: int) -> Placebo:
    """Show how much comparisons find in shuffled outcomes."""
    return open_memory().causality.placebo(rounds=rounds)


def _effect_row(one: Effect) -> tuple[Part, ...]:
    with_it, without_it = f"{one.successes} of {one.uses}", f"{one.successes_of_others} of {one.others}"
    return (
        points(one.difference),
        span(one.interval),
        "-" if one.newer is None else points(one.newer),
        f"{one.q:.2f}",
        with_it,
        without_it,
        one.trigger,
        one.action,
        verdict(one.verdict),
    )


def _render_claims(found: ClaimReport, *, status: str | None) -> None:
    rows = []
    for one in found.claims[:_ROWS_SHOWN]:
        figures = "-", "-", "-"
        if one.effect:
            figures = points(one.effect.difference), span(one.effect.interval), f"{one.effect.q:.2f}"
        sessions = count(one.episodes, "session")
        also = "; ".join(f"{each.source} {each.type} {each.target} ({each.episodes})" for each in one.also) or "-"
        rows.append((verdict(one.status), sessions, *figures, one.source, one.type, one.target, also))
    nothing = f"None that is {status}." if status else "No link could be compared yet."
    table(_CLAIM_COLUMNS, rows, numbers=_CLAIM_COLUMNS[1:5], empty=nothing)
    say()
    for line in _claim_notes(found):
        say(line)
    warn_of_more(len(found.claims) - len(rows), "edge", advice="--json has all, --status chooses")


def _claim_notes(found: ClaimReport) -> Iterator[str]:
    """What was compared, what the statuses do not mean, and what was not looked at."""
    if found.too_early:
        yield f"Too early to compare: {found.too_early}."
    else:
        yield f"{count(found.tested, 'edge')} compared over {count(found.sessions, 'session')}."
    if any(one.effect for one in found.claims):
        yield (
            "Adjusted: how much more often the second occurs with the first than without it, in percentage points, "
            "among similar tasks after similar steps; q: of rows up to this one, the share expected to be chance. "
            "Supported: the sessions agree with the log; contradicted: they do not; asserted: too few to tell. "
            f"{NOT_TESTED}"
        )
    for reason, number in found.left_out.items():
        yield f"Not looked at: {count(number, 'edge')} {reason}."


def _rate(rate: OutcomeRate) -> str:
    if not rate.sessions:
        return "none judged"
    share = rate.successes / rate.sessions
    interval = f"{percent(rate.interval.low)} to {percent(rate.interval.high)}"
    return f"{rate.successes} of {rate.sessions} ({percent(share)}, {interval})"


_REPEAT_COLUMNS = ("month", "errors", "same error", "fixed", "same kind", "fixed", "same check only")


def _render_repeats(found: Repeats) -> None:
    total = found.total
    if not total.errors:
        say("No dated session had an error.")
        return
    say(
        f"Of {count(total.errors, 'error')}, {total.met_again} ({percent(total.met_again / total.errors)}) had "
        f"occurred in an earlier session, as the same error or kind; {total.fixed_before} of these had been fixed "
        f"there. For {total.met['check']} more only the same check had failed before."
    )
    say()
    rows = []
    for month, one in found.months.items():
        met, fixed = one.met, one.fixed
        numbers = one.errors, met["exact"], fixed["exact"], met["family"], fixed["family"], met["check"]
        rows.append((month, *map(str, numbers)))
    table(_REPEAT_COLUMNS, rows, numbers=_REPEAT_COLUMNS[1:])
    if found.undated:
        are = "is" if found.undated == 1 else "are"
        say()
        say(f"{count(found.undated, 'session')} without a date {are} not in these counts.")


@click.command
@prints(_render_repeats)
def repeats() -> Repeats:
    """Show how many errors had occurred and been fixed before."""
    return open_memory().causality.repeats()
