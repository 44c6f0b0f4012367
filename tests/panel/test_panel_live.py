"""The panel while others work on the session: another client, pi, a daemon that is killed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.daemon.home import kill
from tests.panel import sessions
from tests.panel.conftest import Shown
from tests.storage.pi import Pi

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SELECTED = "document.querySelector('.row.selected .text').innerText"
PLACE = (
    "(() => { const tree = document.querySelector('.tree'), top = tree.getBoundingClientRect().top;"
    "const first = [...document.querySelectorAll('.row')].map(row => [row.getBoundingClientRect().top - top, row])"
    ".filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0])[0];"
    "return [first[0], first[1].dataset.key] })()"
)


def said(text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "content": text, "timestamp": 1}}


def row(text: str) -> str:
    return f".row:has-text('{text}')"


def test_what_another_client_does_shows(shown: Shown) -> None:
    talk = sessions.talk()
    session = shown.open(talk)
    browser, client = shown.browser, shown.client
    client.append(session, [said("from the editor")])
    browser("wait", selector=f"{row('from the editor')}.leaf")
    target = next(line["id"] for line in talk.lines if line.get("message", {}).get("content") == "Then keep offsets")
    client.move_leaf(session, target)
    browser("wait", selector=f"{row('Then keep offsets')}.leaf:has-text('another editor')")
    assert "another editor moved the leaf" in browser("text", selector=".notice")
    client.label(session, target, "good start")
    browser("wait", selector=".chip.label:has-text('good start')")
    client.label(session, target, None)
    browser("wait", selector=".chip.label:has-text('good start')", state="detached")
    client.rename(session, "Renamed elsewhere")
    browser("wait", selector=".session-header h2:has-text('Renamed elsewhere')")
    shown.harmless()


def test_what_pi_appends_shows(shown: Shown) -> None:
    talk = sessions.talk("22222222-0000-4000-8000-000000000001")
    path = talk.write(shown.home.sessions)
    shown.open(talk.id)
    pi = Pi(shown.home.directory)
    try:
        pi("open", path=path)
        message = {"role": "user", "content": "typed into pi", "timestamp": 1}
        pi("append", path=path, calls=[["appendMessage", message]])
        shown.browser("wait", selector=f"{row('typed into pi')}.leaf")
        pi("append", path=path, calls=[["appendSessionInfo", "Named by pi"]])
        shown.browser("wait", selector=".session-header h2:has-text('Named by pi')")
    finally:
        pi.close()
    shown.harmless()


def test_scroll_and_selection_stay(shown: Shown) -> None:
    session = shown.open(sessions.long(250, "22222222-0000-4000-8000-000000000002", branch_every=50))
    browser, client = shown.browser, shown.client
    shown.focus()
    browser("press", key="Home")
    for _ in range(30):
        browser("press", key="ArrowDown")
    browser("until", code=f"{SELECTED}.startsWith('Question 30')")
    browser("evaluate", code="document.querySelector('.tree').scrollTop += 7")
    before = browser("evaluate", code=PLACE)
    parent = client.whole_tree(session)["nodes"][8]["id"]
    client.append(session, [said(f"appended {number}") for number in range(20)])
    client.append(session, [said("above, on another branch")], parent_id=parent)
    browser("until", code="document.querySelector('.row').ariaSetSize >= 270")
    browser("wait", selector=".to-leaf")
    assert browser("evaluate", code=PLACE)[1] == before[1]
    assert abs(browser("evaluate", code=PLACE)[0] - before[0]) <= 1
    assert shown.selected().startswith("Question 30")
    assert browser("evaluate", code="document.activeElement.dataset.key") == browser(
        "evaluate", code="document.querySelector('.row.selected').dataset.key"
    )
    browser("click", selector=".to-leaf")
    browser("wait", selector=f"{row('above, on another branch')}.leaf.selected")
    shown.harmless()


def test_at_the_end_it_follows(shown: Shown) -> None:
    session = shown.open(sessions.long(100, "22222222-0000-4000-8000-000000000003"))
    for number in range(5):
        shown.client.append(session, [said(f"new {number}")])
        shown.browser("wait", selector=f"{row(f'new {number}')}.leaf")
    end = "(tree => tree.scrollTop + tree.clientHeight >= tree.scrollHeight - 1)(document.querySelector('.tree'))"
    assert shown.browser("evaluate", code=end) is True
    assert shown.selected() == "That leads nowhere."


def test_actions(shown: Shown) -> None:
    talk = sessions.talk("22222222-0000-4000-8000-000000000004")
    session = shown.open(talk)
    browser, client = shown.browser, shown.client
    shown.focus()

    browser("click", selector=row("Then keep offsets"))
    browser("press", key="m")
    browser("wait", selector=f"{row('Then keep offsets')}.leaf")
    assert client.path(session)["leafId"] == browser(
        "evaluate", code="document.querySelector('.row.selected').dataset.key"
    )
    browser("click", selector=".notice button:has-text('Back')")
    browser("wait", selector=f"{row('They are written')}.leaf")

    browser("click", selector=row("Then keep offsets"))
    browser("press", key="e")
    browser("wait", selector="dialog textarea")
    assert browser("evaluate", code="document.querySelector('textarea').value") == "Then keep offsets"
    browser("fill", selector="dialog textarea", text="Then keep offsets, please")
    browser("click", selector="dialog button:has-text('Copy')")
    browser("wait", selector=".notice:has-text('Copied')")
    assert browser("evaluate", code="navigator.clipboard.readText()") == "Then keep offsets, please"
    browser("click", selector="dialog button.primary")
    browser("wait", selector=f"{row('Then keep offsets, please')}.leaf.selected")

    browser("press", key="l")
    browser("wait", selector="dialog input")
    browser("fill", selector="dialog input", text="polite")
    browser("press", key="Enter")
    browser("wait", selector=".row .chip.label:has-text('polite')")

    browser("press", key="o")
    browser("wait", selector=f"{row('Then keep offsets, please')}:not(.lit)")
    browser("wait", selector=".reason:has-text('left out by an edit')")
    sent = client.context(session)["messages"]
    assert not any(message.get("content") == "Then keep offsets, please" for message in sent)

    file = browser("download", selector=".toolbar button:has-text('Export')")
    assert file["name"] == "A faster parser.md" and "Then keep offsets, please" in file["text"]

    browser("press", key="r")
    browser("wait", selector="dialog input")
    browser("fill", selector="dialog input", text="A polite parser")
    browser("press", key="Enter")
    browser("wait", selector="button.session:has-text('A polite parser')")

    browser("click", selector=row("Then keep offsets, please"))
    browser("click", selector=".actions button:has-text('Fork')")
    browser("wait", selector=".relations:has-text('Forked from')")
    assert len([one for one in client.iter_sessions() if one["parentSession"]]) == 1
    shown.harmless()


def test_a_compaction_with_what_it_kept(shown: Shown) -> None:
    long = sessions.long(60, "22222222-0000-4000-8000-000000000005")
    session = shown.open(long)
    browser = shown.browser
    shown.client.configure(session, context_window=30_000, keep_recent_tokens=1_000, reserve_tokens=2_000)
    browser("reload")
    browser("wait", selector=".meter")
    assert "of 30k tokens" in browser("text", selector=".meter-words")
    shown.focus()
    browser("press", key="K")
    browser("wait", selector="dialog textarea")
    browser("fill", selector="dialog textarea", text="the files")
    browser("click", selector="dialog button.primary")
    browser("wait", selector="dialog:has-text('Compacted')")
    told = browser("text", selector="dialog")
    assert "the summary held" in told and "tokens before" in told
    browser("press", key="Escape")
    browser("wait", selector=".row.cover:has-text('folded away by a compaction')")
    shown.client.append(session, [said("and more about src/file.py")])
    shown.client.compact(session, keep_recent_tokens=100, summary="We talked about files.")
    browser("wait", selector=".notice:has-text('another editor compacted the session')")
    browser("click", selector=".notice button:has-text('What it kept')")
    browser("wait", selector="dialog:has-text('It lacked')")
    browser("press", key="Escape")
    shown.harmless()


def test_a_move_with_a_summary(shown: Shown) -> None:
    shown.open(sessions.talk("22222222-0000-4000-8000-000000000006"))
    browser = shown.browser
    shown.focus()
    browser("click", selector=row("Then keep offsets"))
    browser("press", key="M")
    browser("wait", selector="dialog input[type=text]")
    browser("fill", selector="dialog input[type=text]", text="second try")
    browser("click", selector="dialog button.primary")
    browser("wait", selector=".row.leaf:has-text('summary'):has-text('second try')")
    shown.harmless()


def test_a_daemon_that_is_killed_does_no_harm(shown: Shown) -> None:
    session = shown.open(sessions.talk("22222222-0000-4000-8000-000000000007"))
    browser = shown.browser
    shown.focus()
    browser("press", key="Home")
    browser("press", key="ArrowDown")
    assert shown.selected() == "Then keep offsets"
    shown.command.send_signal(19)  # who would start another daemon at once
    try:
        kill(shown.home.pid)
        browser("wait", selector=".connection.lost")
        assert "lost" in browser("text", selector=".connection")
        assert shown.selected() == "Then keep offsets"
        browser("press", key="ArrowDown")
        assert browser("axe") == []
    finally:
        shown.command.send_signal(18)
    browser("wait", selector=".connection.there", state="attached")
    shown.client.append(session, [said("after the crash")])
    browser("wait", selector=f"{row('after the crash')}.leaf")
    assert shown.selected() == "I do it."
    browser("press", key="a")
    browser("wait", selector="dialog textarea")
    browser("fill", selector="dialog textarea", text="said in the panel")
    browser("click", selector="dialog button.primary")
    browser("wait", selector=f"{row('said in the panel')}.leaf")


def test_a_daemon_that_does_not_know_the_page(shown: Shown) -> None:
    shown.open(sessions.talk("22222222-0000-4000-8000-00000000000a"))
    kept = shown.home.socket.with_name("daemon.sock.panel")
    shown.command.send_signal(19)
    try:
        kill(shown.home.pid)
        shown.browser("wait", selector=".connection.lost")
        known = json.loads(kept.read_bytes())
        kept.write_text(json.dumps({**known, "pages": {"0" * 64: max(known["pages"].values())}}))
    finally:
        shown.command.send_signal(18)
    shown.browser("wait", selector=".connection.refused")
    assert "pi-daemon panel" in shown.browser("text", selector=".connection")
    assert shown.browser("count", selector=".row.leaf") == 1


def test_a_session_that_goes_and_one_that_is_damaged(shown: Shown) -> None:
    talk = sessions.talk("22222222-0000-4000-8000-000000000008")
    path = talk.write(shown.home.sessions)
    shown.open(talk.id)
    browser = shown.browser
    path.unlink()
    browser("wait", selector=".notice:has-text('file is gone')")
    lines = path.with_name(path.name.replace("0008", "0009"))
    talk.id = talk.id.replace("0008", "0009")
    talk.lines[0]["id"] = talk.id
    written = talk.write(shown.home.sessions)
    assert written == lines
    data = written.read_bytes().splitlines(keepends=True)
    written.write_bytes(b"".join([*data[:3], b"{broken\n", *data[4:]]))
    browser("open", url=shown.client.panel(talk.id)["url"])
    browser("click", selector="button:has-text('Show what can be read')")
    browser("wait", selector=".row.leaf")
    assert "damaged" in browser("text", selector=".session-header .bad")
