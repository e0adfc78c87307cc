"""Answers with a page, in clients that show pages (MCP Apps): only for them, drawn from the values, text as ever."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest

from browser import PATIENCE
from helix_cli.mcp.protocol import ANSWER_KEY, ANSWER_PAGE, MODERN, VERSION_KEY, Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from helix_graph import Memory

APPS = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}}
NO_APPS: tuple[Any, ...] = (
    {},
    None,
    {"extensions": None},
    {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/uri-list"]}}},
    {"extensions": {"io.modelcontextprotocol/ui": True}},
)


class Client:
    """A client of one era, with what it says of itself."""

    def __init__(self, capabilities: object, *, handshake: bool) -> None:
        self._server = Server("all")
        self._meta: dict[str, Any] = {}
        if handshake:
            self.ask("initialize", protocolVersion="2025-11-25", capabilities=capabilities)
        else:
            self._meta = {VERSION_KEY: MODERN, "io.modelcontextprotocol/clientCapabilities": capabilities}

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": self._meta}}
        answer = self._server.answer(message, print)
        assert answer is not None
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, name: str, **arguments: object) -> dict[str, Any]:
        return self.ask("tools/call", name=name, arguments=arguments)


@pytest.fixture(autouse=True)
def in_shop(shop: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELIX_DIR", str(shop.root))


@pytest.mark.everyday
@pytest.mark.parametrize("handshake", [True, False], ids=["handshake", "modern"])
def test_a_client_that_shows_pages_gets_them(shop: Memory, *, handshake: bool) -> None:
    client = Client(APPS, handshake=handshake)
    tools = client.ask("tools/list")["tools"]
    with_page = {one["name"]: one["_meta"]["ui"]["resourceUri"] for one in tools if "_meta" in one}
    assert with_page == {"issues": ANSWER_PAGE, "explain": ANSWER_PAGE}
    answer = client.call("issues", limit=2)
    assert answer["_meta"][ANSWER_KEY]["kind"] == "IssueList"
    issues = answer["_meta"][ANSWER_KEY]["value"]["issues"]
    assert [one["id"] for one in issues] == [one.id for one in shop.issues.list(limit=2).issues]
    (page,) = client.ask("resources/read", uri=ANSWER_PAGE)["contents"]
    assert page["mimeType"] == "text/html;profile=mcp-app"
    assert ANSWER_KEY not in client.call("issues", id="zebra").get("_meta", {})


@pytest.mark.parametrize("capabilities", NO_APPS)
@pytest.mark.parametrize("handshake", [True, False], ids=["handshake", "modern"])
def test_no_other_client_pays(capabilities: object, *, handshake: bool) -> None:
    client, shown = Client(capabilities, handshake=handshake), Client(APPS, handshake=handshake)
    assert not any("_meta" in one for one in client.ask("tools/list")["tools"])
    answer = client.call("issues", limit=2)
    assert ANSWER_KEY not in answer.get("_meta", {})
    assert answer["content"] == shown.call("issues", limit=2)["content"]


#: A client that shows a page as the extension has it: in a frame without rights, by messages alone.
HOST = """<!doctype html><meta charset="utf-8"><title>client</title>
<iframe sandbox="allow-scripts" width="WIDTH" height="900" style="border:0"></iframe>
<script>
const frame = document.querySelector("iframe"), ANSWERS = DATA;
const send = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
window.sizes = [];
addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  const greeting = { protocolVersion: "2026-01-26", hostCapabilities: { serverTools: {} } };
  if (data.method === "ui/initialize") send({ id: data.id, result: { ...greeting, hostContext: { theme: "SCHEME" } } });
  if (data.method === "ui/notifications/initialized") {
    send({ method: "ui/notifications/tool-input", params: { arguments: {} } });
    send({ method: "ui/notifications/tool-result", params: ANSWERS.first });
  }
  if (data.method === "ui/notifications/size-changed") window.sizes.push(data.params.height);
  if (data.method === "tools/call") send({ id: data.id, result: ANSWERS[data.params.arguments.id] });
});
frame.srcdoc = PAGE;
</script>"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 700, "height": 920})
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


def show(page: Page, folder: Path, answers: dict[str, Any], *, scheme: Literal["light", "dark"] = "light") -> list[str]:
    """Shows the first answer as a client would; what the page complains about."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    (document,) = Client(APPS, handshake=True).ask("resources/read", uri=ANSWER_PAGE)["contents"]
    host = HOST.replace("SCHEME", scheme).replace("WIDTH", "640")
    for name, value in (("DATA", answers), ("PAGE", document["text"])):
        host = host.replace(name, json.dumps(value).replace("</", "<\\/"))
    (folder / "client.html").write_text(host, encoding="utf-8")
    page.goto((folder / "client.html").as_uri())
    page.frame_locator("iframe").locator("body[data-ready]").wait_for()
    return complaints


def test_an_issue_is_opened_from_the_list_and_left_again(shop: Memory, page: Page, tmp_path: Path) -> None:
    client = Client(APPS, handshake=True)
    first = next(one for one in shop.issues.list(limit=5).issues if one.remedy and one.remedy.diff)
    answers = {"first": client.call("issues", limit=5), first.id: client.call("issues", id=first.id)}
    complaints = show(page, tmp_path, answers)
    frame = page.frame_locator("iframe")
    assert first.title in frame.locator("ol.rows").inner_text()
    assert f"{first.sessions} of {shop.graph.status().episodes} sessions" in frame.locator("ol.rows").inner_text()
    frame.get_by_role("button", name=first.title).first.click()
    frame.locator("article h1").wait_for()
    assert frame.locator("article h1").inner_text().startswith(first.title)
    assert first.remedy is not None
    assert first.remedy.diff[0][1:].strip() in frame.locator(".diff").first.inner_text()
    frame.get_by_role("button", name="All issues").click()
    assert frame.locator("ol.rows > li").count() == 5
    assert page.evaluate("window.sizes.length") > 0
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_session_is_explained_and_axe_finds_nothing(
    shop: Memory, page: Page, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    failed = shop.episodes.list(outcome="failure")[0].session
    complaints = show(
        page, tmp_path, {"first": Client(APPS, handshake=True).call("explain", episode=failed)}, scheme=scheme
    )
    text = page.frame_locator("iframe").locator("main").inner_text()
    found = shop.causality.explain(failed)
    assert text.startswith("Why it failed")
    assert found.suspects[0].chosen in text
    assert found.reading[0].quote in text
    assert complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    frame = page.frames[1]
    response = axe.Axe().run(frame, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}).response
    broken = {one["id"]: [node["html"][:120] for node in one["nodes"]] for one in response["violations"]}
    assert broken == {}


def test_without_values_the_text_is_shown_as_text(page: Page, tmp_path: Path) -> None:
    answer = {"content": [{"type": "text", "text": "No issue <img src=x onerror=alert(1)>"}], "isError": True}
    complaints = show(page, tmp_path, {"first": answer})
    assert page.frame_locator("iframe").locator("pre").inner_text() == "No issue <img src=x onerror=alert(1)>"
    assert complaints == []
