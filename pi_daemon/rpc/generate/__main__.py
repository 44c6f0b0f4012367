"""`python -m pi_daemon.rpc.generate [--check]`: write the generated files, or say which are stale (exit 1)."""

from __future__ import annotations

import sys
from pathlib import Path

from pi_daemon.rpc.generate import markdown, model, python, schema, typescript

ROOT = Path(__file__).resolve().parents[3]


def files() -> dict[str, str]:
    """Path under the project's root -> what it should hold."""
    protocol = model.read()
    return {
        "protocol.md": markdown.render(protocol),
        "clients/protocol.schema.json": schema.render(protocol),
        "clients/typescript/src/protocol.ts": typescript.render(protocol),
        "clients/python/pi_daemon_client/_types.py": python.render(protocol),
    }


def stale() -> list[str]:
    """The paths whose files are missing or hold something else."""
    return [path for path, text in files().items() if not _holds(ROOT / path, text)]


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == text


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python -m pi_daemon.rpc.generate [--check]\n")
        return 2
    if arguments:
        wrong = stale()
        for path in wrong:
            sys.stderr.write(f"{path} is stale: run python -m pi_daemon.rpc.generate\n")
        return 1 if wrong else 0
    for path, text in files().items():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
