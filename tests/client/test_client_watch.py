"""A watch sees each event once and in order, whatever happens to the connection."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_daemon import SILENT, FakeDaemon, Peer, Refused, event, subscribed
from pi_daemon_client import (
    AppendedEvent,
    AsyncClient,
    Backoff,
    DamagedEvent,
    DeletedEvent,
    Event,
    LeafChangedEvent,
    ReplacedEvent,
    ResyncEvent,
    ServerError,
    Watch,
)

SOON = Backoff(first=0.001, most=0.01)
APPENDED, LEAF, LABEL, DAMAGED = "session/appended", "session/leafChanged", "session/labelChanged", "session/damaged"


@asynccontextmanager
async def watching(tmp_path: Path, revision: int = 1, **watch_arguments: Any) -> AsyncIterator[tuple[Any, ...]]:
    """A fake daemon, a client with a watch on session "s" that starts at `revision`, and the daemon's side of it."""
    async with FakeDaemon(f"{tmp_path}/d") as daemon:
        daemon.handlers["session/subscribe"] = lambda peer, params: subscribed(revision)
        async with await AsyncClient.connect_unix(daemon.path, reconnect=SOON) as client:
            watch = await client.watch("s", **watch_arguments)
            peer = await daemon.peers.get()
            await peer.next("session/subscribe")
            daemon.handlers["session/subscribe"] = lambda peer, params: SILENT
            yield daemon, client, watch, peer


async def seen(watch: Watch, count: int) -> list[tuple[str, int]]:
    """The next events as (method, revision); a resync is ("resync", its revision)."""
    events = [await anext(watch) for _ in range(count)]
    return [(one.method if isinstance(one, Event) else "resync", one.revision) for one in events]


async def nothing_more(watch: Watch, peer: Peer, revision: int) -> None:
    """What comes next is what is sent now."""
    peer.notify(LABEL, revision=revision)
    assert await seen(watch, 1) == [(LABEL, revision)]


async def test_yields_typed_events_of_its_session(tmp_path: Path) -> None:
    async with watching(tmp_path, revision=4) as (_, _, watch, peer):
        assert watch.opened["revision"] == 4
        peer.notify(APPENDED, session="other", revision=5)
        peer.notify(APPENDED, revision=5, entries=[{"id": "e"}], cause="append")
        peer.notify(LEAF, revision=5, leafId="e", previousLeafId=None, cause="append")
        first, second = await anext(watch), await anext(watch)
        assert isinstance(first, AppendedEvent) and first.params["entries"][0]["id"] == "e"
        assert isinstance(second, LeafChangedEvent) and second.params["leafId"] == "e"
        assert (first.session_id, first.instance_id, first.revision, first.origin) == ("s", "i1", 5, None)


async def test_the_connection_breaks_between_two_events_of_one_change(tmp_path: Path) -> None:
    async with watching(tmp_path) as (daemon, _, watch, peer):
        peer.notify(APPENDED, revision=2)
        peer.notify(LEAF, revision=2)
        peer.notify(APPENDED, revision=3)
        assert await seen(watch, 3) == [(APPENDED, 2), (LEAF, 2), (APPENDED, 3)]
        peer.drop()
        peer = await daemon.peers.get()
        request = await peer.next("session/subscribe")
        assert request["params"] == {"sessionId": "s", "since": {"instanceId": "i1", "revision": 2}}
        # Live before the answer: held, and covered by it or not.
        peer.notify(LABEL, revision=4)
        peer.notify(LABEL, revision=5)
        missed = [event(APPENDED, 3), event(LEAF, 3), event(LABEL, 4)]
        peer.answer(request, subscribed(4, events=missed))
        assert await seen(watch, 3) == [(LEAF, 3), (LABEL, 4), (LABEL, 5)]
        peer.drop()
        peer = await daemon.peers.get()
        request = await peer.next("session/subscribe")
        assert request["params"]["since"]["revision"] == 4
        peer.answer(request, subscribed(5, events=[event(LABEL, 5)]))
        await nothing_more(watch, peer, 6)


