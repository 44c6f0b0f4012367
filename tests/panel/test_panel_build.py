"""The panel's sources: their types hold, what is pure does what it should, and what ships was built from them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pi_daemon.daemon.panel import DIRECTORY, FILES
from tests.npm import installed
from tests.reference import REPOSITORY, reference

BUILT = {name for name, _ in FILES.values()}

PACKAGES = (
    *("vite@8.4.0", "rolldown@1.3.3", "lightningcss@1.33.0", "typescript@5.9", "@types/node@24"),
    *("preact@10.29.8", "@preact/signals@2.11.4", "@preact/signals-core@1.14.5", "@tanstack/virtual-core@3.19.11"),
    "vscode-jsonrpc@10.0.0",
)
"""Each by its exact version: other ones would make other bytes."""


def test_what_ships_is_small_and_says_nothing_of_where_it_was_made() -> None:
    assert {path.name for path in DIRECTORY.iterdir()} == BUILT
    texts = {name: (DIRECTORY / name).read_text() for name in BUILT}
    assert sum(map(len, texts.values())) < 250_000
    for text in texts.values():
        assert "sourceMappingURL" not in text
        assert not re.search(r"/(home|tmp|root|work|Users)/|node_modules|registry", text)
    page = texts["index.html"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:", page)


def test_no_source_makes_markup_of_a_text() -> None:
    """The page's policy (Trusted Types) would stop it too; Preact itself can, and isn't asked to."""
    unwanted = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|document\.write|\beval\(|new Function|DOMParser|srcdoc"
    )
    for path in (REPOSITORY / "clients" / "panel" / "src").rglob("*.ts*"):
        assert not unwanted.search(path.read_text()), path


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the clients with what the panel needs beside it."""
    modules = installed(*PACKAGES)
    directory = tmp_path_factory.mktemp("panel") / "clients"
    for client in ("panel", "typescript"):
        ignored = shutil.ignore_patterns("node_modules", "dist")
        shutil.copytree(REPOSITORY / "clients" / client, directory / client, ignore=ignored)
    (directory / "node_modules").symlink_to(modules)
    return directory / "panel"


def node(sources: Path, *arguments: str) -> str:
    command = [str(reference().node), "--no-warnings", *arguments]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_its_types_hold(sources: Path) -> None:
    node(sources, "../node_modules/typescript/bin/tsc", "-p", "tsconfig.json")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_what_is_pure(sources: Path) -> None:
    assert "# fail 0" in node(sources, "--test", "--test-reporter=tap", "test/pure.test.ts")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_building_it_again_gives_the_same_bytes(sources: Path) -> None:
    node(sources, "../node_modules/vite/bin/vite.js", "build", "--logLevel", "warn")
    built = sources.parents[1] / "pi_daemon" / "panel_files"
    assert {path.name for path in built.iterdir()} == BUILT
    for name in BUILT:
        same = (built / name).read_bytes() == (DIRECTORY / name).read_bytes()
        assert same, f"{name} is not what `npm install && npm run build` in clients/panel makes: run it"
