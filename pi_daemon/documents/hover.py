"""What a line is, in words."""

from __future__ import annotations

import re
from functools import partial

from pi_daemon.compaction.tokens import contribution
from pi_daemon.documents import diagnostics
from pi_daemon.documents.asked import Asked
from pi_daemon.documents.links import referred
from pi_daemon.documents.names import NAME, calls_of, kind_of, name_of, short
from pi_daemon.documents.standing import standing
from pi_daemon.documents.view import offset_in, span
from pi_daemon.engine.offload import offload
from pi_daemon.rpc.types.lsp import Hover, MarkupContent, PositionParams
from pi_daemon.session.glance import Json, glance_at
from pi_daemon.session.head import Head
from pi_daemon.session.markdown import code, plain
from pi_daemon.session.view import content_text, preview_of
from pi_daemon.session.walk import place_at

SHOWN = 600
"""Characters of a message that a hover shows."""

MESSAGE = 300
"""Characters of a path or a message."""

CHILDREN = 5
"""Children that are named."""

_ENCODED = re.compile(r"[A-Za-z0-9+/_=-]{120,}")
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


async def hover(asked: Asked, params: PositionParams) -> Hover | None:
    line = await asked.view.line(params.position.line)
    if line is None:
        found = [one.message for one in await diagnostics.items(asked) if _on(one.range.start.line, params)]
        return _hover(asked, "\n\n".join(_plain(asked, one, MESSAGE) for one in found)) if found else None
    if line.head is None:
        return _hover(asked, _header(asked))
    offset = offset_in(line, params.position, asked.editor.encoding)
    place = await offload(len(line.text), partial(place_at, line.text, offset))
    text = await entry_text(asked, line.head, line.text)
    named = referred(asked.session.tree, line, place) if place is not None else None
    made = _hover(asked, text)
    if place is not None and named is not None:
        items = await asked.view.items([named])
        name = name_of(named, items[named].text, asked.session.tree.labels)
        words = f"→ {_plain(asked, kind_of(named))} {code(named.id, NAME)}: {_plain(asked, name)}"
        made = _hover(asked, f"{words}\n\n{text}")
        made.range = span(line, place.start, place.end, asked.editor.encoding)
    return made


def _on(line: int, params: PositionParams) -> bool:
    return line == params.position.line


def _hover(asked: Asked, text: str) -> Hover:
    kind = "markdown" if asked.editor.markdown else "plaintext"
    return Hover(contents=MarkupContent(kind=kind, value=text))


def _header(asked: Asked) -> str:
    session = asked.session
    header = session.header
    parts = [f"**session header** {code(header.id, NAME)}"]
    parts += [f"- named {_plain(asked, session.tree.name)}"] if session.tree.name else []
    parts.append(f"- working directory {code(header.cwd, MESSAGE)}")
    parts.append(f"- begun {_plain(asked, header.timestamp)}, format version {header.version}")
    parts += [f"- forked from {code(header.parent_session, MESSAGE)}"] if header.parent_session else []
    count = len(session.tree.entries)
    words = f"{count:,} {'entry' if count == 1 else 'entries'}"
    parts.append(f"- {words}, {len(session.trail.path):,} of them on the active path")
    parts += [f"- read-only: {session.read_only}"] if session.read_only else []
    return parts[0] + "\n\n" + "\n".join(parts[1:])


async def entry_text(asked: Asked, head: Head, stored: bytes | None = None) -> str:
    """All that a hover says of an entry. `stored`: its line as it lies in the file, if that is known. Raises
    StorageFailed."""
    session, tree = asked.session, asked.session.tree
    if stored is None or session.header.version < 3:  # older ones are shown as they will be
        stored = (await session.lines([head]))[0]
    look = await offload(len(stored), partial(glance_at, stored))
    label = tree.labels.get(head.id)
    title = f"**{_plain(asked, kind_of(head))}** {code(head.id, NAME)}"
    title += f", labelled “{_plain(asked, label)}”" if label else ""
    title += ", the leaf" if head.id == session.leaf_id else ""
    parts = [title]
    if shown := excerpt(head, look):
        parts.append(_fenced(shown))
    facts = [standing(session, head), *(_plain(asked, one, MESSAGE) for one in _sizes(look)), *_family(asked, head)]
    facts.append(_plain(asked, head.timestamp or "no time"))
    parts.append("\n".join(f"- {fact}" for fact in facts))
    return "\n\n".join(parts)


def excerpt(head: Head, look: Json) -> str:
    """The beginning of an entry's text, without images and what looks like encoded data."""
    message = look.get("message")
    text = content_text(message.get("content"), "\n") if isinstance(message, dict) else ""
    calls = "\n".join(words for _, words in calls_of(look))
    text = text if text.strip() or calls else preview_of(head, look)
    text = "\n".join(filter(None, (text[: 8 * SHOWN], calls)))
    text = _ENCODED.sub("(encoded data)", _UNFIT.sub(" ", text)).strip()
    return text.encode(errors="replace").decode() if len(text) <= SHOWN else _cut(text)


def _cut(text: str) -> str:
    return text[:SHOWN].encode(errors="replace").decode() + "…"


def _plain(asked: Asked, text: str, limit: int = NAME) -> str:
    """Words of a session within those of a hover. They make no link, no image (a client would fetch it) and no HTML."""
    return plain(text, limit) if asked.editor.markdown else short(text, limit)


def _fenced(text: str) -> str:
    """As it is, whatever marks it has."""
    longest = max((len(run) for run in re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _sizes(look: Json) -> list[str]:
    message = look.get("message")
    usage = message.get("usage") if isinstance(message, dict) else None
    sizes: list[str] = []
    if isinstance(message, dict) and isinstance(message.get("model"), str):
        stop = message.get("stopReason")
        ending = f", ended with {stop}" if isinstance(stop, str) else ""
        sizes.append(f"model {message.get('provider') or '?'}/{message['model']}{ending}")
    if isinstance(usage, dict):
        names = (("input", "input"), ("output", "output"), ("cacheRead", "cache read"), ("cacheWrite", "cache written"))
        told = [f"{usage[name]:,} {words}" for name, words in names if isinstance(usage.get(name), int)]
        sizes += ["tokens: " + ", ".join(told)] if told else []
    if tokens := contribution(look):
        sizes.append(f"about {tokens:,} token{'s' if tokens > 1 else ''} of context")
    return sizes


def _family(asked: Asked, head: Head) -> list[str]:
    tree = asked.session.tree
    children = tree.children(head.id)
    named = ", ".join(f"{_plain(asked, kind_of(child))} {code(child.id, NAME)}" for child in children[:CHILDREN])
    more = f" and {len(children) - CHILDREN} more" if len(children) > CHILDREN else ""
    forks = ": a fork here" if len(children) > 1 else ""
    found = [f"{len(children)} children{forks}: {named}{more}" if len(children) != 1 else f"followed by {named}"]
    if not children:
        found = ["nothing follows it"]
    naming = asked.view.naming.get(head.id)
    if naming:
        found.append(
            "named by "
            + ", ".join(f"{_plain(asked, kind_of(other))} {code(other.id, NAME)}" for other in naming[:CHILDREN])
        )
    if head.parent_id is not None and tree.get(head.parent_id) is None:
        found.append(f"its parent {code(head.parent_id, NAME)} is missing")
    return found
