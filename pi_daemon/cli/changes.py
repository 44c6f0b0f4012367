"""`pi-daemon fork`, `move`, `label` and `rename`."""

from __future__ import annotations

from dataclasses import dataclass

from pi_daemon_client import ABSENT
from pi_daemon_client.types import ChangeResult

from pi_daemon.cli import safe
from pi_daemon.cli.compaction import shown_by
from pi_daemon.cli.naming import LEAF, Opened, entry_id, with_session
from pi_daemon.cli.output import Output, plural
from pi_daemon.cli.reach import Where

START = "start"
"""As an entry: before the first one."""


async def fork(
    where: Where,
    output: Output,
    name: str,
    entry: str | None,
    *,
    before: bool,
    tree: bool,
    cwd: str | None,
    new_id: str | None,
    recover: bool,
) -> None:
    async def do(opened: Opened) -> None:
        # Before the leaf means before the last message, not before a label that follows it.
        named = entry if entry is not None or not before else LEAF
        async with output.working("Forking"):
            made = await opened.client.fork(
                opened.id,
                entry_id=ABSENT if named is None else await entry_id(opened, named),
                position="before" if before else "at",
                scope="tree" if tree else "path",
                cwd=ABSENT if cwd is None else cwd,
                id=ABSENT if new_id is None else new_id,
            )
        if output.as_json:
            output.json(made)
            return
        count = plural(made["entryCount"], "entry", "entries")
        output.print(f"Forked {safe.line(opened.id)} to {safe.line(made['sessionId'])} ({count}).")
        if made["path"] is not None:
            output.print(safe.line(made["path"]))
        _not_on_disk(output, made["sessionId"], made["persisted"])
        if "editorText" in made:
            output.print("The message before which it was forked:")
            output.print(safe.block(made["editorText"]))

    await with_session(where, name, output, do, recover=recover)


@dataclass(frozen=True)
class Move:
    """What was typed."""

    entry: str
    before: bool
    summarize: bool
    summarizer: str | None
    instructions: str | None
    label: str | None


async def move(where: Where, output: Output, name: str, wanted: Move) -> None:
    async def do(opened: Opened) -> None:
        target = None if wanted.entry == START else await entry_id(opened, wanted.entry)
        async with output.working("Summarizing the branch") as progress:
            done = await opened.client.move_leaf(
                opened.id,
                target,
                position="before" if wanted.before else "at",
                summarize=wanted.summarize,
                summarizer=ABSENT if wanted.summarizer is None else wanted.summarizer,
                instructions=ABSENT if wanted.instructions is None else wanted.instructions,
                label=ABSENT if wanted.label is None else wanted.label,
                progress=progress,
            )
        if output.as_json:
            output.json({"sessionId": opened.id, **done})
            return
        leaf = "before the first entry" if done["leafId"] is None else f"at {safe.line(done['leafId'])}"
        output.print(f"The leaf is {leaf}.")
        if "summaryEntryId" in done:
            output.print(f"The branch that was left is summarized in {safe.line(done['summaryEntryId'])}.")
            output.print(shown_by(name, done["summaryEntryId"]))
        elif wanted.summarize:
            output.print("Nothing was left behind that could be summarized.")
        if "durability" not in done:
            output.print("The file has not changed: the daemon remembers the leaf, and pi goes by the end of the file.")
        if "editorText" in done:
            output.print("The message before which it is:")
            output.print(safe.block(done["editorText"]))

    await with_session(where, name, output, do, write=True)


async def label(where: Where, output: Output, name: str, entry: str, text: str | None) -> None:
    async def do(opened: Opened) -> None:
        async with output.working("Writing"):
            target = await entry_id(opened, entry)
            done = await opened.client.label(opened.id, target, text)
        if output.as_json:
            output.json({"sessionId": opened.id, "targetId": target, "label": text, **_kept(done), **done})
            return
        if text is None:
            output.print(f"{safe.line(target)} has no label any more.")
        else:
            output.print(f"{safe.line(target)} is labelled {safe.line(text)}.")
        _not_on_disk(output, opened.id, **_kept(done))

    await with_session(where, name, output, do, write=True)


async def rename(where: Where, output: Output, name: str, new_name: str) -> None:
    async def do(opened: Opened) -> None:
        async with output.working("Writing"):
            done = await opened.client.rename(opened.id, new_name)
        if output.as_json:
            output.json({"sessionId": opened.id, "name": new_name or None, **_kept(done), **done})
            return
        if new_name:
            output.print(f"{safe.line(opened.id)} is named {safe.line(new_name)}.")
        else:
            output.print(f"{safe.line(opened.id)} has no name any more.")
        _not_on_disk(output, opened.id, **_kept(done))

    await with_session(where, name, output, do, write=True)


def _kept(done: ChangeResult) -> dict[str, bool]:
    return {"persisted": done["durability"] != "memory"}


def _not_on_disk(output: Output, session_id: str, persisted: bool) -> None:
    if not persisted:
        output.warn(
            f"{safe.line(session_id)} is not on disk: this is held in the daemon's memory alone, until the session is "
            "written. Most are with their first answer."
        )
