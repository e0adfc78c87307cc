"""What a person states of the work after it was done: does it read as trouble, whatever the words?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode
    from session_script import Script

    Begin = Callable[..., Script]
    Extracted = Callable[[Script], Episode]

PASSES = "===== 5 passed in 0.10s ====="
COMMITTED = "[main 1a2b3c4] x\n 1 file changed"
PUSHED = "To github.com:shop/shop.git\n   1a2b3c4..5d6e7f8  main -> main"
TASK = "Add a discount to the invoice page and export it as CSV"


def worked(script: Begin, name: str = "s") -> Script:
    return script(name).prompt(TASK).edit("shop/invoice.py").run("pytest", PASSES).say("Done: the invoice has it.")


def reported(episode: Episode) -> list[str]:
    return [event.content for event in episode.events if event.type == "error" and event.actor == "user"]


@pytest.mark.parametrize(
    "text",
    [
        # It persists.
        "it still flickers",
        "Still the old total here",
        "I still see two totals",
        # It is too much.
        "too slow.",
        "the export is way too big",
        "that takes too long",
        # It is not there, or does not happen.
        "I can't find the discount",
        "the discount doesn't show up",
        "nothing happens",
        "the totals aren't rounded",
        "the export no longer opens",
        "none of the rows has a date",
        # It shows an error, or goes wrong.
        "the page shows a 500",
        "hmm, now I get a 404",
        # It is one thing instead of another.
        "it prints 3 instead of 4",
        "the total should be rounded but it shows four digits",
        "it prints 3 but it should print 4",
        # It is not so, or is as it was.
        "it's not working",
        "that's not right",
        "it works in the browser but not in the export",
        # There are errors, or somebody complains of some.
        "one of the checks is failing",
        "commitlint fails on the title",
        # Once more than it should, or never.
        "the invoice is exported twice",
        "login button does nothing on safari",
        "the invoice page is blank",
        "the CSV is truncated, can you look?",
        "the export freezes",
        "same error here",
        "the problem persists",
        "there are lint errors",
        "there's a typo in the invoice",
        "we have a conflict with main",
        "settings are lost after the update",
        "something is off with the totals",
        "i'm getting conflicts",
        "the total is incomplete",
        "the button is invisible",
        "golangci-lint complains about the import",
        "the new rows dont load",
        "slide four never shows",
        "the labels are unreadable",
        "every second request gets a 401",
        "notebook cell 14 throws KeyError: 'region'",
        "11 failures with that",
        "umlauts are broken in the PDF",
        "the build crashes and there are conflicts",
        "clicking the button does nothing",
        "the export never finishes",
        "winget install fails on a new machine",
        "opening two invoices crashes the page",
    ],
)
def test_a_state_that_nobody_asked_for_is_a_report(script: Begin, episode_of: Extracted, text: str) -> None:
    episode = episode_of(worked(script).prompt(text))
    assert reported(episode) == [f"the user reports: {text.partition(', can')[0] if '?' not in text else text}"]
    assert (episode.outcome, episode.outcome_basis) == ("failure", "judged")


@pytest.mark.parametrize(
    "text",
    [
        "make the page faster",
        "does the page still load?",
        "is the export too slow?",
        "I still need the date on it",
        "I don't think we need the footer",
        "it doesn't need to be fast",
        "that doesn't matter for now",
        "please don't create a page for it",
        "use a map instead of a list",
        "if the page shows a 500, retry",
        "it should return an error when the total is negative",
        "so that it returns a clear error",
        "can it hang?",
        "it can hang when the network is down, consider a timeout",
        "the button should be blue",
        "now add the tax",
        "you can commit it",
        "I will take it from here",
        "great, the page is not empty any more, thanks",
        "it worked fine, thanks",
        "same thing for the other page",
        "it's not needed",
        "the old export still works",
        "the old page is included",
        "let's investigate the third one",
        "there are no errors now",
        "there are three issues I want you to look at",
        "there are two kinds of errors to report",
        "run the tests and fix whatever fails",
        "the job runs twice a week",
        "it does nothing by default",
        "login failed attempts go to the log",
        "they keep working on it, so use main",
        "removing the page breaks nothing, do it",
        "it is never nil here",
        "you broke nothing, good",
        "make sure that it never takes the wrong month",
        "the button should be blue but keep its border",
        "it failed yesterday, now it works",
    ],
)
def test_wishes_questions_and_conditions_are_none(script: Begin, episode_of: Extracted, text: str) -> None:
    assert reported(episode_of(worked(script).prompt(text))) == []


def test_before_any_work_and_in_long_documents_a_state_is_only_described(script: Begin, episode_of: Extracted) -> None:
    before = (
        script("s").prompt(TASK).call("Read", {"file_path": "/work/shop/a.py"}, output="x").prompt("it is too slow")
    )
    assert reported(episode_of(before.edit("shop/invoice.py"))) == []
    long = "The totals aren't rounded. " + "This paragraph describes the module in detail. " * 20
    assert reported(episode_of(worked(script, "t").prompt(long))) == []


def test_why_a_call_was_refused_is_said_of_that_call(script: Begin, episode_of: Extracted) -> None:
    log = worked(script).rejected("Bash", {"command": "pytest tests/all"}, "too slow.")
    episode = episode_of(log.say("Fine."))
    assert (reported(episode), episode.outcome) == ([], "success")


def test_what_passed_before_the_trouble_says_nothing_of_what_came_after(script: Begin, episode_of: Extracted) -> None:
    log = worked(script).prompt("the totals aren't rounded").edit("docs/invoice.md").say("Explained.")
    assert episode_of(log).outcome == "unknown"
    again = worked(script, "t").prompt("the totals aren't rounded").edit("shop/invoice.py").run("pytest", PASSES)
    assert (episode_of(again).outcome, episode_of(again).outcome_basis) == ("success", "measured")


@pytest.mark.parametrize(
    ("words", "basis"),
    [
        ("commit and push please", "judged"),
        ("Now commit this and update CHANGELOG.md", "judged"),
        ("commit it and then add the tax", None),
        ("push it, the totals are wrong though", None),
    ],
)
def test_a_request_to_commit_takes_no_praise_back(
    script: Begin, episode_of: Extracted, words: str, basis: str | None
) -> None:
    log = script("s").prompt(TASK).edit("shop/invoice.py").prompt("Great, thanks!").prompt(words)
    assert episode_of(log.run("git push", PUSHED)).outcome_basis == (basis or "none")


@pytest.mark.parametrize(
    ("command", "output", "rule"),
    [
        ("gh pr checks 7", "test\tpass\t1m\thttps://x/1\t\ndocs\tskipping\t0\thttps://x/2\t", "CI passes"),
        ("gh run watch 12 --exit-status", "JOBS\n\u2713 test in 1m (ID 3)\n  \u2713 Set up job", "CI passes"),
        ("gh run view 12 --json conclusion", '{"conclusion":"success"}', "CI passes"),
        ("gh pr merge 7 --squash", "\u2713 Squashed and merged pull request #7", "the pull request is merged"),
        ("gh pr view 7 --json state", '{"state":"MERGED"}', "the pull request is merged"),
        ("gh pr checks 7", "test\tpass\t1m\thttps://x/1\t\nlint\tpending\t0\thttps://x/2\t", None),
        ("gh run view 12 --json conclusion", '{"conclusion":"","status":"in_progress"}', None),
        ("gh pr view 7 --json state", '{"state":"OPEN"}', None),
        ("gh pr merge 7 --auto", "\u2713 Pull request #7 will be automatically merged", None),
    ],
)
def test_ci_and_a_merge_after_the_work_was_delivered_decide(
    script: Begin, episode_of: Extracted, command: str, output: str, rule: str | None
) -> None:
    log = script("s").prompt(TASK).edit("shop/invoice.py").run("git push", PUSHED).run(command, output)
    evidence = episode_of(log).outcome_evidence
    assert (evidence.rule if evidence else None) == rule
    assert rule is None or (evidence is not None and evidence.quote in output)
    # Somebody else's pull request, or work that went on.
    other = script("t").prompt(TASK).run(command, output).edit("shop/invoice.py")
    assert episode_of(other).outcome == "unknown"
    later = script("u").prompt(TASK).edit("shop/invoice.py").run("git push", PUSHED).run(command, output)
    assert episode_of(later.edit("shop/invoice.py")).outcome == "unknown"


def test_ci_that_passes_settles_what_had_failed_here(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt(TASK).edit("shop/invoice.py").run("pytest", "===== 1 failed in 0.1s =====", code=1)
    log = log.run("git commit --no-verify -am x", COMMITTED).run("git push --no-verify", PUSHED)
    assert episode_of(log).outcome == "failure"
    ci = script("t").prompt(TASK).edit("shop/invoice.py").run("pytest", "===== 1 failed in 0.1s =====", code=1)
    ci = ci.run("git push", PUSHED).run("gh pr checks", "test\tpass\t1m\thttps://x/1\t")
    assert episode_of(ci).outcome == "success"


RUN = """X main test \u00b7 12