async def test_a_break_while_catching_up_starts_over(tmp_path: Path) -> None:
    async with watching(tmp_path) as (daemon, _, watch, peer):
        peer.notify(APPENDED, revision=2)
        await seen(watch, 1)
        for _ in range(3):
            peer.drop()
            peer = await daemon.peers.get()
            request = await peer.next("session/subscribe")
            assert request["params"]["since"]["revision"] == 1
            peer.notify(APPENDED, revision=3)
        peer.answer(request, subscribed(3, events=[event(APPENDED, 2), event(APPENDED, 3)]))
        assert await seen(watch, 1) == [(APPENDED, 3)]
        await nothing_more(watch, peer, 4)


async def test_fresh_tells_the_reader_to_reload(tmp_path: Path) -> None:
    async with watching(tmp_path) as (daemon, _, watch, peer):
        peer.notify(APPENDED, revision=2)
        peer.drop()
        peer = await daemon.peers.get()
        request = await peer.next("session/subscribe")
        peer.notify(APPENDED, instance="i2", revision=7)
        peer.notify(APPENDED, instance="i2", revision=8)
        peer.answer(request, subscribed(7, instance="i2", leaf="x"))
        assert await seen(watch, 1) == [(APPENDED, 2)]
        assert await anext(watch) == ResyncEvent("s", "i2", 7, "x", "fresh")
        assert await seen(watch, 1) == [(APPENDED, 8)]


@pytest.mark.parametrize("replayed", [True, False])
async def test_resync_replays_or_tells_the_reader(tmp_path: Path, replayed: bool) -> None:
    async with watching(tmp_path) as (_, _, watch, peer):
        peer.notify(APPENDED, revision=2)
        peer.notify(APPENDED, revision=3)
        peer.notify("session/resync", revision=9)
        request = await peer.next("session/subscribe")
        assert request["params"]["since"] == {"instanceId": "i1", "revision": 2}
        peer.notify(APPENDED, revision=10)
        missed = [event(APPENDED, revision) for revision in range(3, 10)]
        peer.answer(request, subscribed(9, events=missed if replayed else None))
        if replayed:
            assert await seen(watch, 9) == [(APPENDED, revision) for revision in range(2, 11)]
        else:
            assert await seen(watch, 4) == [(APPENDED, 2), (APPENDED, 3), ("resync", 9), (APPENDED, 10)]
        await nothing_more(watch, peer, 11)


async def test_a_resync_during_a_catch_up_catches_up_once_more(tmp_path: Path) -> None:
    async with watching(tmp_path) as (_, _, watch, peer):
        peer.notify("session/resync", revision=3)
        request = await peer.next("session/subscribe")
        peer.notify("session/resync", revision=6)
        peer.answer(request, subscribed(3, events=[event(APPENDED, 2), event(APPENDED, 3)]))
        request = await peer.next("session/subscribe")
        assert request["params"]["since"]["revision"] == 3
        peer.answer(request, subscribed(6, events=[event(APPENDED, revision) for revision in (4, 5, 6)]))
        assert await seen(watch, 5) == [(APPENDED, revision) for revision in (2, 3, 4, 5, 6)]


async def test_another_instance_is_subscribed_to_anew(tmp_path: Path) -> None:
    async with watching(tmp_path) as (_, _, watch, peer):
        peer.notify("session/replaced", instance="i2", revision=1, reason="rewritten")
        request = await peer.next("session/subscribe")
        assert request["params"]["since"]["instanceId"] == "i1"
        peer.answer(request, subscribed(1, instance="i2"))
        assert isinstance(await anext(watch), ReplacedEvent)
        assert await seen(watch, 1) == [("resync", 1)]
        peer.notify(APPENDED, instance="i2", revision=2)
        assert await seen(watch, 1) == [(APPENDED, 2)]


async def test_what_tells_a_state_comes_at_an_old_revision_too(tmp_path: Path) -> None:
    async with watching(tmp_path, revision=5) as (daemon, _, watch, peer):
        peer.notify(APPENDED, revision=5)
        peer.notify(DAMAGED, revision=5, damage=[])
        assert isinstance(await anext(watch), DamagedEvent)
        peer.drop()
        peer = await daemon.peers.get()
        request = await peer.next("session/subscribe")
        peer.notify(DAMAGED, revision=6, damage=[])
        peer.answer(request, subscribed(6, events=[event(DAMAGED, 6, damage=[])]))
        assert await seen(watch, 1) == [(DAMAGED, 6)]
        await nothing_more(watch, peer, 7)


