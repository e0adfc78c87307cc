"""Do Chinese, Japanese and Korean phrases find their insight, topic and decision where there is no model?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.model import Action, Decision, Episode, Evidence
from helix_episodes.store import encode_episode
from helix_graph import Memory

if TYPE_CHECKING:
    from pathlib import Path

#: Texts as people write them, without blanks between words or with endings on them, each with phrases out of it.
TEXTS = {
    "chinese": ("数据库连接池耗尽时先检查慢查询日志、再调整最大连接数", ("连接池", "慢查询", "数据库日志", "池")),
    "japanese": (
        "テストが失敗したら、まず設定ファイルの文字コードを確認する",
        ("文字コード", "設定ファイル", "失敗した"),
    ),
    "korean": ("배포하기 전에 캐시를 비우지 않으면 오래된 페이지가 보인다", ("캐시", "오래된 페이지", "배포")),
}
OTHERS = (
    "请求超时以后重试三次、每次等待的时间加倍、最后报告错误",
    "画像の読み込みが遅いときは幅を半分にする",
    "로그인 화면의 글꼴을 바꾸고 나서 색을 다시 확인한다",
    "Run the tests before the push",
)
QUESTIONS = [(text, phrase) for text, phrases in TEXTS.values() for phrase in phrases]


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    root: Path = tmp_path_factory.mktemp("memory")
    (root / "episodes").mkdir()
    memory = Memory(root)
    for number, text in enumerate((*OTHERS, *(text for text, _ in TEXTS.values()))):
        memory.insights.store(text)
        memory.topics.store("notes", text)
        decision = Decision(
            id="d001",
            timestamp=None,
            type="design",
            context="",
            chosen=text,
            rationale="",
            action=Action(verb="choose", object="it"),
            evidence=Evidence(line=1, quote=text),
        )
        episode = Episode(
            id=f"episode-{number}",
            session=str(number),
            timestamp=f"2026-03-0{number + 1}T10:00:00Z",
            task="work",
            outcome="success",
            outcome_basis="measured",
            decisions=(decision,),
        )
        (root / "episodes" / f"{episode.id}.json").write_bytes(encode_episode(episode))
    memory.graph.compile()
    return memory


@pytest.mark.parametrize(("text", "phrase"), QUESTIONS)
def test_a_phrase_finds_its_insight_alone(memory: Memory, text: str, phrase: str) -> None:
    assert [hit["content"] for hit in memory.insights.recall(phrase, semantic=False)] == [text]


@pytest.mark.parametrize(("text", "phrase"), QUESTIONS)
def test_a_phrase_finds_its_topic_alone(memory: Memory, text: str, phrase: str) -> None:
    answer = memory.topics.search(phrase, detail="full")
    assert [hit.entry.text for hit in answer.hits] == [text]


@pytest.mark.parametrize(("text", "phrase"), QUESTIONS)
def test_a_phrase_finds_its_decision_alone(memory: Memory, text: str, phrase: str) -> None:
    assert [one.chosen for one in memory.causality.similar(phrase).decisions] == [text]


def test_a_phrase_of_words_that_no_text_has_finds_nothing(memory: Memory) -> None:
    assert memory.insights.recall("宇宙飛行士", semantic=False) == []
    assert memory.topics.search("宇宙飛行士").total == 0
    assert memory.causality.similar("宇宙飛行士").decisions == ()