JOBS
\u2713 lint in 9s (ID 3)
X nightly in 1m35s (ID 4)
  X Run cargo test
X done in 0s (ID 5)"""


@pytest.mark.parametrize(
    ("command", "printed", "code"),
    [
        (
            "gh pr checks 7",
            "done\tfail\t0\thttps://x/9\nnightly\tfail\t1m35s\thttps://x/1\nlint\tpass\t9s\thttps://x/2",
            1,
        ),
        ("gh run watch 12 --exit-status", "* main test \u00b7 12\n\nJOBS\nX early in 3s (ID 2)\n" + RUN, 1),
        ("gh run view 12", RUN, 0),
    ],
)
def test_a_job_of_ci_that_failed_is_called_by_its_name(
    script: Begin, episode_of: Extracted, command: str, printed: str, code: int
) -> None:
    (error,) = episode_of(script("s").prompt("CI?").run(command, printed, code=code)).events
    assert (error.content, error.check) == ("CI fails: nightly", "CI")


def test_the_same_job_is_the_same_issue_however_it_is_looked_at(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("CI?").run("gh pr checks 7", "nightly\tfail\t1m35s\thttps://x/1", code=1)
    events = episode_of(log.run("gh run view 12", RUN)).events
    assert len(events) == 2
    assert len({event.fingerprint for event in events}) == 1


def logged(job: str, *printed: str) -> str:
    """What ``gh run view --log`` prints of a job."""
    return "\n".join(f"{job}\tRun tests\t2026-03-04T05:06:07.1234567Z {line}" for line in printed)


FAILED_LOG = logged("unit", "cart.go:9:2: undefined: Total", "##[error]Process completed with exit code 2.")


@pytest.mark.parametrize(
    ("command", "printed", "said"),
    [
        ("gh run view 12 --log-failed", FAILED_LOG, "cart.go:9:2: undefined: Total"),
        # A search leaves lines out and may number the others.
        ("gh run view 12 --log | rg -n undefined", f"41:{FAILED_LOG.splitlines()[0]}", "undefined: Total"),
        (
            "gh run view 12 --log-failed 2>&1 | grep -i dirty",
            logged("unit", "\u2a2f release failed after 0s error=git is in a dirty state"),
            "release failed after 0s",
        ),
        (
            "gh run view 12 --log-failed",
            logged("unit", "compiling", "out of widgets", "##[error]Process completed with exit code 2."),
            "out of widgets",
        ),
        ("gh run view 12 --log-failed", logged("unit", "x", "##[error]No space for the cache"), "No space for"),
        # It was saved before.
        ("sed -n '1,9p' /tmp/job.log", FAILED_LOG, "undefined: Total"),
    ],
)
def test_the_log_of_a_failed_job_is_a_failure_of_that_job(
    script: Begin, episode_of: Extracted, command: str, printed: str, said: str
) -> None:
    (error,) = episode_of(script("s").prompt("CI?").run(command, printed)).events
    assert (error.content, error.check) == ("CI fails: unit", "CI")
    assert said in (error.message or "")


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        ("gh run view 12 --log", logged("unit", "compiling", "5 passed")),
        # Only how the job was set up, and the script of a step, shown before it runs.
        ("gh run view 12 --log-failed | head -2", logged("unit", "Current runner version", "\x1b[36;1m echo failed")),
        ("gh run view 12 --log-failed", "run 12 is still in progress"),
        ("cat build.log", FAILED_LOG.splitlines()[0]),
    ],
)
def test_a_log_that_shows_no_failure_is_none(script: Begin, episode_of: Extracted, command: str, printed: str) -> None:
    assert episode_of(script("s").prompt("CI?").run(command, printed)).events == ()


LOGGED_AGAIN = FAILED_LOG.replace(":07.1234567Z", ":09.7654321Z")
LISTED = "unit\tfail\t1m35s\thttps://x/actions/runs/12/job/77"


@pytest.mark.parametrize(
    ("looks", "lines"),
    [
        # Two parts of one log, read with two commands, with the number of the job alone too.
        (["gh run view 12 --log-failed", FAILED_LOG, "gh run view 12 --log | rg undefined", FAILED_LOG], {3, 5}),
        (["gh run view 12 --job 77 --log", FAILED_LOG, "gh api /r/x/actions/jobs/77/logs", LOGGED_AGAIN], {3, 5}),
        (["tail -n 9 /tmp/job.log", FAILED_LOG, "rg error /tmp/job.log", FAILED_LOG], {3, 5}),
        # Another run that fails with the same words, such as that of the push beside that of the pull request.
        (["gh run view 12 --log-failed", FAILED_LOG, "gh run view 13 --log-failed", LOGGED_AGAIN], {3, 5}),
        # The list of jobs, and then the log.
        (["gh pr checks 7", LISTED, "gh run view 12 --job 77 --log-failed", FAILED_LOG], {3, 5}),
        (["gh pr checks 7", LISTED, "gh pr checks 7", LISTED], {3, 5}),
    ],
)
def test_a_failure_of_ci_is_one_however_often_it_is_looked_at(
    script: Begin, episode_of: Extracted, looks: list[str], lines: set[int]
) -> None:
    command, printed, then, shown = looks
    (error,) = episode_of(script("s").prompt("CI?").run(command, printed).run(then, shown)).events
    assert error.evidence is not None
    # It came to light at the first look.
    assert (error.evidence.line, {error.evidence.line, *error.evidence.also}) == (min(lines), lines)
    assert ("undefined: Total" in (error.message or "")) == (FAILED_LOG in looks)


@pytest.mark.parametrize(
    "save",
    ["gh api /r/x/actions/jobs/77/logs > /tmp/job.log", "gh run view 12 --job 77 --log | tee /tmp/job.log | wc -l"],
)
def test_a_saved_log_is_that_of_the_job_whose_log_was_saved(script: Begin, episode_of: Extracted, save: str) -> None:
    log = (
        script("s")
        .prompt("CI?")
        .run("gh pr checks 7", LISTED, code=1)
        .run(save, "")
        .run("tail /tmp/job.log", FAILED_LOG)
    )
    # Another part of it has no time in common with the first.
    log.run("rg -n undefined /tmp/job.log", LOGGED_AGAIN.replace("Total", "Sum"))
    (error,) = episode_of(log).events
    assert error.evidence is not None
    assert (error.evidence.line, error.evidence.also) == (3, (7, 9))


@pytest.mark.parametrize("between", ["git push", "gh run rerun 12"])
def test_a_job_that_fails_again_after_a_push_or_another_start_is_a_failure_of_its_own(
    script: Begin, episode_of: Extracted, between: str
) -> None:
    log = script("s").prompt("CI?").run("gh run view 12 --log-failed", FAILED_LOG).run(between, PUSHED)
    events = episode_of(log.run("gh run view 12 --log-failed", LOGGED_AGAIN)).events
    assert [event.content for event in events if event.type == "error"] == ["CI fails: unit"] * 2


def test_two_failed_jobs_of_a_run_are_two_failures(script: Begin, episode_of: Extracted) -> None:
    lint = logged("lint", "a.go:1:1: x (errcheck)", "##[error]Process completed with exit code 1.")
    log = script("s").prompt("CI?").run("gh run view 12 --job 77 --log", FAILED_LOG)
    errors = episode_of(log.run("gh run view 12 --job 78 --log", lint.replace(":07.", ":09."))).events
    assert [error.content for error in errors] == ["CI fails: unit", "CI fails: lint"]


def job(name: str, took: str, number: int) -> str:
    return f"{name}\tfail\t{took}\thttps://x/actions/runs/12/job/{number}"


def test_the_jobs_of_a_list_are_failures_of_their_own_once_their_logs_are_read(
    script: Begin, episode_of: Extracted
) -> None:
    listed = "\n".join([job("unit", "1m35s", 77), job("lint", "40s", 78)])
    lint = logged("lint", "a.go:1:1: x (errcheck)", "##[error]Process completed with exit code 1.")
    log = script("s").prompt("CI?").run("gh pr checks 7", listed, code=1)
    (one,) = episode_of(log).events
    assert one.content == "CI fails: unit"
    log.run("gh run view 12 --job 78 --log", lint.replace(":07.", ":09.")).run(
        "gh run view 12 --log-failed", FAILED_LOG
    )
    errors = episode_of(log).events
    assert {(error.content, error.message) for error in errors} == {
        ("CI fails: unit", "cart.go:9:2: undefined: Total"),
        ("CI fails: lint", "a.go:1:1: x (errcheck)"),
    }
    assert {error.evidence.line for error in errors if error.evidence} == {3}


@pytest.mark.parametrize(
    ("later", "failed"),
    [
        # It gathers what became of the others.
        (job("all-green", "2s", 79), ["CI fails: unit"]),
        (job("lint", "40s", 78), ["CI fails: unit", "CI fails: lint"]),
    ],
)
def test_a_later_list_tells_only_of_the_jobs_that_failed_since(
    script: Begin, episode_of: Extracted, later: str, failed: list[str]
) -> None:
    log = script("s").prompt("CI?").run("gh pr checks 7", LISTED, code=1)
    events = episode_of(log.run("gh pr checks 7", f"{LISTED}\n{later}", code=1)).events
    assert [event.content for event in events] == failed


def test_a_log_that_does_not_name_its_job_is_that_of_the_job_of_its_number(
    script: Begin, episode_of: Extracted
) -> None:
    printed = (
        "2026-03-04T05:06:07.1Z out of widgets\n2026-03-04T05:06:08.1Z ##[error]Process completed with exit code 1."
    )
    log = script("s").prompt("CI?").run("gh pr checks 7", LISTED, code=1)
    (error,) = episode_of(log.run("gh api repos/x/y/actions/jobs/77/logs", printed)).events
    assert (error.content, error.message) == ("CI fails: unit", "out of widgets")


@pytest.mark.parametrize(
    "asked", ["why does CI fail?", "why is https://github.com/x/y/pull/7 failing", "CI failed, see the log"]
)
def test_what_ci_shows_is_what_a_person_asked_about(script: Begin, episode_of: Extracted, asked: str) -> None:
    lint = logged("lint", "a.go:1:1: x (errcheck)", "##[error]Process completed with exit code 1.")
    log = script("s").prompt(asked).run("gh run view 12 --job 77 --log", FAILED_LOG)
    errors = episode_of(log.run("gh run view 12 --job 78 --log", lint.replace(":07.", ":09."))).events
    assert [error.content for error in errors] == ["CI fails: unit", "CI fails: lint"]
    # It came to light by the person's words, and the logs say why.
    assert [(one.evidence.line, one.evidence.also) for one in errors if one.evidence] == [(1, (3,)), (1, (5,))]


def test_what_ci_shows_of_something_else_is_a_failure_of_its_own(script: Begin, episode_of: Extracted) -> None:
    log = script("s").prompt("why do I get an error on save?").run("gh run view 12 --log-failed", FAILED_LOG)
    assert [event.content for event in episode_of(log).events] == [
        "the user reports: why do I get an error on save?",
        "CI fails: unit",
    ]
    # What was pushed meanwhile was not asked about.
    log = script("p").prompt("why does CI fail?").edit("cart.go").run("git push", PUSHED)
    events = episode_of(log.run("gh run view 12 --log-failed", FAILED_LOG)).events
    assert [event.content for event in events if event.type == "error"] == [
        "the user reports: why does CI fail?",
        "CI fails: unit",
    ]


def test_a_script_that_npm_prints_is_not_why_a_job_failed(script: Begin, episode_of: Extracted) -> None:
    ended = "##[error]Process completed with exit code 1."
    printed = logged("unit", "> node -e \"throw 'error: no'\"", "Failed to publish the shop", ended)
    (error,) = episode_of(script("s").prompt("CI?").run("gh run view 12 --log-failed", printed)).events
    assert error.message == "Failed to publish the shop"


@pytest.mark.parametrize(
    "text",
    [
        "  \u2a2f release failed after 0s   error=git is in a dirty state",
        "Error: Process completed with exit code 1.",
        "all checks failed",
    ],
)
def test_a_first_prompt_that_shows_or_takes_for_granted_a_failure_reports_it(
    script: Begin, episode_of: Extracted, text: str
) -> None:
    assert len(reported(episode_of(script("s").prompt(text).edit("shop/invoice.py")))) == 1


@pytest.mark.parametrize(
    "text",
    [
        *("I still have issues to assign", "see the issues list", "print Error: Process failed"),
        *("We still have three open issues for the milestone", "we still have issue 17 and 18 to do"),
        *("Before we run into issues, add a limit", "I still have a problem understanding how the cache works"),
        *("we still hit the bug tracker on each start", "I have just lost the thread, summarize"),
        *("if we are unable to reach it, retry", "make sure that users who are unable to log in see why"),
        "Refuse what is wrong:\n\u2717 a name that failed the check\n- \u2717 no id: return an error",
    ],
)
def test_issues_that_are_tickets_report_nothing(script: Begin, episode_of: Extracted, text: str) -> None:
    assert reported(episode_of(script("s").prompt(text).edit("shop/invoice.py"))) == []
