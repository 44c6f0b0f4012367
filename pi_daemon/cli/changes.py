"""`pi-daemon fork`, `label` and `rename`."""

from __future__ import annotations

from pi_daemon_client import ABSENT

from pi_daemon.cli import safe
from pi_daemon.cli.naming import Opened, entry_id, with_session
from pi_daemon.cli.output import Output
from pi_daemon.cli.reach import Where


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
        made = await opened.client.fork(
            opened.id,
            entry_id=ABSENT if entry is None else await entry_id(opened, entry),
            position="before" if before else "at",
            scope="tree" if tree else "path",
            cwd=ABSENT if cwd is None else cwd,
            id=ABSENT if new_id is None else new_id,
        )
        if output.as_json:
            output.json(made)
            return
        output.print(f"Forked {opened.id} to {made['sessionId']} ({made['entryCount']:,} entries).")
        output.print(safe.line(made["path"] or "It is not on disk before its first assistant message."))
        if "editorText" in made:
            output.print("The message before which it was forked:")
            output.print(safe.block(made["editorText"]))

    await with_session(where, name, output, do, recover=recover)


async def label(where: Where, output: Output, name: str, entry: str, text: str | None) -> None:
    async def do(opened: Opened) -> None:
        target = await entry_id(opened, entry)
        done = await opened.client.label(opened.id, target, text)
        if output.as_json:
            output.json({"sessionId": opened.id, "targetId": target, "label": text, **done})
        elif text is None:
            output.print(f"{safe.line(target)} has no label any more.")
        else:
            output.print(f"{safe.line(target)} is labelled {safe.line(text)}.")

    await with_session(where, name, output, do, write=True)


async def rename(where: Where, output: Output, name: str, new_name: str) -> None:
    async def do(opened: Opened) -> None:
        done = await opened.client.rename(opened.id, new_name)
        if output.as_json:
            output.json({"sessionId": opened.id, "name": new_name or None, **done})
        elif new_name:
            output.print(f"{safe.line(opened.id)} is named {safe.line(new_name)}.")
        else:
            output.print(f"{safe.line(opened.id)} has no name any more.")

    await with_session(where, name, output, do, write=True)