async def test_a_reader_that_stopped_is_told_to_reload(tmp_path: Path) -> None:
    async with watching(tmp_path, limit=3) as (_, _, watch, peer):
        for revision in range(2, 7):
            peer.notify(APPENDED, revision=revision)
        request = await peer.next("session/subscribe")
        assert request["params"] == {"sessionId": "s"}
        peer.answer(request, subscribed(6, leaf="x"))
        peer.notify(APPENDED, revision=7)
        assert await anext(watch) == ResyncEvent("s", "i1", 6, "x", "behind")
        assert await seen(watch, 1) == [(APPENDED, 7)]


async def test_since_continues_what_another_process_saw(tmp_path: Path) -> None:
    async with FakeDaemon(f"{tmp_path}/d") as daemon, await AsyncClient.connect_unix(daemon.path) as client:
        daemon.handlers["session/subscribe"] = lambda peer, params: subscribed(8, events=[event(APPENDED, 8)])
        watch = await client.watch("s", since={"instanceId": "i1", "revision": 7})
        peer = await daemon.peers.get()
        assert (await peer.next("session/subscribe"))["params"]["since"] == {"instanceId": "i1", "revision": 7}
        assert await seen(watch, 1) == [(APPENDED, 8)]


async def test_two_watches_see_the_same(tmp_path: Path) -> None:
    async with watching(tmp_path) as (daemon, client, first, peer):
        daemon.handlers["session/subscribe"] = lambda peer, params: subscribed(2)
        peer.notify(APPENDED, revision=2)
        second = await client.watch("s")
        peer.notify(APPENDED, revision=3)
        assert await seen(first, 2) == [(APPENDED, 2), (APPENDED, 3)]
        assert await seen(second, 1) == [(APPENDED, 3)]
        second.close()
        await nothing_more(first, peer, 4)
        first.close()
        await peer.next("session/unsubscribe")
        assert [one async for one in first] == []
        assert daemon.methods().count("session/unsubscribe") == 1


async def test_a_watch_that_comes_right_after_another_keeps_its_subscription(tmp_path: Path) -> None:
    async with watching(tmp_path) as (daemon, client, first, peer):
        daemon.handlers["session/subscribe"] = lambda peer, params: subscribed(1)
        first.close()
        second = await client.watch("s")
        await client.request("other")
        assert daemon.methods() == ["session/subscribe", "session/subscribe", "other"]
        await nothing_more(second, peer, 2)


async def test_closing_the_session_leaves_the_watch(tmp_path: Path) -> None:
    async with watching(tmp_path) as (_, client, watch, peer):
        await client.close_session("s")
        request = await peer.next("session/subscribe")
        peer.answer(request, subscribed(2, events=[event(APPENDED, 2)]))
        assert await seen(watch, 1) == [(APPENDED, 2)]


async def test_deletion_is_the_last_event(tmp_path: Path) -> None:
    async with watching(tmp_path) as (_, _, watch, peer):
        peer.notify("session/deleted", revision=2)
        assert [type(one) async for one in watch] == [DeletedEvent]


async def test_a_session_that_is_gone_ends_the_watch(tmp_path: Path) -> None:
    def gone(peer: Peer, params: Any) -> Any:
        raise Refused(1001, "sessionNotFound")

    async with watching(tmp_path) as (daemon, client, watch, peer):
        peer.notify(APPENDED, revision=2)
        assert await seen(watch, 1) == [(APPENDED, 2)]
        daemon.handlers["session/subscribe"] = gone
        peer.drop()
        with pytest.raises(ServerError, match="no"):
            await anext(watch)
        with pytest.raises(ServerError):
            await client.watch("s")


async def test_an_overloaded_daemon_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def overloaded(peer: Peer, params: Any) -> Any:
        daemon.handlers["session/subscribe"] = lambda peer, params: subscribed(2, events=[event(APPENDED, 2)])
        raise Refused(1015, "overloaded")

    monkeypatch.setattr("pi_daemon_client._watch._AGAIN", 0.001)
    async with watching(tmp_path) as (daemon, _, watch, peer):
        daemon.handlers["session/subscribe"] = overloaded
        peer.drop()
        assert await seen(watch, 1) == [(APPENDED, 2)]


async def test_closing_the_client_ends_its_watches(tmp_path: Path) -> None:
    async with watching(tmp_path) as (_, client, watch, peer):
        peer.notify(APPENDED, revision=2)
        await client.close()
        assert [one.revision async for one in watch] in ([], [2])
