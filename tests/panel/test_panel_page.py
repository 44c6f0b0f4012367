"""The panel in a browser: what it shows, with keys, in light and dark, narrow and wide."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.panel import sessions
from tests.panel.conftest import Shown

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SIZES = {"wide": (1360, 820), "middle": (900, 700), "narrow": (300, 700)}


def test_the_code_is_gone_from_the_address_and_a_reload_comes_back(shown: Shown) -> None:
    shown.open(sessions.talk())
    browser = shown.browser
    assert browser("url").endswith("/") and "#" not in browser("url")
    assert browser("evaluate", code="history.length") <= 2
    browser("reload")
    browser("wait", selector=".row.leaf")
    stored = browser("evaluate", code="JSON.stringify([{...sessionStorage}, {...localStorage}, document.cookie])")
    token = browser("evaluate", code="sessionStorage.getItem('pi-daemon.token')")
    assert stored.count(token) == 1 and '{}, ""' in stored.replace(",", ", ")
    shown.harmless()


def test_an_address_is_good_once(shown: Shown) -> None:
    url = shown.client.panel()["url"]
    shown.browser("open", url=url)
    shown.browser("wait", selector="button.session")
    shown.browser("open", url=url)
    shown.browser("wait", selector=".connection.refused")
    assert "pi-daemon panel" in shown.browser("text", selector=".connection")


def test_the_list_and_its_search(shown: Shown) -> None:
    talk = sessions.talk()
    fork = sessions.Writer("11111111-0000-4000-8000-000000000002", parent_session=str(talk.write(shown.home.sessions)))
    fork.lines += talk.lines[1:9]
    fork.write(shown.home.sessions)
    shown.open(talk)
    browser = shown.browser
    browser("press", key="/")
    browser("until", code="document.activeElement.classList.contains('search')")
    browser("type", text="why parser")
    browser("until", code="document.querySelectorAll('button.session').length === 2")
    browser("fill", selector=".search", text="faster")
    browser("until", code="document.querySelectorAll('button.session').length === 1")
    browser("fill", selector=".search", text="")
    sessions.hostile().write(shown.home.sessions)
    browser("reload")
    browser("wait", selector=".row.leaf")
    browser("until", code="document.querySelectorAll('select option').length === 3")
    browser("choose", selector="select", value="/home/me/project")
    browser("until", code="document.querySelectorAll('button.session').length === 2")
    browser("choose", selector="select", value="")
    browser("until", code="document.querySelectorAll('button.session').length === 3")
    browser("click", selector=".relations button")
    browser("wait", selector=".relations:has-text('Forked from')")
    assert browser("text", selector=".session-header h2") == "Why is the parser slow?"
    browser("click", selector=".relations button:has-text('A faster parser')")
    browser("wait", selector=".row.selected:has-text('edit: Edited')")
    shown.harmless()


def test_what_the_model_sees_is_lit_and_the_rest_says_why(shown: Shown) -> None:
    shown.open(sessions.talk())
    browser = shown.browser
    assert shown.rows()[0] == "5 entries folded away by a compaction, and 6 beside them"
    shown.focus()
    browser("press", key="*")
    browser("wait", selector=".row:has-text('Why is the parser slow?')")
    assert len(shown.rows()) == 20
    lit = browser("texts", selector=".row.lit .text")
    assert lit == [
        *("Then keep offsets", "I do it.", "bash: 12 passed", "plot: a chart", "Offsets are as fast as mmap."),
        *("Goal Make the parser fast.", "Now write the tests", "They are written, and pass."),
    ]
    titles = browser(
        "evaluate", code="[...document.querySelectorAll('.row.node:not(.lit)')].map(row => row.title.slice(0, 20))"
    )
    assert set(titles) == {"A compaction stands ", "It is on another bra"}
    assert browser("texts", selector=".row.leaf .text") == ["They are written, and pass."]
    assert browser("texts", selector=".chip.label") == ["dead end"]
    assert browser("texts", selector=".chip.branches") == ["3 branches"]
    assert browser("count", selector=".line.active") > 0
    shown.harmless()


def test_an_entry_in_full(shown: Shown) -> None:
    shown.open(sessions.talk())
    browser = shown.browser
    shown.focus()
    browser("press", key="*")
    browser("click", selector=".row:has-text('What I found')")
    browser("wait", selector=".markdown table")
    assert browser("texts", selector=".markdown th") == ["way", "time", "memory"]
    assert browser("text", selector=".markdown .heading") == "What I found"
    assert browser("texts", selector=".markdown strong") == ["each line twice"]
    assert browser("evaluate", code="document.querySelector('.markdown a').href") == "https://example.org/mmap"
    browser("click", selector=".row:has-text('edit: Edited')")
    browser("wait", selector=".diff .removed")
    browser("press", key="ArrowUp")
    browser("wait", selector=".call .diff")
    added = browser("texts", selector=".call .diff .added")
    assert [line.rstrip() for line in added] == ["+ def parse(view):", "+     return bytes(view)"]
    browser("click", selector=".row:has-text('plot: a chart')")
    browser("wait", selector="img.image")
    assert browser("evaluate", code="document.querySelector('img.image').naturalWidth") == 64
    shown.harmless()


def test_the_tree_with_keys_alone(shown: Shown) -> None:
    shown.open(sessions.talk())
    browser = shown.browser
    shown.focus()
    active = "document.activeElement.querySelector('.text').innerText"
    for key, there in [
        ("Home", "5 entries folded away by a compaction, and 6 beside them"),
        ("ArrowDown", "Then keep offsets"),
        ("j", "I do it."),
        ("ArrowLeft", "Then keep offsets"),
        ("ArrowLeft", "Then keep offsets"),
        ("ArrowDown", "Goal Make the parser fast."),
        ("k", "Then keep offsets"),
        ("ArrowRight", "Then keep offsets"),
        ("ArrowRight", "I do it."),
        ("End", "They are written, and pass."),
        ("PageUp", "5 entries folded away by a compaction, and 6 beside them"),
        ("ArrowRight", "5 entries stood for by a compaction, and 6 beside them"),
        ("]", "What I found The parser reads each line twice. Two ways to mend it: 1. keep the first pass, and note"),
        ("]", "Try mmap first"),
        ("g", "They are written, and pass."),
    ]:
        browser("press", key=key)
        browser("until", code=f"({active}).startsWith({there[:60]!r})")
        assert browser("count", selector=".row[tabindex='0']") == 1
    browser("press", key="Enter")
    browser("press", key="?")
    browser("wait", selector="dialog[open]")
    assert "fold or unfold" in browser("text", selector="dialog")
    browser("press", key="Escape")
    browser("wait", selector="dialog", state="detached")
    shown.harmless()


def test_roles(shown: Shown) -> None:
    shown.open(sessions.talk())
    browser = shown.browser
    shown.focus()
    browser("press", key="*")
    code = (
        "[...document.querySelectorAll('[role=tree] [role=treeitem]')].sort((a, b) => a.ariaPosInSet - b.ariaPosInSet)"
        ".map(row => [row.ariaLevel, row.ariaPosInSet, row.ariaSetSize, row.ariaExpanded, row.ariaSelected])"
    )
    items = browser("evaluate", code=code)
    assert [item[1] for item in items] == [str(number) for number in range(1, 21)]
    assert {item[2] for item in items} == {"20"}
    assert [item[0] for item in items[:7]] == ["1", "1", "2", "2", "2", "2", "3"]
    assert items[0][3] == items[1][3] == "true" and items[2][3] is None
    assert [item[4] for item in items].count("true") == 1


def test_two_branches_beside_each_other(shown: Shown) -> None:
    shown.open(sessions.talk())
    browser = shown.browser
    shown.focus()
    browser("press", key="*")
    browser("click", selector=".row:has-text('It crashes')")
    browser("press", key="c")
    browser("press", key="End")
    browser("press", key="c")
    browser("wait", selector=".compared")
    first, second = browser("texts", selector=".column h2")
    assert first.startswith("The first: 4 entries") and "active" in second and second.startswith("The second: 9")
    assert (
        browser("texts", selector=".column:first-child .compared-text")[-1] == "It crashes when the file is truncated."
    )
    assert browser("axe") == []
    browser("press", key="Escape")
    browser("wait", selector=".tree")
    shown.harmless()


def test_what_a_session_says_is_text(shown: Shown) -> None:
    shown.open(sessions.hostile())
    browser = shown.browser
    shown.focus()
    for key in ("*", "."):
        browser("press", key=key)
    browser("press", key="Home")
    total = int(browser("evaluate", code="document.querySelector('.row').ariaSetSize"))
    assert total == 19
    for _ in range(total):
        browser("until", code="document.querySelector('.content').childElementCount > 0")
        browser("press", key="ArrowDown")
    for element in ("script", "iframe", "b", "svg[onload]", "img", "object"):
        assert browser("count", selector=f"#panel {element}") == 0, element
    assert browser("evaluate", code="window.owned ?? null") is None
    assert any("<script>" in row for row in shown.rows())
    assert not any("\u202e" in text for text in browser("texts", selector="body"))
    assert browser("count", selector="a[href^='javascript']") == 0
    attributes = (
        "[...document.querySelectorAll('*')].flatMap(one => [...one.attributes]).filter(one => /^on/i.test(one.name))"
    )
    assert browser("evaluate", code=f"{attributes}.length") == 0
    shown.harmless()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_nobody_is_kept_out(shown: Shown, size: str, dark: bool, pictures: Path) -> None:
    """axe-core finds nothing, at each size, in each of the panes and dialogs."""
    width, height = SIZES[size]
    session = shown.open(sessions.talk(), width=width, height=height, dark=dark)
    shown.client.configure(session, context_window=20_000)
    browser = shown.browser
    browser("reload")
    browser("wait", selector=".meter")
    name = f"{size}-{'dark' if dark else 'light'}"
    shown.focus()
    for key in ("*", "Home", "j", "j"):
        browser("press", key=key)
    for pane, selector in (("tree", ".row"), ("entry", ".entry"), ("sessions", "button.session")):
        number = {"sessions": 1, "tree": 2, "entry": 3}[pane]
        if size != "wide":
            browser("click", selector=f".panes button:nth-child({number})")
        browser("wait", selector=selector)
        browser("screenshot", path=pictures / f"{name}-{pane}.png")
        assert browser("axe") == []
        assert browser("evaluate", code="document.documentElement.scrollWidth") <= width
    if size == "middle":
        return
    browser("evaluate", code="document.activeElement.blur()")
    for key in ("?", "K", "a", "r"):
        browser("press", key=key)
        browser("wait", selector="dialog[open]")
        browser("screenshot", path=pictures / f"{name}-dialog-{'help' if key == '?' else key}.png")
        assert browser("axe") == []
        browser("press", key="Escape")
        browser("wait", selector="dialog", state="detached")
        browser("evaluate", code="document.activeElement.blur()")
    shown.harmless()
