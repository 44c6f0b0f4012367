"""The generated files are what the types say, and the types say something of every member."""

from __future__ import annotations

import json
from typing import Any, get_type_hints

import pytest
from pi_daemon_client import _types

from pi_daemon.rpc import errors, table
from pi_daemon.rpc.generate import __main__ as command
from pi_daemon.rpc.generate import markdown, model, schema, typescript


@pytest.mark.parametrize("path", command.files())
def test_none_is_stale(path: str) -> None:
    assert path not in command.stale(), "run python -m pi_daemon.rpc.generate"


def test_the_check_tells_what_is_stale(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "ROOT", tmp_path)
    assert command.main(["--check"]) == 1
    assert "protocol.md is stale" in capsys.readouterr().err
    assert command.main([]) == 0 and command.main(["--check"]) == 0
    (tmp_path / "protocol.md").write_text("something else")
    assert command.main(["--check"]) == 1
    assert command.main(["--wrong"]) == 2


@pytest.mark.parametrize("item", model.read().objects.values(), ids=lambda item: item.name)
def test_every_object_and_member_has_a_meaning(item: model.Object) -> None:
    assert item.doc
    assert [member.name for member in item.members if not member.doc] == []


def test_every_error_and_limit_has_a_meaning() -> None:
    assert {reason for _, reason, _ in model.errors()} == {f"`{reason}`" for reason in errors.CODES}
    assert all(why.endswith(".") for *_, why in [*model.errors(), *model.limits()])


def test_the_errors_of_methods_exist() -> None:
    named = {reason for method in (table.METHODS | table.LIFECYCLE).values() for reason in method.errors}
    assert named <= set(errors.CODES)


def test_references_of_the_schema_resolve() -> None:
    document = json.loads(schema.render(model.read()))

    def references(value: Any) -> set[str]:
        if isinstance(value, list):
            return {found for item in value for found in references(item)}
        if isinstance(value, dict):
            own = {value["$ref"]} if "$ref" in value else set()
            return own | {found for item in value.values() for found in references(item)}
        return set()

    assert references(document) == {f"#/$defs/{name}" for name in document["$defs"]}
    append = document["$defs"]["AppendParams"]
    assert append["required"] == ["sessionId", "entries"]
    assert append["properties"]["parentId"]["anyOf"] == [{"type": "string"}, {"type": "null"}]


def test_the_python_types_are_those_of_the_wire() -> None:
    for item in model.read().objects.values():
        cls = getattr(_types, item.name)
        assert list(get_type_hints(cls)) == [member.name for member in item.members]
        assert cls.__optional_keys__ == {member.name for member in item.members if member.optional}


def test_every_method_is_everywhere() -> None:
    protocol = model.read()
    page, code = markdown.render(protocol), typescript.render(protocol)
    for name in [*table.METHODS, *table.NOTIFICATIONS, *table.LIFECYCLE]:
        assert f"\n### {name}\n" in page
        assert f'  "{name}": ' in code


def test_links_of_the_page_resolve() -> None:
    page = markdown.render(model.read())
    targets = {
        "".join(letter for letter in line.lstrip("# ").lower() if letter.isalnum() or letter in " -").replace(" ", "-")
        for line in page.splitlines()
        if line.startswith("#")
    }
    links = {part.split(")")[0] for part in page.split("](#")[1:]}
    assert links <= targets


def test_a_docstring_that_names_a_member_that_is_not_there() -> None:
    class Wrong(table.life.Wire):
        """A thing.

        `nothing`: isn't there.
        """

    Wrong.__module__ = "pi_daemon.rpc.types.wrong"
    with pytest.raises(ValueError, match="nothing"):
        model.describe(Wrong, is_input=True)
