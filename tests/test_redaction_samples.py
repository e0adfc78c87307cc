"""How much gets past redaction, how much goes that should have stayed, and is what went reported without being told?"""

from __future__ import annotations

import base64
import json
import random
from typing import TYPE_CHECKING

import pytest

from growing import LINEAR, growth
from helix_cli.app import run
from helix_episodes.redaction import cuts_in, redact, redact_text, without_addresses, without_secrets
from helix_graph import Memory
from secret_samples import Sample, false_samples, hard_samples, true_samples
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script

TRUE = list(true_samples(rounds=2))


def is_gone(one: Sample) -> bool:
    return one.secret not in redact_text(one.text)


def test_no_sample_of_any_kind_gets_past() -> None:
    assert len({one.kind for one in TRUE}) > 20
    assert [(one.kind, one.text) for one in TRUE if not is_gone(one)] == []


def test_nothing_that_only_looks_like_it_is_cut() -> None:
    assert [one.text for one in false_samples(rounds=2) if redact(one.text).cuts] == []


def test_what_has_no_sign_stays_so_that_the_limits_page_is_true() -> None:
    assert [one.text for one in hard_samples() if is_gone(one)] == []


def test_redacting_a_sample_twice_changes_nothing() -> None:
    once = [redact_text(one.text) for one in TRUE[:: len(TRUE) // 60]]
    assert [text for text in once if redact_text(text) != text] == []


HOSTILE = {
    "pairs": "Server=x;Pwd=" * 80_000,
    "at signs": "://a:" + "b@" * 500_000,
    "many at signs": "://u:p@h:" * 110_000,
    "letters before an at": "a" * 1_000_000 + "@",
    "addresses": "a.b@c.d." * 125_000,
    "hosts": "x@" + "a." * 500_000,
    "oracle": "jdbc:oracle:thin:" * 60_000,
    "marks": "[redacted:" * 100_000,
    "quotes": "password='" * 100_000,
    "key blocks": ("-----BEGIN " + "PRIVATE KEY-----\n") * 33_000,
    "azure": "aaa8Q~" * 160_000,
    "a picture": base64.b64encode(random.Random(16).randbytes(750_000)).decode(),  # noqa: S311  (repeatable)
    "keys": "".join(f"{random.Random(at).randbytes(30).hex()[:20]}aB3 q7{at}Xy\n" for at in range(30_000)),  # noqa: S311
    "NUL": "\0" * 1_000_000,
    "half characters": "\ud83d" * 500_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_four_times_as_much_of_what_hurts_takes_four_times_as_long(text: str) -> None:
    def cut(part: str) -> None:
        without_addresses(part)
        redact(part)

    assert growth(cut, text) < LINEAR


@each_row(
    ("text", "left"),
    [
        ("ask kim.lee+x@example.co.uk, please", "ask [redacted:email], please"),
        ("Author: Kim <kim@example.com>", "Author: Kim <[redacted:email]>"),
        ("[kim](mailto:kim@example.com)", "[kim](mailto:[redacted:email])"),
        ("git clone git@github.com:acme/shop.git", "git clone git@github.com:acme/shop.git"),
        ("scp a kim@host.example.com:/srv", "scp a kim@host.example.com:/srv"),
        ("npm i @types/node@20.1.0 pkg@1.2.3", "npm i @types/node@20.1.0 pkg@1.2.3"),
        ("@pytest.fixture and a@b", "@pytest.fixture and a@b"),
        ("uses: actions/checkout@v4.main", "uses: actions/checkout@v4.main"),
    ],
)
def test_addresses_of_people_are_told_from_those_of_machines(text: str, left: str) -> None:
    assert without_addresses(text) == left
    assert without_addresses(left) == left


def a_session(script: Callable[..., Script]) -> Script:
    value = next(one.secret for one in TRUE if one.kind == "npm-token")
    work = script("s1").prompt("Publish it, kim@example.com wants it").write("shop/cart.py")
    return work.run(f"npm publish --registry https://x.org/{value}", f"npm ERR! {value} in /home/kim/x", code=1)


def test_the_report_says_kind_and_place_and_never_the_value(
    tmp_path: Path,
    script: Callable[..., Script],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = a_session(script).save(tmp_path / "logs")
    Memory.init(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(["episode", "extract", str(log), "--json", "--force"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["recorded"]
    assert {(cut["kind"], cut["place"]) for cut in one["cuts"]} >= {
        ("npm-token", "d002 action"),
        ("npm-token", "e001 evidence"),
        ("home", "e001 evidence"),
    }
    assert run(["episode", "extract", str(log), "--force", "-v"]) == 0
    shown = capsys.readouterr().out
    assert "s1" in shown
    assert "e001 evidence" in shown
    assert "npm_" not in shown + json.dumps(one)


def test_every_line_of_the_log_is_shown_in_one_column(
    tmp_path: Path,
    script: Callable[..., Script],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = a_session(script).save(tmp_path / "logs")
    strange = '{"type":"hologram"}\n\n{"type":"summary","leafUuid":"1"}\n{oops\n'
    log.write_text(log.read_text(encoding="utf-8") + strange, encoding="utf-8")
    Memory.init(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(["episode", "extract", str(log), "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["recorded"]
    counted = one["accounting"]
    assert (counted["lines"], counted["used"], counted["blank"], len(counted["bad"])) == (9, 5, 1, 1)
    assert (counted["skipped"], counted["unknown"]) == ({"summary": 1}, {"hologram": 1})
    assert run(["episode", "extract", str(log), "-v"]) == 0
    assert "1 summary          1 hologram" in capsys.readouterr().out


def test_strict_ends_with_one_and_writes_nothing(
    tmp_path: Path,
    script: Callable[..., Script],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log = a_session(script).save(tmp_path / "logs")
    log.write_text(log.read_text(encoding="utf-8") + '{"type":"hologram"}\n', encoding="utf-8")
    memory = Memory.init(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert run(["episode", "extract", str(log), "--strict"]) == 1
    assert f"{log}, line 6: a record of unknown type 'hologram'" in capsys.readouterr().err
    assert not memory.episodes.files()


@pytest.mark.parametrize("asked", [True, False])
def test_addresses_go_where_the_ignore_file_says_so(
    tmp_path: Path, script: Callable[..., Script], *, asked: bool
) -> None:
    memory = Memory.init(tmp_path)
    if asked:
        (memory.root / ".helixignore").write_text("cut: emails\n", encoding="utf-8")
    log = a_session(script).save(tmp_path / "logs")
    memory.extract([log])
    one = memory.episodes.require("s1")
    assert ("kim@example.com" in one.task) is not asked
    assert ("email" in {cut.kind for cut in cuts_in(one)}) is asked
    assert {quoted.result for quoted in memory.episodes.evidence("s1", log=log)} == {"found"}


# --- wherever in a text it stands: what comes before and behind holds signs by which the sieve looks, so that no place
# is the only one of its sign.

BEFORE = "see my-notes_v2.md: A = S.x ~ "
BEHIND = " - _old_ value: A-S.T=~"


def test_a_secret_goes_from_among_other_words_as_it_does_alone() -> None:
    found = [(one, without_secrets(f"{BEFORE}\n{one.text}\n{BEHIND}")) for one in true_samples(rounds=1)]
    assert found
    assert [(one.kind, text) for one, text in found if one.secret in text] == []


@pytest.mark.parametrize("beginning", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"])
def test_of_every_kind_of_github_token_a_beginning_is_enough(beginning: str) -> None:
    cut_off = beginning + "A1b2C3d4E5"
    assert redact_text(f"export TOKEN_OF={cut_off}") == "export TOKEN_OF=[redacted:github-token]"


@pytest.mark.parametrize("word", ["Bearer", "BEARER", "bearer"])
def test_capitals_hide_nothing(word: str) -> None:
    assert "abc123def456ghi" not in redact_text(f"{word} abc123def456ghi")
