"""What a resumed session can no longer take for granted: its active path against the world as it is."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from pi_daemon.compaction.shown.claims import Claim, claims
from pi_daemon.compaction.shown.elsewhere import Elsewhere
from pi_daemon.compaction.shown.evidence import Evidence
from pi_daemon.compaction.shown.places import sound
from pi_daemon.engine.findings import calls, needs, place, repository
from pi_daemon.engine.findings.files import Comparing
from pi_daemon.engine.findings.finding import SEVERITIES, Calls, Finding, Report
from pi_daemon.engine.live import LiveSession
from pi_daemon.engine.offload import HEAD_BYTES, offload
from pi_daemon.session.errors import StorageFailed
from pi_daemon.session.head import AssistantFacts, Head, ModelFacts
from pi_daemon.session.rawjson import loads
from pi_daemon.session.tree import SessionTree
from pi_daemon.storage import git
from pi_daemon.storage.git import GitTrouble
from pi_daemon.storage.world import World

PORTION = 4 * 1024 * 1024
"""Bytes of lines that are read at a time."""


CLAIM_COST = 16
"""So many bytes of other lines cost as much as one of a summary, which is taken apart."""


class Has(Struct, frozen=True):
    """What a client says it has, by name; None: it doesn't say."""

    tools: Sequence[str] | None = None
    credentials: Sequence[str] | None = None


async def report(session: LiveSession, leaf_id: str | None, world: World, has: Has) -> Report:
    """Writes nothing, neither to the session nor to what it looks at. Raises EntryNotFound, StorageFailed."""
    tree, instance_id = session.tree.frozen(), session.instance_id
    revision, cwd = session.revision, session.header.cwd
    path, beside = await offload(HEAD_BYTES * len(tree), lambda: _apart(tree, leaf_id))
    evidence = Evidence(cwd, world.home)
    await _feed(session, instance_id, evidence.wanted(path), evidence)
    elsewhere = Elsewhere(cwd, world.home, [one.act for one in evidence.open])
    await _feed(session, instance_id, elsewhere.wanted(beside), elsewhere)
    found_at = await world.looking(lambda: place.look(world, evidence, cwd))
    there = found_at.state == "there"
    compared = await repository.compare(world, evidence, cwd) if there else repository.Compared(None, [])
    folders = [cwd, *([compared.root] if compared.root is not None else [])]
    below = _below(leaf_id, beside)
    files = Comparing(world, evidence, elsewhere, below, cwd, folders)
    if there:
        await world.looking(files.run)
    findings = [
        *place.findings(found_at, sound(cwd), await _same_repository(evidence, list(found_at.moved_to))),
        *compared.findings,
        *calls.open_calls(evidence, elsewhere, below, files.found, cwd, world.home, await _holder(session)),
        *files.findings,
        *needs.unbacked(await _claims(session, instance_id, path), evidence, elsewhere, cwd, world.home),
        *(needs.tools(evidence, has.tools) if has.tools is not None else ()),
        *(needs.credentials(evidence, _provider(path), has.credentials) if has.credentials is not None else ()),
        *calls.shell(evidence),
    ]
    return Report(
        leaf_id,
        revision,
        sound(cwd),
        found_at.state,
        [sound(folder) for folder in found_at.moved_to],
        compared.state,
        calls.tally(evidence),
        files.files,
        _worst_first(findings),
    )


def _apart(tree: SessionTree, leaf_id: str | None) -> tuple[list[Head], list[Head]]:
    """The path to the leaf, and the entries beside it. Raises EntryNotFound."""
    path = tree.path(leaf_id)
    own = {head.id for head in path}
    return path, [head for head in tree.live() if head.id not in own]


def _below(leaf_id: str | None, beside: Sequence[Head]) -> set[str]:
    """The ids of the entries that come after the leaf, on whatever branch. A file has parents before their children;
    where one hasn't, its entry counts as one of another branch."""
    below: set[str | None] = {leaf_id}
    for head in beside:
        if head.parent_id in below:
            below.add(head.id)
    return {entry_id for entry_id in below if entry_id is not None and entry_id != leaf_id}


async def _feed(session: LiveSession, instance_id: str, heads: Sequence[Head], into: Evidence | Elsewhere) -> None:
    for portion in _portions(heads):
        lines = await session.lines(portion, of=instance_id)

        def see(portion: Sequence[Head] = portion, lines: Sequence[bytes] = lines) -> None:
            for head, line in zip(portion, lines, strict=True):
                into.see(head, line)

        await offload(sum(map(len, lines)), see)


def _portions(heads: Sequence[Head]) -> Iterator[Sequence[Head]]:
    start = size = 0
    for at, head in enumerate(heads):
        if at > start and size + head.length > PORTION:
            yield heads[start:at]
            start, size = at, 0
        size += head.length
    if start < len(heads):
        yield heads[start:]


async def _claims(session: LiveSession, instance_id: str, path: Sequence[Head]) -> dict[str, list[Claim]]:
    found: dict[str, list[Claim]] = {}
    for portion in _portions([head for head in path if head.type in ("compaction", "branch_summary")]):
        lines = await session.lines(portion, of=instance_id)

        def see(portion: Sequence[Head] = portion, lines: Sequence[bytes] = lines) -> None:
            for head, line in zip(portion, lines, strict=True):
                found.setdefault(head.type, []).extend(claims(loads(line), head.id))

        await offload(CLAIM_COST * sum(map(len, lines)), see)
    return found


async def _same_repository(evidence: Evidence, folders: Sequence[str]) -> list[str]:
    """Those of `folders` whose repository has a commit of the path."""
    hashes = list({commit.hash for commit in [*evidence.git.commits, *evidence.git.heads.values()]})
    found: list[str] = []
    for folder in folders if hashes else ():
        try:
            if len(await git.missing(folder, hashes)) < len(hashes):
                found.append(folder)
        except GitTrouble:
            continue
    return found


async def _holder(session: LiveSession) -> str:
    """Who else writes the session, if somebody does."""
    try:
        owner = await session.writer()
    except StorageFailed:
        return ""
    if owner is None or owner.pid == os.getpid():
        return ""
    return f"Process {owner.pid} on {owner.host}"


def _provider(path: Sequence[Head]) -> tuple[str, str] | None:
    """Of the model that the path has selected last, and the entry that did so."""
    for head in reversed(path):
        if isinstance(head.facts, ModelFacts | AssistantFacts) and head.facts.provider:
            return head.facts.provider, head.id
    return None


def _worst_first(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))


__all__ = ["Calls", "Has", "Report", "report"]
