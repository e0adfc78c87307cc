"""Does a sentence of a person say that the work fails, that it is good, or neither?"""

from __future__ import annotations

import pytest

from helix_episodes.extraction.user_reports import report_in, verdict_in
from whole_tables import each_row

FAILING = [
    "Looks good but the tests fail",
    "Both jobs crash at step 3",
    "I changed the assertion and now I get an AssertionError",
    "The test that I added fails",
    "I think that the build fails",
    "No, that is not what I said",
    "I see that it crashes",
    "I get a TypeError when I click save",
    "The tests fail on CI",
    "bad, revert",
    "We are getting a KeyError in the importer",
    "I'm getting a NullPointerException on startup",
    "When I click save I get a TypeError",
    "If I open the page I get an error",
    "I still get an exception in the log",
    "Two of the tests fail on my laptop",
    "All the builds fail now",
    "They still fail",
    "These specs crash on macOS",
    "Unfortunately the tests still fail",
    "Great, but it crashes on startup",
    "It works locally but fails on the server",
    "Compiles fine, but it hangs after a minute",
    "Thanks, but this still fails",
    "Still the same problem",
    "That did not work",
    "it does not compile",
    "This is still broken",
    "That's wrong",
    "No, that is not what I asked",
    "Wrong, revert",
    "nope, undo",
    "please revert that",
    "The build fails with exit code 3",
    "It doesn't help and the tests fail",
]

NO_FAILURE = [
    "The tests fail because of the missing variable, that's expected",
    "When the tests fail we want a red banner",
    "Please add a handler so the server returns a 500 if the database is down",
    "That isn't wrong, but could be nicer",
    "I got 400 items",
    "Show me the errors you get",
    "Why do the tests fail?",
    "Make tests fail",
    "It used to crash before",
    "Rename the test which fails",
    "Add an option where the server crashes",
    "I don't think that is wrong",
    "I do not believe it is broken",
    "I don't see why that is wrong",
    "Nobody says that this is wrong",
    "I get no errors any more",
    "I see no failures",
    "I no longer get a TypeError",
    "We are not seeing errors now",
    "It no longer fails",
    "The tests never fail here",
    "No tests fail",
    "None of the tests fail",
    "The build doesn't crash",
    "I got an error at first but now it works",
    "The tests failed before my change but they pass now",
    "The test fails, but that is expected",
    "Can you explain why it fails when the cart is empty?",
    "Explain why the tests fail without a network",
    "Could you describe how it crashes?",
    "I want to understand why this test fails",
    "What happens when the tests fail?",
    "Do the tests fail on CI?",
    "Does the page still show a 500 error?",
    "Now add a test for the case in which I get a TypeError",
    "Now add a retry so that the requests never fail",
    "Make the tests fail first",
    "Write a test that fails on windows",
    "Add a page that shows a 500 error",
    "Fix the tests that fail on CI",
    "The handler should return an error for an empty cart",
    "Show an error when the name is missing",
    "Return a 404 if there is no such user",
    "If the tests fail, stop",
    "If I get a TypeError, I will tell you",
    "Tell me when the build fails",
    "Make sure it still shows an error for wrong input",
    "Use the same error for both",
    "Same thing for the cart, please",
    "Do the same result type in cart.py",
    "no worries, thanks",
    "no problem, go on",
    "Bad requests are counted by the proxy",
    "In the other session you said that it does not work",
    "You told me that the tests fail",
    'The readme says "it does not work on windows"',
    "> it still fails",
    "`it does not work` is the old text of the label",
    "Rename it to the last error",
    "The width is now 500 pixels",
    "How do I revert that?",
]

ACCEPTING = [
    "Ok, ship it",
    "ship it",
    "great, thanks",
    "it works now",
    "Great job!",
    "tests are green. nice",
    "Excellent",
]


def _says(text: str) -> str | None:
    verdict = verdict_in(text)
    return verdict or ("rejects" if report_in(text) else None)


@each_row("text", FAILING)
def test_a_sentence_that_tells_of_failing_work(text: str) -> None:
    assert _says(text) in {"rejects", "takes back"}


@each_row("text", NO_FAILURE)
def test_a_sentence_that_tells_of_no_failing_work(text: str) -> None:
    assert _says(text) not in {"rejects", "takes back"}


@pytest.mark.parametrize("text", ACCEPTING)
def test_a_sentence_that_accepts(text: str) -> None:
    assert _says(text) == "accepts"


def test_code_and_quotations_are_nobodys_verdict() -> None:
    assert _says("Look:\n```\nI get a TypeError\nsame error\n```\nAdd a test for it.") is None
    assert _says("The ticket:\n> The tests fail on CI\n\nPlease answer it.") is None
