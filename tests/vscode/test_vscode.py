"""The VS Code extension: its types hold, its own tests pass, it is packaged; and in a real VS Code it does what it
says. The latter behind PI_DAEMON_VSCODE=1: it wants a Chromium, and code-server, which compiles for minutes."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest
from pi_daemon_client import Client

from tests.daemon.home import Home, kill
from tests.vscode.conftest import Shown, npm_run
from tests.vscode.window import Window

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]  # the first run may have to fetch what it needs

real = pytest.mark.skipif(not os.environ.get("PI_DAEMON_VSCODE"), reason="a real VS Code: PI_DAEMON_VSCODE=1")

STATUS = '[id*="piSessions.status"]'


def test_its_types_hold(package: Path) -> None:
    npm_run(package, "check")


def test_its_own_tests_pass(package: Path) -> None:
    assert "fail 0" in npm_run(package, "test")


def test_the_package_holds_what_is_built_and_nothing_else(vsix: Path) -> None:
    with zipfile.ZipFile(vsix) as archive:
        names = {name for name in archive.namelist() if name.startswith("extension/")}
        program = archive.read("extension/dist/extension.cjs").decode()
    built = ("dist/extension.cjs", "dist/panel.css", "dist/panel.js")
    assert names == {f"extension/{name}" for name in ("package.json", "readme.md", *built, "media/icon.svg")}
    assert "sourceMappingURL" not in program


@real
def test_the_tree_is_shown_with_its_leaf_path_and_labels(shown: Shown, editor: Window, other: Client) -> None:
    other.label(shown.id, shown.two, "works")
    shown.see("branch, Make it two., label works, on another branch")
    shown.see("user, Make it three., on the active path")
    assert any(row.startswith(shown.name) and row.endswith("shown") for row in editor.labels('[role="treeitem"]'))


@real
def test_another_clients_changes_show_and_close_nothing(shown: Shown, editor: Window, other: Client) -> None:
    editor.click(f"{shown.row('branch, Make it two.')} .monaco-tl-twistie")
    shown.see("user, Make it two.")
    shown.user("Make it four.")
    shown.see("user, Make it four., the leaf")
    other.move_leaf(shown.id, shown.answer)
    shown.see("It prints one., the leaf")
    shown.see("user, Make it two.")
    editor.see('.statusbar-item:has-text("other moved the leaf")')
    other.rename(shown.id, f"{shown.name} renamed")
    editor.see(f'[role="treeitem"][aria-label^="{shown.name} renamed,"]')


@real
def test_the_leaf_is_revealed_and_the_focus_stays(shown: Shown, editor: Window, other: Client) -> None:
    editor.press("F1")
    editor.see(".quick-input-widget input")
    other.move_leaf(shown.id, shown.two)
    shown.see("Now it prints two., the leaf")
    assert "input" in editor.step("focused")
    editor.press("Escape")


@real
def test_the_status_bar_tells_the_tokens_and_when_to_compact(shown: Shown, editor: Window, other: Client) -> None:
    other.label(shown.id, shown.three, "third")
    editor.see(f"{STATUS}:has-text('third 920 1%')")
    assert "warning" not in editor.step("attributes", selector=STATUS, name="class")[0]
    shown.model("Much.", tokens=90_000)
    editor.see(f"{STATUS}.warning-kind:has-text('90.0k 90%'):has-text('compact')")


@real
def test_a_menu_moves_the_leaf_and_a_command_goes_on_from_the_selection(shown: Shown, editor: Window) -> None:
    shown.menu("branch, Make it two.", "Move the Leaf Here")
    shown.see("Now it prints two., the leaf")
    assert shown.leaf == shown.two
    editor.click(shown.row(f"user, {shown.question}"))
    editor.see('.tab:has-text("Entry ")')
    editor.command("pi sessions: Move the Leaf Here")
    shown.see(f"{shown.question}, the leaf")


@real
def test_a_message_is_edited_anew(shown: Shown, editor: Window, other: Client) -> None:
    shown.menu("user, Make it three.", "Edit the Message Anew")
    shown.see("It prints one., the leaf")
    editor.see('.tab.active:has-text("Untitled")')
    editor.see('.view-line:has-text("Make it three.")')
    editor.press("Control+End")
    editor.type(" Or four.")
    editor.click('.editor-actions [aria-label^="Append the Edited Message"]')
    shown.see("user, Make it three. Or four., the leaf")
    entry = other.entries(shown.id, ids=[shown.leaf or ""])["entries"][0]
    assert entry["message"]["content"] == "Make it three. Or four."
    editor.step("wait", selector='.tab:has-text("Untitled")', state="detached")


@real
def test_an_entry_is_labelled_omitted_and_explained(shown: Shown, editor: Window, other: Client) -> None:
    shown.menu("Now it prints three.", "Label the Entry")
    editor.see(".quick-input-widget input")
    editor.type("mine")
    editor.press("Enter")
    shown.see("Now it prints three., label mine")
    shown.menu("user, Make it three.", "Omit from the Model")
    editor.see('.notification-toast:has-text("doesn\'t see")')
    other.rename(shown.id, f"{shown.name} once more")
    editor.see(f'.pane-header:has-text("{shown.name} once more")')  # the tree is read by now
    shown.menu("user, Make it three.", "Why the Model Knows It")
    editor.see('.notification-toast:has-text("It is omitted by the context edit")')
    editor.step("hover", selector='.pane-header:has-text("Branches")')
    editor.click('.pane-header .action-label[aria-label^="What the Model Sees"]')
    editor.see('.tab.active:has-text("What the model sees")')
    editor.see('.view-line:has-text("3 messages")')
    shown.user("One more.")
    editor.see('.view-line:has-text("4 messages")')
    editor.command("Notifications: Clear All Notifications")


@real
def test_a_fork_is_shown_at_once(shown: Shown, editor: Window, other: Client) -> None:
    shown.menu("branch, Make it two.", "Fork a New Session Here")
    shown.see("Now it prints two., the leaf")
    editor.step("wait", selector=shown.row("Make it three."), state="detached")
    editor.command("Notifications: Clear All Notifications")


@real
def test_compacting_asks_the_editors_model_and_tells_what_its_summary_kept(
    shown: Shown, editor: Window, other: Client
) -> None:
    shown.user("Never touch b.py. " + "Long words. " * 12_000)
    shown.model("I won't.", tokens=40_000)
    shown.user("Go on.")
    shown.model("Gone on.", tokens=40_100)
    shown.see("Gone on., the leaf")
    editor.command("pi sessions: Compact")
    editor.see('.monaco-dialog-box:has-text("written by: client")')
    editor.click('.monaco-dialog-box .monaco-button:text-is("Compact")')
    editor.see('.tab.active:has-text("Compacted")')
    editor.see('.view-line:has-text("tests/parrot")')
    editor.see('.view-line:has-text("of the facts")')
    summary = other.entries(shown.id, ids=[shown.leaf or ""])["entries"][0]["summary"]
    assert "The parrot has heard the conversation." in summary
    shown.see("compaction")
    editor.command("Notifications: Clear All Notifications")


@real
def test_what_was_said_is_found(shown: Shown, editor: Window, other: Client) -> None:
    shown.model("The word is zebrafinch.")
    while not other.search("zebrafinch")["hits"]:
        pass  # it is indexed in a moment
    editor.command("pi sessions: Search All Sessions")
    editor.see('.quick-input-widget input[placeholder^="Words"]')
    editor.type("zebrafinch")
    editor.see('.quick-input-list [role="option"]:has-text("zebrafinch")')
    editor.press("Enter")
    editor.see('.tab:has-text("Entry ")')
    editor.see('.view-line:has-text("The word is zebrafinch.")')


@real
def test_a_session_file_has_an_outline_and_lenses(shown: Shown, editor: Window) -> None:
    editor.command("pi sessions: Open the Session's File")
    editor.see('.codelens-decoration:has-text("fork here")')
    editor.press("Control+Shift+O")
    editor.see('.quick-input-list [role="option"]:has-text("Now it prints three.")')
    editor.press("Escape")
    editor.click('.codelens-decoration a:has-text("move the leaf here")')
    shown.see(f"{shown.question}, the leaf")


@real
def test_the_panel_shows_the_same_session_and_follows_it(shown: Shown, editor: Window, other: Client) -> None:
    editor.command("pi sessions: Show the Panel")
    editor.step("wait", selector=f'[role="treeitem"]:has-text("{shown.question}")', inside=True)
    shown.user("Make it five.")
    editor.step("wait", selector='[role="treeitem"]:has-text("Make it five.")', inside=True)
    later = Shown(other, editor, Path(other.open_session(shown.id)["cwd"]))
    editor.click(f'[role="treeitem"][aria-label^="{later.name},"]')
    editor.step("wait", selector=f'[role="treeitem"]:has-text("{later.question}")', inside=True)
    editor.command("View: Toggle Panel")


@real
def test_a_daemon_that_is_killed_is_joined_again(shown: Shown, editor: Window, home: Home, other: Client) -> None:
    kill(home.pid)
    shown.user("Still here?")
    shown.see("user, Still here?, the leaf")


@real
def test_a_deleted_session_is_told_of(shown: Shown, editor: Window, home: Home, other: Client) -> None:
    path = Path(next(one for one in other.iter_sessions() if one["sessionId"] == shown.id)["path"] or "")
    path.unlink()
    editor.see('.pane:has-text("The session was deleted")')
    editor.step("wait", selector=f'[role="treeitem"][aria-label^="{shown.name},"]', state="detached")
