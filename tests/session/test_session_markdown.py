"""Text within Markdown: a real parser sees in the document what we have put there, whatever the text holds."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pi_daemon.session.markdown import code, contained, fenced, plain, quoted, tidy

PARSERS = [MarkdownIt("commonmark"), MarkdownIt("commonmark").enable(["table", "strikethrough"])]
SAFE = re.compile(r"(?:https?:|mailto:|[^:]*$|[^:]*[/?#])", re.IGNORECASE)

PIECES = [
    *(
        "# a",
        "## b",
        "#",
        "####### no",
        "a\n===",
        "b\n---",
        "---",
        "===",
        "- ",
        "  - ",
        "1. ",
        "> ",
        ">",
        "    ",
        "\t",
        " ",
    ),
    *(
        "```",
        "````",
        "~~~",
        "``` js",
        "~~~ a`b",
        "`",
        "``",
        "\\",
        "\\`",
        "|",
        "| a | b |\n|---|---|\n",
        "\n",
        "\n\n",
        "\r",
    ),
    *(
        "<script>alert(1)</script>",
        "<!--",
        "-->",
        "</details>",
        "<a href='x'>",
        "<https://e.org>",
        "<",
        ">",
        "&lt;",
        "&#60;",
    ),
    *(
        "![x](http://e/p.png)",
        "[x](javascript:alert(1))",
        "[x](",
        "javascript:a)",
        "](",
        "[x]: javascript:b",
        "]:",
        "[",
    ),
    *(
        "[y](src/a.py#L1)",
        "[z](https://e.org)",
        "text",
        "*",
        "_",
        "**",
        "word ",
        "$x$",
        "\x1b[31m",
        "\u202e",
        "\ud83d",
        "\x00",
    ),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=60)


def parsed(lines: list[str]) -> list[list[Token]]:
    text = "\n".join(lines) + "\n"
    assert text.encode()
    return [parser.parse(text) for parser in PARSERS]


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or []]


def harmless(tokens: list[Token]) -> None:
    for token in [*tokens, *inline(tokens)]:
        assert token.type not in ("html_inline", "image"), token
        if token.type == "link_open":
            assert SAFE.match(str(token.attrs["href"])), token


@settings(max_examples=600, deadline=None)
@given(TEXTS, TEXTS, st.booleans(), st.booleans())
def test_any_text_stays_within_its_place(one: str, two: str, breaks: bool, quote: bool) -> None:
    body = contained(one, 3, breaks=breaks)
    document = [
        *("## before", "", *(quoted(body) if quote else body), ""),
        *("<details>", "<summary>thought</summary>", "", *contained(two, 3), "", "</details>", ""),
        *("## after", "", "*end*"),
    ]
    for tokens in parsed(document):
        harmless(tokens)
        html = [token.content.strip() for token in tokens if token.type == "html_block"]
        assert html == ["<details>\n<summary>thought</summary>", "</details>"]
        headings = [token for token in tokens if token.type == "heading_open"]
        own = [token for token in headings if token.tag in ("h1", "h2")]
        assert [(token.tag, token.level) for token in own] == [("h2", 0), ("h2", 0)]
        assert [token.content for token in tokens if token.type == "inline"][-1] == "*end*"
        assert tokens[-1].level == 0


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.sampled_from(["# {}", "before {} after", "> *{}*"]))
def test_any_line_reads_as_it_is(text: str, around: str) -> None:
    shown = " ".join(tidy(text).split())
    for tokens in parsed([around.format(plain(text))]):
        harmless(tokens)
        if shown and "{" not in shown:
            assert shown in "".join(token.content for token in inline(tokens))
    for tokens in parsed([f"a {code(text)} b"]):
        harmless(tokens)
        (span,) = [token.content for token in inline(tokens) if token.type == "code_inline"]
        assert span.strip() == shown


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_any_block_of_code_is_the_text(text: str) -> None:
    text = tidy(text)
    for tokens in parsed(["a", "", *fenced(text, "json"), "", "b"]):
        (block,) = [token for token in tokens if token.type == "fence"]
        assert block.content == text + "\n" and len(tokens) == 7


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\ntwo", ["### One", "two"]),
        ("#### deep\n#no heading", ["###### deep", "#no heading"]),
        ("Title\n=====\nother\n---", ["Title", "\\=====", "other", "\\---"]),
        ("a\n\n---\n\nb", ["a", "", "---", "", "b"]),
        ("use `Vec<u8>` or <b>", ["use `Vec<u8>` or &lt;b>"]),
        ("1. do\n   ```sh\n   ls  <x>\n     in\n   ```\n2. go", ["1. do", "```sh", "ls  <x>", "  in", "```", "2. go"]),
        ("~~~\nno end", ["```", "no end", "```"]),
        ('```python title="x"\na\n```', ["```python", 'title="x"', "a", "```"]),
        ("~~~c++ \n~~~", ["```c++", "", "```"]),
        ("```{r, echo=1}\n```\nb", ["```", "{r, echo=1}", "```", "b"]),
        ("```` and <img src=x>\n```\n````", ["````and", "<img src=x>", "```", "````"]),
        ("```a<img src=x>", ["```", "a<img src=x>", "```"]),
        ("[x](    `javascript:a)", ["[x\\](    \\`javascript:a)"]),
        ("see [a](x.md) ![b](y)", ["see [a](x.md) \\![b](y)"]),
        ("\x1b[31mred\x1b[0m\r\nnext\x07", ["red", "next\ufffd"]),
        ("", []),
    ],
)
def test_examples(text: str, expected: list[str]) -> None:
    assert contained(text, 3) == expected


def test_lines_that_stay_lines() -> None:
    assert contained("a\nb\n\nc\n```\nx\ny\n```", 3, breaks=True) == [
        "a  ", "b  ", "", "c  ", "```", "x", "y", "```",
    ]  # fmt: skip


def test_what_is_cut() -> None:
    assert plain("one two three", 8) == "one two…" and code("one two three", 8) == "`one two…`"


@pytest.mark.parametrize(
    "text", ["`" * 30_000, "` `` " * 8_000, "- " * 40_000 + "#", "[](" * 30_000, " " * 200_000 + "x", "\x1b]" * 50_000]
)
def test_no_text_takes_long(text: str) -> None:
    contained(text, 3)
    plain(text), code(text), fenced(tidy(text))
